// Which shards this coordinator drives, and how they come and go: what the leases say, carried out on the engine.
//
// A shard that has become ours is loaded on a thread of its own, adopted by the engine in slices, and then new sagas begin in it; one after
// the other, so that the first go on while the last are read. A shard that is to go is left quiet, let go of, and only then handed over,
// behind everything that was written before. A roster that was asked for before a hand-over was over says nothing of the shards that went.
//
// Thread rules: everything on the loop's thread; driver_of() too.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atone/environment.hpp>
#include <atone/journal.hpp>

#include "lease_keeper.hpp"
#include "runtime/engine.hpp"
#include "work_queue.hpp"
#include "writer_thread.hpp"

namespace atone::library {

// Makes what the rows hold startable; what is known already is passed over, and what no longer loads parks only the sagas bound to it.
void add_definitions(runtime::engine& to, std::vector<definition_row> const& rows);

class shard_table {
 public:
  shard_table(boost::asio::io_context& loop, store& from, runtime::engine& drives, writer_thread& writer, clock_source& clock);

  // Before the loop runs: these are loaded already.
  void begin(lease_news const& first);
  void take(lease_news news);
  // Reads the definitions that other coordinators have published. `then` on the loop.
  void refresh_definitions(std::function<void(result<void>)> then);
  // What waits for the shards that are driven here. False: nothing is asked.
  bool look_into_inbox(std::uint64_t after, std::function<void(result<std::vector<inbox_start>>)> then);
  std::vector<shard> held() const { return {held_.begin(), held_.end()}; }
  // Who drives a shard, by the last look; nothing while it is nobody's, or on its way.
  std::optional<member> driver_of(shard one) const;
  roster const& seen() const noexcept { return seen_; }
  bool holds(shard one) const { return held_.contains(one); }
  // This coordinator is stopping: each shard goes to one of the others as soon as it is quiet, and none comes.
  void give_all();
  // Nothing comes or goes any more; whoever still waits for a read is told.
  void stop();

 private:
  struct stubborn {
    unsigned tries = 0;
    duration not_before{};

    stubborn() = default;
  };

  void load(shard which);
  void loaded(shard which, std::vector<definition_row> const& definitions, std::shared_ptr<runtime::loaded_sagas> sagas);
  void adopt_resting(shard which, std::shared_ptr<runtime::loaded_sagas> sagas);
  void adopt(shard which, std::shared_ptr<runtime::loaded_sagas> sagas, std::size_t from);
  void unloadable(shard which, error const& why);
  void give(std::vector<shard_move> moves);
  void try_to_let_go();
  void hand_over_quiet(bool insist);
  void stay();
  void hand_over(std::vector<shard_move> moves);
  void handed_over(std::vector<shard_move> const& moves, result<void> const& outcome);

  // A connection of its own for each kind of work, made when it is first needed, and again after an error.
  struct reading {
    std::unique_ptr<journal> sagas;
    std::unique_ptr<journal_reader> definitions;

    reading() = default;
  };
  static result<std::vector<definition_row>> read_definitions(store& from, reading& by);
  static result<journal*> open_sagas(store& from, reading& by);

  boost::asio::io_context& loop_;
  store& store_;
  runtime::engine& engine_;
  writer_thread& writer_;
  clock_source& clock_;
  roster seen_;
  std::set<shard> held_, loading_, going_;  // going_: being let go of, or handed over
  std::map<shard, shard_move> leaving_;     // of going_: not quiet yet
  std::map<shard, duration> gone_at_;       // when it was known, by boot time, that they are another's
  std::map<shard, stubborn> stubborn_;      // would not become quiet
  std::map<shard, duration> unloadable_;    // when they are tried again
  duration leave_until_{};
  boost::asio::steady_timer quiet_timer_;
  std::uint64_t definitions_known_ = 0;
  bool stopped_ = false;
  bool giving_all_ = false;
  std::atomic<bool> reading_over_{false};  // nothing is loaded any more
  reading by_loader_;                      // of the loading thread
  reading by_asker_;                       // of the asking thread
  work_queue loader_;                      // last: they work with the members above
  work_queue asker_;                       // short questions, which must not wait behind a load
};

}  // namespace atone::library
