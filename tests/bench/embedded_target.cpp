#include "embedded_target.hpp"

#include <pthread.h>

#include <future>

#include "failure.hpp"

namespace bench {

embedded_target::embedded_target(embedded_options with)
    : settings_(std::move(with)), wanted_(settings_.refused ? atone::saga_status::compensated : atone::saga_status::completed) {
  sagas_ = need(atone::coordinator::open(settings_.coordinator), "opening the coordinator");
  if (settings_.to == callee::local) bind_handlers(*sagas_);
  (void)need(sagas_->publish(definition_text(settings_.to, settings_.refused)), "publishing the definition");
  need(sagas_->run(), "driving sagas");
  find_loop();
}

// Callbacks come on the loop's thread: one that is refused at once tells which thread that is.
void embedded_target::find_loop() {
  std::promise<clockid_t> promise;
  auto told = promise.get_future();
  sagas_->async_start(atone::start_request{}, [&promise](atone::result<atone::started> const&) {
    clockid_t made{};
    ::pthread_getcpuclockid(::pthread_self(), &made);
    promise.set_value(made);
  });
  loop_clock_ = told.get();
}

void embedded_target::run_saga(work_item what, done then) {
  atone::start_request asked;
  asked.saga = saga_name(settings_.to, settings_.refused);
  asked.input = std::move(what.input);
  if (settings_.keys) asked.key = atone::business_key{"order-" + std::to_string(what.number)};
  sagas_->async_start(std::move(asked), [this, then = std::move(then)](atone::result<atone::started> begun) {
    if (!begun) {
      note(begun.error().message);
      return then(begun.error().code == atone::errc::exhausted ? outcome::turned_away : outcome::failed);
    }
    sagas_->async_wait(begun->id, std::chrono::hours{1}, [this, then](atone::result<atone::saga_view> of) { then(judge(of)); });
  });
}

outcome embedded_target::judge(atone::result<atone::saga_view> const& of) {
  if (!of) {
    note(of.error().message);
    return outcome::failed;
  }
  if (of->row.status == wanted_) return outcome::ended;
  note("a saga is " + std::string{name(of->row.status)} + ": " + of->row.cause);
  return outcome::failed;
}

void embedded_target::note(std::string why) {
  std::lock_guard const held{lock_};
  if (first_failure_.empty()) first_failure_ = std::move(why);
}

std::string embedded_target::first_failure() const {
  std::lock_guard const held{lock_};
  return first_failure_;
}

void embedded_target::stop() {
  sagas_->stop();
}

}  // namespace bench
