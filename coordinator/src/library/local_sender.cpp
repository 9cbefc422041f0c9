#include <exception>

#include <boost/asio/post.hpp>

#include "senders.hpp"

namespace atone::library {
namespace {

runtime::call_answer to_call_answer(answer made) {
  runtime::call_answer told;
  told.payload = std::move(made.payload);
  told.text = std::move(made.reason);
  switch (made.kind) {
    case answer::kind_of::done: told.kind = runtime::call_answer::kind_of::done; break;
    case answer::kind_of::refused: told.kind = runtime::call_answer::kind_of::refused; break;
    case answer::kind_of::unavailable: told.sureness = certainty::not_done; break;
    case answer::kind_of::unknown: told.sureness = certainty::unknown; break;
  }
  if (told.kind != runtime::call_answer::kind_of::done) told.payload.clear();
  return told;
}

}  // namespace

// The way back of one call: the first answer counts, and when the last who knows it is gone, that is an answer too.
class local_sender::reply_way {
 public:
  explicit reply_way(std::function<void(runtime::call_answer)> to) : to_(std::move(to)) {}
  ~reply_way() { tell(unknown("the handler let go of its reply without an answer")); }
  reply_way(reply_way const&) = delete;
  reply_way& operator=(reply_way const&) = delete;

  void tell(answer made) {
    if (!told_.exchange(true)) to_(to_call_answer(std::move(made)));
  }

 private:
  std::atomic<bool> told_{false};
  std::function<void(runtime::call_answer)> to_;
};

local_sender::local_sender(boost::asio::io_context& loop, std::uint32_t threads, runtime::tenure const& lease)
    : loop_(loop), lease_(lease), pool_(threads) {}
local_sender::~local_sender() {
  stop();
}

void local_sender::handle(std::string name, async_handler function) {
  auto const shared = std::make_shared<async_handler const>(std::move(function));
  handlers_.insert_or_assign(name, shared);
  auto const held = waiting_.find(name);
  if (held == waiting_.end()) return;
  auto const calls = std::move(held->second);
  waiting_.erase(held);
  for (auto const& one : calls) run(shared, one);
}

// Without its handler a call waits: never a failure of the saga.
void local_sender::send(runtime::outgoing_call what, completion done) {
  if (halted_) return;
  auto const& name = std::get<local_request_spec>(what.request).handler;
  auto const found = handlers_.find(name);
  auto const made = std::make_shared<job>(std::move(what), std::move(done));
  jobs_.insert_or_assign(call_name{made->what.saga, made->what.step.text(), made->what.op}, made);
  if (found != handlers_.end()) return run(found->second, made);
  waiting_[std::get<local_request_spec>(made->what.request).handler].push_back(made);
}

runtime::given_up local_sender::take_back(saga_id saga, step_path const& step, operation op) {
  auto const found = jobs_.find(call_name{saga, step.text(), op});
  if (found == jobs_.end() || found->second->claimed.exchange(true)) return runtime::given_up::out;
  for (auto& [name, queue] : waiting_) std::erase(queue, found->second);
  jobs_.erase(found);
  return runtime::given_up::never_left;
}

// A handler at work can't be stopped: its answer, when it comes, is recorded as late.
runtime::given_up local_sender::abandon(saga_id saga, step_path const& step, operation op) {
  return take_back(saga, step, op);
}

void local_sender::forget(job const& of) {
  auto const found = jobs_.find(call_name{of.what.saga, of.what.step.text(), of.what.op});
  if (found != jobs_.end() && found->second.get() == &of) jobs_.erase(found);
}

void local_sender::run(std::shared_ptr<async_handler const> function, std::shared_ptr<job> of) {
  boost::asio::post(pool_, [this, function = std::move(function), of = std::move(of)] {
    if (!lease_.holds()) {
      return boost::asio::post(loop_, [this, function, of] {
        if (!halted_) held_back_.emplace_back(function, of);
      });
    }
    if (!of->claimed.exchange(true)) call(*function, of);
  });
}

// On the pool. The reply may come from any thread, and later.
void local_sender::call(async_handler const& function, std::shared_ptr<job> const& of) {
  {
    std::lock_guard const guard{owed_guard_};
    ++owed_;
  }
  auto const way = std::make_shared<reply_way>([this, of](runtime::call_answer told) {
    boost::asio::post(loop_, [this, of, told = std::move(told)]() mutable {
      forget(*of);
      if (!halted_) of->done(std::move(told));
    });
    std::lock_guard const guard{owed_guard_};
    --owed_;
    owed_changed_.notify_all();
  });
  auto const& request = std::get<local_request_spec>(of->what.request);
  atone::call const asked{of->what.saga, of->what.step, of->what.op, of->what.n, of->what.key, request.input};
  try {
    function(asked, [way](answer made) { way->tell(std::move(made)); });
  } catch (std::exception const& thrown) {
    way->tell(unknown(std::string{"the handler threw: "} + thrown.what()));
  } catch (...) {
    way->tell(unknown("the handler threw something that is not a std::exception"));
  }
}

void local_sender::resume() {
  for (auto& [function, of] : std::exchange(held_back_, {})) run(std::move(function), std::move(of));
}

void local_sender::halt() {
  halted_ = true;
  held_back_.clear();
  for (auto const& [name, one] : jobs_) one->claimed = true;
  jobs_.clear();
  waiting_.clear();
}

void local_sender::stop() {
  pool_.join();
  std::unique_lock guard{owed_guard_};
  owed_changed_.wait(guard, [this] { return owed_ == 0; });
}

bool local_sender::in_handler() noexcept {
  return pool_.get_executor().running_in_this_thread();
}

std::map<std::string, std::size_t> local_sender::missing() const {
  std::map<std::string, std::size_t> counts;
  for (auto const& [name, queue] : waiting_) {
    if (!queue.empty()) counts.emplace(name, queue.size());
  }
  return counts;
}

}  // namespace atone::library
