// Keeps this coordinator among those that share a store: a thread with a connection of its own that gives signs of life, watches the
// others, fences who is gone and claims what is free. What it learns goes to the loop.
//
// Thread rules: holds() from any thread; everything else from the one that made it, before or after the thread runs.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <boost/asio/io_context.hpp>

#include <atone/membership.hpp>

#include "runtime/lease_policy.hpp"
#include "runtime/ports.hpp"

namespace atone::library {

struct lease_settings {
  std::string address;  // ours, for the others
  duration lease = std::chrono::seconds{2};

  lease_settings() = default;
  // Eight signs of life a lease: one that is lost, or late, is no death.
  duration interval() const noexcept { return lease / 8; }
};

// What a look at the store said.
struct lease_news {
  roster seen;
  std::vector<shard_move> give;
  duration asked{};         // boot time before the store was asked
  duration clock_offset{};  // this machine's wall clock less the store's; nothing here goes by it, but people and logs do

  lease_news() = default;
};

class lease_keeper final : public runtime::tenure {
 public:
  lease_keeper(std::unique_ptr<membership> of, lease_settings with);
  ~lease_keeper() override;

  // The first look, and what is free for us: with it the lease begins. Blocks.
  result<lease_news> begin();
  // From here on `heard` and `lost` (the store says that this coordinator is fenced; the last word) are called on the loop.
  void run(boost::asio::io_context& loop, std::function<void(lease_news)> heard, std::function<void(error)> lost);
  // Ends the thread. `leave`: tells the store that what is still held is free.
  void stop(bool leave);

  // Whether the lease surely stands, by boot time, counted from before its renewal left.
  bool holds() const override;

 private:
  result<lease_news> look();
  void loop_until_stopped();

  std::unique_ptr<membership> membership_;
  lease_settings const settings_;
  runtime::lease_policy policy_;
  std::atomic<std::int64_t> until_{0};  // microseconds of boot time
  boost::asio::io_context* loop_ = nullptr;
  std::function<void(lease_news)> heard_;
  std::function<void(error)> lost_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace atone::library
