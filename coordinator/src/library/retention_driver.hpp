// Deletes finished sagas, and later their keys, in the shards that are driven here: a thread of its own that goes round and round, a few
// sagas at a time, with pauses nine times as long as its work. Where it stands is kept in memory only: after a restart it begins anew at
// the oldest, which costs a look a shard.
//
// Thread rules: figures() and ask_to_stop() from any thread; start() and join() from whoever owns it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <atone/coordinator.hpp>
#include <atone/retention.hpp>

#include "runtime/deletion_pace.hpp"

namespace atone::library {

// How long what is kept, from a saga's end on.
struct retention_terms {
  duration sagas{};
  duration keys{};  // not shorter

  retention_terms() = default;
};

// What it needs of the coordinator. Each call blocks its thread; all may be called until join() has returned.
struct retention_ports {
  using store_work = std::function<result<void>(retention& in)>;
  // Runs `work` where the store lets finished sagas be deleted. Errors: those of the work; unavailable.
  std::function<result<void>(store_work const& work)> with_store;
  // The shards that are driven here now.
  std::function<std::vector<shard>()> held;
  // Those of these sagas that are not under way in memory any more: something of them may still be written.
  std::function<std::vector<finished_saga>(std::vector<finished_saga>)> at_rest;
  // It can't go on, and no repeating mends it: for a person.
  std::function<void(error const&)> stuck;

  retention_ports() = default;
};

class retention_driver {
 public:
  // keep.sagas 0: nothing is ever deleted, and there is no thread.
  retention_driver(retention_terms keep, retention_ports to);
  ~retention_driver();
  retention_driver(retention_driver const&) = delete;
  retention_driver& operator=(retention_driver const&) = delete;

  void start();
  // What is under way in the store is finished, nothing more is begun.
  void ask_to_stop();
  void join();

  retention_figures figures() const;

 private:
  // What was to be deleted and lies before these ids is gone; what comes later has higher ones.
  struct places {
    saga_id sagas;                  // of all shards together
    std::map<shard, saga_id> keys;  // of each

    places() = default;
  };
  void run();
  // Through all of them. False: it was broken off, and has paused for that.
  bool pass(std::vector<shard> const& shards);
  bool sweep_sagas(std::vector<shard> const& of, saga_id& from);
  bool sweep_keys(shard of, saga_id& from);
  result<finished_stretch> look(std::vector<shard> const& of, saga_id after);
  // Notes in `found` whether something was left.
  result<void> remove(finished_stretch& found);
  result<key_stretch> expire(shard of, saga_id after);
  result<void> in_store(retention_ports::store_work const& work);
  // False: this is the end of the pass, because of a failure or a stop.
  bool rest_after(result<void> const& done);
  bool pause(duration how_long);
  bool stopping() const;

  retention_terms const keep_;
  retention_ports const to_;
  runtime::deletion_pace pace_;
  duration took_{};            // in the store, by the call before
  std::vector<shard> shards_;  // of the pass before
  places from_;
  std::uint64_t passes_begun_ = 0;
  std::atomic<std::uint64_t> sagas_{0}, keys_{0}, passes_{0};
  std::atomic<std::int64_t> lag_{0};  // microseconds
  mutable std::mutex lock_;
  std::condition_variable woken_;
  bool stopping_ = false;
  bool over_ = false;  // of its thread: fenced
  std::thread thread_;
};

}  // namespace atone::library
