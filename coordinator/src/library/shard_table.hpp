// Which shards this coordinator drives, and how they come and go: what the leases say, carried out on the engine.
//
// A shard that has become ours is loaded on a thread of its own, then adopted by the engine in slices, then new sagas begin in it. A shard
// that is to go is left quiet, let go of, and only then handed over, behind everything that was written before. A roster that was asked for
// before a hand-over was over says nothing of the shards that went.
//
// Thread rules: everything on the loop's thread; driver_of() too.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atone/journal.hpp>

#include "lease_keeper.hpp"
#include "runtime/engine.hpp"
#include "work_queue.hpp"
#include "writer_thread.hpp"

namespace atone::library {

class shard_table {
 public:
  shard_table(boost::asio::io_context& loop, store& from, runtime::engine& drives, writer_thread& writer);

  // Before the loop runs: these are loaded already.
  void begin(lease_news const& first);
  void take(lease_news news);
  // Reads the definitions that other coordinators have published; `then` on the loop, also when the store did not answer.
  void refresh_definitions(std::function<void()> then);
  std::vector<shard> held() const { return {held_.begin(), held_.end()}; }
  // Who drives a shard, by the last look; nothing while it is nobody's, or on its way.
  std::optional<member> driver_of(shard one) const;
  roster const& seen() const noexcept { return seen_; }
  bool holds(shard one) const { return held_.contains(one); }
  // Ends the loading thread; nothing comes or goes any more.
  void stop();

 private:
  struct loaded {
    std::vector<definition_row> definitions;
    std::vector<open_saga> sagas;

    loaded() = default;
  };

  void load(std::vector<shard> shards);
  result<loaded> read(std::vector<shard> const& shards);
  void adopt(std::vector<shard> const& shards, std::shared_ptr<loaded> found, std::size_t from);
  void add_definitions(std::vector<definition_row> const& rows);
  void give(std::vector<shard_move> const& moves);
  void try_to_let_go();
  void hand_over(std::vector<shard_move> moves);
  void handed_over(std::vector<shard_move> const& moves, result<void> const& outcome);

  boost::asio::io_context& loop_;
  store& store_;
  runtime::engine& engine_;
  writer_thread& writer_;
  roster seen_;
  std::set<shard> held_, loading_, going_;  // going_: being let go of, or handed over
  std::map<shard, shard_move> leaving_;     // of going_: not quiet yet
  std::map<shard, duration> gone_at_;       // when it was known, by boot time, that they are another's
  duration leave_until_{};
  duration give_again_at_{};
  boost::asio::steady_timer quiet_timer_;
  std::uint64_t definitions_known_ = 0;
  bool stopped_ = false;
  std::unique_ptr<journal> reading_;          // of the loading thread
  std::unique_ptr<journal_reader> defining_;  // of the loading thread
  work_queue loader_;                         // last: it works with the members above
};

}  // namespace atone::library
