#include "retention_driver.hpp"

#include <algorithm>
#include <utility>

#include "environment.hpp"

namespace atone::library {
namespace {

// Ids come with their starts' time, but one may have been committed later than others were looked at: now and then all is looked at.
constexpr std::uint64_t whole_pass_every = 64;
constexpr duration stuck_pause = std::chrono::minutes{1};
constexpr duration idle_pause = std::chrono::milliseconds{250};  // while nothing is driven here

}  // namespace

retention_driver::retention_driver(retention_terms keep, retention_ports to) : keep_(keep), to_(std::move(to)) {}

retention_driver::~retention_driver() {
  ask_to_stop();
  join();
}

void retention_driver::start() {
  ATONE_ASSERT(!thread_.joinable());
  if (keep_.sagas > duration{0}) thread_ = std::thread{[this] { run(); }};
}

void retention_driver::ask_to_stop() {
  {
    std::lock_guard const held{lock_};
    stopping_ = true;
  }
  woken_.notify_all();
}

void retention_driver::join() {
  if (thread_.joinable()) thread_.join();
}

retention_figures retention_driver::figures() const {
  retention_figures made;
  made.sagas = keep_.sagas;
  made.keys = keep_.keys;
  made.deleted_sagas = sagas_.load(std::memory_order_relaxed);
  made.deleted_keys = keys_.load(std::memory_order_relaxed);
  made.passes = passes_.load(std::memory_order_relaxed);
  made.lag = duration{lag_.load(std::memory_order_relaxed)};
  return made;
}

bool retention_driver::stopping() const {
  std::lock_guard const held{lock_};
  return stopping_;
}

bool retention_driver::pause(duration how_long) {
  std::unique_lock held{lock_};
  woken_.wait_for(held, how_long, [this] { return stopping_; });
  return !stopping_;
}

void retention_driver::run() {
  while (!over_ && !stopping()) {
    auto const shards = to_.held();
    if (shards.empty()) {
      pause(idle_pause);
    } else if (pass(shards)) {
      passes_.fetch_add(1, std::memory_order_relaxed);
      lag_.store(0, std::memory_order_relaxed);
      pause(runtime::deletion_pace::after_pass(keep_.sagas));
    }
  }
}

bool retention_driver::pass(std::vector<shard> const& shards) {
  bool const whole = passes_begun_++ % whole_pass_every == 0;
  if (whole || shards != shards_) from_ = places{};  // what others have driven is looked at from its beginning
  shards_ = shards;
  if (!sweep_sagas(shards, from_.sagas)) return false;
  return std::all_of(shards.begin(), shards.end(), [this](shard one) { return sweep_keys(one, from_.keys[one]); });
}

// Oldest first, whatever their shards: their rows lie side by side.
bool retention_driver::sweep_sagas(std::vector<shard> const& of, saga_id& from) {
  bool clean = true;
  for (auto after = from;;) {
    auto found = look(of, after);
    if (!rest_after(found ? result<void>{} : result<void>{found.error()})) return false;
    if (!found->sagas.empty() && !rest_after(remove(*found))) return false;
    clean = clean && !found->kept;
    if (clean) from = found->last;
    if (!found->more) return true;
    after = found->last;
  }
}

bool retention_driver::sweep_keys(shard of, saga_id& from) {
  bool clean = true;
  for (auto after = from;;) {
    auto const found = expire(of, after);
    if (!rest_after(found ? result<void>{} : result<void>{found.error()})) return false;
    keys_.fetch_add(found->deleted, std::memory_order_relaxed);
    clean = clean && !found->kept;
    if (clean) from = found->last;
    if (!found->more) return true;
    after = found->last;
  }
}

result<finished_stretch> retention_driver::look(std::vector<shard> const& of, saga_id after) {
  finished_stretch found;
  auto const done = in_store([&](retention& in) -> result<void> {
    auto looked = in.look(of, after, keep_.sagas, pace_.batch());
    if (!looked) return looked.error();
    found = std::move(*looked);
    return {};
  });
  if (!done) return done.error();
  return found;
}

result<void> retention_driver::remove(finished_stretch& found) {
  auto const oldest = found.sagas.front().ended_at;
  auto const going = to_.at_rest(found.sagas);
  std::uint64_t gone = 0;
  auto const done = in_store([&](retention& in) -> result<void> {
    auto const removed = in.remove(going, keep_.sagas);
    if (!removed) return removed.error();
    gone = *removed;
    return {};
  });
  found.kept = found.kept || gone != found.sagas.size();
  sagas_.fetch_add(gone, std::memory_order_relaxed);
  lag_.store((found.now - oldest - keep_.sagas).count(), std::memory_order_relaxed);
  return done;
}

result<key_stretch> retention_driver::expire(shard of, saga_id after) {
  key_stretch found;
  auto const done = in_store([&](retention& in) -> result<void> {
    auto expired = in.expire_keys(of, after, keep_.keys, pace_.batch());
    if (!expired) return expired.error();
    found = *expired;
    return {};
  });
  if (!done) return done.error();
  return found;
}

// Only the work itself is timed, not its wait for its turn.
result<void> retention_driver::in_store(retention_ports::store_work const& work) {
  took_ = duration{0};
  return to_.with_store([&](retention& in) {
    auto const began = boot_time();
    auto done = work(in);
    took_ = boot_time() - began;
    return done;
  });
}

bool retention_driver::rest_after(result<void> const& done) {
  if (done) return pause(pace_.after(took_));
  if (done.error().code == errc::fenced) {
    over_ = true;  // whatever was driven here is another's
  } else if (done.error().retryable()) {
    pause(pace_.after_failure());
  } else if (!stopping()) {
    to_.stuck(done.error());
    pause(stuck_pause);
  }
  return false;
}

}  // namespace atone::library
