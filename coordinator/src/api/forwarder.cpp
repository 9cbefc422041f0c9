#include "api/forwarder.hpp"

#include <algorithm>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "api/forwarded.hpp"
#include "api/problem.hpp"

namespace atone::api {
namespace {

using clock = std::chrono::steady_clock;

constexpr duration pause_first = std::chrono::milliseconds{20};
constexpr duration pause_max = std::chrono::milliseconds{320};

// The coordinator did nothing, because the saga is not here: driven by another one, or on its way between two. A coordinator that
// stops says `unavailable` of what it may have done; by then the forwarder has stopped.
bool is_not_here(error const& why) noexcept {
  return why.code == errc::elsewhere || why.code == errc::unavailable;
}

http::client_options client_settings(forward_options const& of) {
  http::client_options made;
  made.waiting_max = of.in_flight_max;
  made.tls = of.tls;
  return made;
}

problem lost_answer(std::string const& node, http::exchange const& came) {
  return {503, "outcome_unknown",
          "the request was passed on to " + node + ", which drives the saga, and its answer did not come (" +
              std::string{name(came.failure)} + ": " + came.detail + "): it may have taken effect; look at the saga before it is repeated"};
}

}  // namespace

struct forwarder::impl {
  // One request from its refusal here to its answer.
  struct passing {
    call_ptr of;
    saga_id saga;
    attempt_here here;
    boost::asio::steady_timer timer;
    clock::time_point until;
    duration pause = pause_first;
    bool out = false;  // it may be taking effect, on another node or here
    bool over = false;

    passing(boost::asio::io_context& io, call_ptr what, saga_id which, attempt_here how, clock::time_point end)
        : of(std::move(what)), saga(which), here(std::move(how)), timer(io), until(end) {}
  };
  using passing_ptr = std::shared_ptr<passing>;

  impl(coordinator& of, forward_options how, api::metrics& to)
      : sagas(of), with(std::move(how)), counts(to), client(io, client_settings(with)), thread([this] { io.run(); }) {}

  // False: it has stopped, and what it held is answered.
  template <class Work>
  bool post(Work work) {
    std::lock_guard const held{lock};
    if (closed) return false;
    boost::asio::post(io, std::move(work));
    return true;
  }
  bool is_closed() {
    std::lock_guard const held{lock};
    return closed;
  }

  void refused_here(call_ptr const& of, saga_id saga, attempt_here here, error const& why);
  void begin(call_ptr const& of, saga_id saga, attempt_here here);
  void look(passing_ptr const& one);
  void decide(passing_ptr const& one, result<driver> const& who);
  void try_here(passing_ptr const& one);
  void send(passing_ptr const& one, driver const& to);
  void answered(passing_ptr const& one, driver const& by, http::exchange const& came);
  void look_later(passing_ptr const& one, forward_outcome what, problem why);
  void finish(passing_ptr const& one, forward_outcome what, http::response made);
  void let_go();

  coordinator& sagas;
  forward_options const with;
  api::metrics& counts;
  std::mutex lock;
  bool closed = false;  // under lock
  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard{io.get_executor()};
  http::client client;                   // from here on: of the thread
  std::unordered_set<passing_ptr> open;  // at most in_flight_max
  bool released = false;
  std::thread thread;  // last: it works with the members above
};

void forwarder::impl::refused_here(call_ptr const& of, saga_id saga, attempt_here here, error const& why) {
  if (was_forwarded(of->request) && !is_closed()) {
    counts.forwarded(forward_outcome::second_hop);
    return of->send(answer_of(not_driven_here(saga)));
  }
  bool const begun = post([this, of, saga, here = std::move(here)]() mutable { begin(of, saga, std::move(here)); });
  if (!begun) of->send(answer_of(why));
}

void forwarder::impl::begin(call_ptr const& of, saga_id saga, attempt_here here) {
  if (open.size() >= with.in_flight_max) {
    counts.forwarded(forward_outcome::too_many);
    return of->send(answer_of(problem{503, "unavailable", "too many requests are being passed on to other nodes; try again"}));
  }
  auto const one = std::make_shared<passing>(io, of, saga, std::move(here), clock::now() + with.patience);
  open.insert(one);
  look(one);
}

void forwarder::impl::look(passing_ptr const& one) {
  sagas.async_driver_of(one->saga, [this, one](result<driver> who) { (void)post([this, one, who] { decide(one, who); }); });
}

void forwarder::impl::decide(passing_ptr const& one, result<driver> const& who) {
  if (one->over) return;
  if (!who) {
    if (!is_not_here(who.error())) return finish(one, forward_outcome::no_driver, answer_of(who.error()));
    return look_later(one, forward_outcome::no_driver, problem_of(who.error()));
  }
  if (who->here) return try_here(one);
  if (!who->address.empty()) return send(one, *who);
  finish(one, forward_outcome::no_address,
         answer_of(problem{
             503, "elsewhere",
             "saga " + one->saga.text() + " is driven by " + who->node.value() + ", which has no address where other nodes reach it"}));
}

void forwarder::impl::try_here(passing_ptr const& one) {
  one->out = true;
  one->here([this, one](result<http::response> made) {
    bool const taken = post([this, one, made] {
      one->out = false;
      if (one->over) return;
      if (made) return finish(one, forward_outcome::here, *made);
      if (!is_not_here(made.error())) return finish(one, forward_outcome::here, answer_of(made.error()));
      look_later(one, forward_outcome::no_driver, problem_of(made.error()));
    });
    if (!taken) one->of->send(made ? *made : answer_of(made.error()));
  });
}

void forwarder::impl::send(passing_ptr const& one, driver const& to) {
  auto const where = http::parse_origin(to.address);
  if (!where) {
    auto const why = "the address of " + to.node.value() + ", which drives the saga, can't be used: " + where.error().message;
    return finish(one, forward_outcome::no_address, answer_of(problem{503, "elsewhere", why}));
  }
  one->out = true;
  client.send(*where, forwarded_request(one->of->request, with.node), with.answer_max,
              [this, one, to](http::exchange came) { answered(one, to, came); });
}

void forwarder::impl::answered(passing_ptr const& one, driver const& by, http::exchange const& came) {
  if (came.ok() && !is_not_driven(came.response)) return finish(one, forward_outcome::answered, passed_answer(came.response));
  one->out = false;
  if (came.ok()) {
    return look_later(one, forward_outcome::no_driver,
                      problem{503, "unavailable", "saga " + one->saga.text() + " is on its way between two nodes; try again"});
  }
  if (certainty_of(came.failure) == certainty::unknown)
    return finish(one, forward_outcome::lost, answer_of(lost_answer(by.node.value(), came)));
  look_later(one, forward_outcome::unreachable,
             problem{503, "unavailable",
                     "saga " + one->saga.text() + " is driven by " + by.node.value() + " at " + by.address + ", which can't be reached (" +
                         came.detail + "); try again"});
}

// `what` and `why`: what it comes to when the patience is over.
void forwarder::impl::look_later(passing_ptr const& one, forward_outcome what, problem why) {
  auto const left = std::chrono::duration_cast<duration>(one->until - clock::now());
  if (released || left <= duration::zero()) return finish(one, what, answer_of(why));
  one->timer.expires_after(std::min(one->pause, left));
  one->pause = std::min(one->pause * 2, pause_max);
  one->timer.async_wait([this, one](boost::system::error_code cancelled) {
    if (!cancelled && !one->over) look(one);
  });
}

void forwarder::impl::finish(passing_ptr const& one, forward_outcome what, http::response made) {
  if (std::exchange(one->over, true)) return;
  one->timer.cancel();
  open.erase(one);
  counts.forwarded(what);
  one->of->send(std::move(made));
}

void forwarder::impl::let_go() {
  released = true;
  auto const waiting = open;
  for (auto const& one : waiting) {
    if (one->out) continue;
    finish(one, forward_outcome::stopped, answer_of(problem{503, "unavailable", "this node is stopping; ask another one"}));
  }
}

forwarder::forwarder(coordinator& sagas, forward_options with, api::metrics& counts)
    : impl_(std::make_unique<impl>(sagas, std::move(with), counts)) {}

forwarder::~forwarder() {
  stop();
}

void forwarder::bring(call_ptr const& of, saga_id saga, attempt_here here) {
  here([in = impl_.get(), of, saga, here](result<http::response> made) {
    if (made) return of->send(*std::move(made));
    if (!is_not_here(made.error())) return of->send(answer_of(made.error()));
    in->refused_here(of, saga, here, made.error());
  });
}

void forwarder::release() {
  (void)impl_->post([in = impl_.get()] { in->let_go(); });
}

void forwarder::stop() {
  {
    std::lock_guard const held{impl_->lock};
    if (std::exchange(impl_->closed, true)) return;
  }
  boost::asio::post(impl_->io, [in = impl_.get()] {
    in->let_go();
    in->client.stop();  // what has left ends as lost
    in->guard.reset();
  });
  impl_->thread.join();
  impl_->open.clear();  // those that the coordinator still works on are answered by it
}

}  // namespace atone::api
