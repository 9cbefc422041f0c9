#include <algorithm>
#include <charconv>

#include <boost/asio/post.hpp>

#include <atone/percent.hpp>

#include "doorbell.hpp"
#include "environment.hpp"
#include "senders.hpp"

namespace atone::library {
namespace {

// Answers of participants are cut at this many bytes where they are text for people.
constexpr std::size_t reply_text_max = 2048;
constexpr std::size_t head_usual = 768;  // bytes of a request beside target and body, mostly
// Between two calls that try an address of which a bare connection tells too little, or with which TLS could not be agreed.
constexpr duration call_when_unsure = std::chrono::seconds{5};
constexpr duration ring_first = std::chrono::milliseconds{50};

std::string reply_text(http::response const& got) {
  if (got.body.empty()) return "HTTP " + std::to_string(got.status);
  if (got.body.size() <= reply_text_max) return got.body;
  auto end = reply_text_max;
  while (end > 0 && (static_cast<unsigned char>(got.body[end]) & 0xC0) == 0x80) --end;
  return got.body.substr(0, end) + " … (cut, " + std::to_string(got.body.size()) + " bytes)";
}

runtime::call_answer failed(certainty sureness, std::string text) {
  runtime::call_answer made;
  made.sureness = sureness;
  made.text = std::move(text);
  return made;
}

runtime::call_answer by_status(http::response got) {
  runtime::call_answer made;
  made.status = got.status;
  switch (classify_status(got.status)) {
    case answer_class::done:
      made.kind = runtime::call_answer::kind_of::done;
      made.payload = std::move(got.body);
      return made;
    case answer_class::refused: made.kind = runtime::call_answer::kind_of::refused; break;
    case answer_class::transient_not_done: made.sureness = certainty::not_done; break;
    case answer_class::transient_unknown:
    case answer_class::still_working: made.sureness = certainty::unknown; break;
  }
  made.text = reply_text(got);
  if (auto const wait = parse_retry_after(got.headers.get("Retry-After"), got.headers.get("Date"))) made.retry_after = *wait;
  made.payload = std::move(got.body);
  return made;
}

runtime::call_answer by_exchange(http::exchange got) {
  if (got.ok()) return by_status(std::move(got.response));
  auto text = std::string{name(got.failure)} + (got.detail.empty() ? "" : ": " + got.detail);
  return failed(certainty_of(got.failure), std::move(text));
}

std::string traceparent(runtime::outgoing_call const& what) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "00-00000000000000000000000000000000-0000000000000000-01";
  auto put = text.begin() + 3;
  for (auto const byte : what.saga.value()) {
    *put++ = digits[byte >> 4];
    *put++ = digits[byte & 15];
  }
  // The span: half of the operation's key, told apart by the attempt (SplitMix64's mixing, so that neighbours differ in every digit).
  std::uint64_t span = 0;
  auto const& key = what.key.text();
  std::from_chars(key.data(), key.data() + 16, span, 16);
  span += what.n.value() * 0x9E3779B97F4A7C15U;
  span = (span ^ span >> 30U) * 0xBF58476D1CE4E5B9U;
  span = (span ^ span >> 27U) * 0x94D049BB133111EBU;
  span ^= span >> 31U;
  if (span == 0) span = 1;  // all zero is no span
  ++put;
  for (int shift = 60; shift >= 0; shift -= 4) *put++ = digits[span >> shift & 15U];
  return text;
}

}  // namespace

runtime::call_answer answer_of_status(std::int32_t status, std::string body) {
  http::response got;
  got.status = status;
  got.body = std::move(body);
  return by_status(std::move(got));
}

// One call, from send to its answer.
struct http_sender::entry {
  runtime::outgoing_call what;
  completion done;
  gate* at = nullptr;
  bool queued = false;
  bool in_flight = false;
  bool over = false;
  bool given_up = false;  // nobody waits for it: no polling for its result
  http::client::ticket ticket = 0;
  std::string poll_target;
  duration poll_wait{};
  duration polled_for{};
  std::optional<boost::asio::steady_timer> timer;  // of one that is still working, which few are

  entry(runtime::outgoing_call call, completion then) : what(std::move(call)), done(std::move(then)) {}
  boost::asio::steady_timer& wait_for(boost::asio::io_context& loop, duration time) {
    if (!timer) timer.emplace(loop);
    timer->expires_after(time);
    return *timer;
  }
  void end_wait() {
    if (timer) timer->cancel();
  }
};

// What bounds the calls to one address. While its breaker is open nothing leaves and no attempt is spent.
struct http_sender::gate {
  result<http::origin> to;
  std::deque<std::shared_ptr<entry>> queue;
  std::uint32_t in_flight = 0;
  std::uint32_t in_flight_max = 256;
  std::uint32_t refused_in_a_row = 0;
  bool open = false;     // the breaker
  bool probing = false;  // one call tries
  duration pause{};      // until it is asked again whether somebody listens
  duration probed_at{};  // boot time of the last call that tried
  boost::asio::steady_timer timer;
  doorbell bell;

  gate(boost::asio::io_context& loop, std::string const& address) : to(http::parse_origin(address)), timer(loop), bell(loop) {}
};

http_sender::http_sender(boost::asio::io_context& loop, http_sender_options options, runtime::tenure const& lease)
    : loop_(loop), options_(std::move(options)), lease_(lease), client_(loop, http::client_options{}) {}
http_sender::~http_sender() {
  stop();
}

http_sender::gate& http_sender::gate_of(runtime::outgoing_call const& what) {
  auto& at = gates_[what.address];
  if (at == nullptr) at = std::make_unique<gate>(loop_, what.address);
  at->in_flight_max = std::max<std::uint32_t>(1, what.in_flight_max);
  return *at;
}

void http_sender::send(runtime::outgoing_call what, completion done) {
  if (halted_) return;
  auto& at = gate_of(what);
  if (!at.to) {
    return boost::asio::post(loop_, [this, done = std::move(done), why = at.to.error().message] {
      if (!halted_) done(failed(certainty::not_done, "address: " + why));
    });
  }
  auto one = std::make_shared<entry>(std::move(what), std::move(done));
  one->at = &at;
  one->queued = true;
  entries_.insert_or_assign(call_name{one->what.saga, one->what.step.text(), one->what.op}, one);
  at.queue.push_back(std::move(one));
  admit(at);
}

void http_sender::admit(gate& at) {
  while (!at.queue.empty() && at.in_flight < at.in_flight_max && !halted_ && lease_.holds()) {
    if (at.open && !at.probing) return;  // once somebody listens there, one is let through
    if (at.open && at.in_flight > 0) return;
    auto one = std::move(at.queue.front());
    at.queue.pop_front();
    if (one->over) continue;
    begin(at, std::move(one));
    if (at.open) return;
  }
}

void http_sender::resume() {
  for (auto const& [address, at] : gates_) admit(*at);
}

void http_sender::begin(gate& at, std::shared_ptr<entry> one) {
  one->queued = false;
  one->in_flight = true;
  ++at.in_flight;
  one->ticket = client_.send(*at.to, request_of(*at.to, one->what), one->what.attempt_timeout,
                             [this, one](http::exchange got) { answered(one, std::move(got)); });
}

http::written_request http_sender::request_of(http::origin const& to, runtime::outgoing_call const& what) const {
  auto const& spec = std::get<http_request_spec>(what.request);
  http::request_writer made{to, spec.method, spec.target, spec.target.size() + spec.body.size() + head_usual};
  auto const id = what.saga.characters();
  std::string_view const saga{id.data(), id.size()};
  if (!spec.body.empty()) made.field("Content-Type", "application/json");
  made.field(headers::saga, saga).field(headers::step, what.step.text()).field(headers::op, name(what.op));
  made.field(headers::attempt, what.n.value()).field(headers::epoch, what.epoch.value());
  if (!options_.node.empty()) made.field(headers::node, options_.node);
  made.field(headers::idempotency_key, what.key.text());
  auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(what.attempt_timeout).count();
  made.field(headers::deadline, static_cast<std::uint64_t>(std::max<std::int64_t>(0, left)));
  made.field(headers::traceparent, traceparent(what));
  if (!options_.callback_base.empty()) {
    made.field(headers::callback, options_.callback_base + "/v1/callbacks/" + std::string{saga} + '/' + std::string{name(what.op)} + '/' +
                                      std::to_string(what.n.value()) + "?step=" + percent_encode(what.step.text()) +
                                      "&token=" + reply_token(options_.token_key, what.saga, what.step, what.op, what.n));
  }
  return made.end(spec.body);
}

void http_sender::answered(std::shared_ptr<entry> const& one, http::exchange got) {
  auto& at = *one->at;
  ATONE_ASSERT(at.in_flight > 0);
  --at.in_flight;
  one->in_flight = false;
  note(at, got);
  if (!one->over) {
    bool const working = got.ok() && classify_status(got.response.status) == answer_class::still_working;
    if (working && one->given_up) {
      finish(one, failed(certainty::unknown, "still working when it was given up"));
    } else if (working) {
      poll_later(one, got.response);
    } else {
      finish(one, by_exchange(std::move(got)));
    }
  }
  admit(at);
}

// Connections refused in a row open the breaker; any answer closes it.
void http_sender::note(gate& at, http::exchange const& got) {
  bool const probed = std::exchange(at.probing, false);
  if (got.failure != transport_failure::connect) {
    at.refused_in_a_row = 0;
    at.open = false;
    at.timer.cancel();
    at.bell.take_back();
    return;
  }
  if (++at.refused_in_a_row < options_.breaker_failures) return;
  if (at.open && !probed) return;  // it left before the breaker opened
  if (!at.open) at.pause = duration::zero();
  at.open = true;
  bool const no_tls = probed && at.to->tls;  // somebody listens, but each look would cost an attempt
  ring_later(at, no_tls ? call_when_unsure : duration::zero());
}

// While the breaker is open it is asked whether somebody listens, ever more rarely; no call and no attempt is spent on that.
void http_sender::ring_later(gate& at, duration least) {
  at.pause = std::min(std::max(at.pause * 2, ring_first), options_.breaker_open);
  at.timer.expires_after(std::max(at.pause, least));
  at.timer.async_wait([this, held = &at](boost::system::error_code cancelled) {
    if (cancelled || !held->open || halted_) return;
    held->bell.ring(*held->to, [this, held](doorbell::answer heard) {
      if (!held->open || halted_) return;
      auto const now = boot_time();
      // Silent: a slow name, or an endpoint behind one that answers nothing. A call knows more, but costs an attempt.
      bool const worth_a_call = heard == doorbell::answer::silent && now - held->probed_at >= call_when_unsure;
      if (heard != doorbell::answer::there && !worth_a_call) return ring_later(*held, duration::zero());
      held->probed_at = now;
      held->probing = true;
      admit(*held);
    });
  });
}

// 202: still working. Asking for the result costs no attempt; the participant may also report to the callback.
void http_sender::poll_later(std::shared_ptr<entry> const& one, http::response const& accepted) {
  if (auto const location = accepted.headers.get("Location"); !location.empty()) one->poll_target = location;
  if (one->poll_target.empty() && options_.callback_base.empty()) {
    return finish(one, failed(certainty::unknown, "202 without Location, and this coordinator has no callback address"));
  }
  if (one->poll_target.empty()) {  // the callback ends it; one that never comes is an outcome too
    return one->wait_for(loop_, options_.poll_limit).async_wait([this, one](boost::system::error_code cancelled) {
      if (cancelled || one->over) return;
      finish(one,
             failed(certainty::unknown, "202, and nothing was reported to the callback within " + format_duration(options_.poll_limit)));
    });
  }
  auto const asked = parse_retry_after(accepted.headers.get("Retry-After"), accepted.headers.get("Date"));
  one->poll_wait = asked ? *asked : one->poll_wait.count() == 0 ? options_.poll_first : std::min(one->poll_wait * 2, options_.poll_cap);
  one->polled_for += one->poll_wait;
  if (one->polled_for > options_.poll_limit)
    return finish(one, failed(certainty::unknown, "still 202 after " + format_duration(options_.poll_limit)));
  one->wait_for(loop_, one->poll_wait).async_wait([this, one](boost::system::error_code cancelled) {
    if (!cancelled && !one->over) poll(one);
  });
}

void http_sender::poll(std::shared_ptr<entry> const& one) {
  auto to = *one->at->to;
  http::request ask;
  ask.target = one->poll_target;
  if (one->poll_target.find("://") != std::string::npos) {
    auto const absolute = http::parse_origin(one->poll_target);
    if (!absolute) return finish(one, failed(certainty::unknown, "Location can't be read: " + absolute.error().message));
    // Only the participant itself is asked: a Location elsewhere would send our headers to a stranger.
    if (absolute->host != to.host || absolute->port != to.port) {
      return finish(one, failed(certainty::unknown, "Location points to another host: " + one->poll_target));
    }
    ask.target = absolute->prefix.empty() ? "/" : absolute->prefix;
  }
  to.prefix.clear();
  ask.headers.add(headers::saga, one->what.saga.text());
  ask.headers.add(headers::step, one->what.step.text());
  ask.headers.add(headers::op, name(one->what.op));
  ask.headers.add(headers::traceparent, traceparent(one->what));
  one->ticket =
      client_.send(to, std::move(ask), one->what.attempt_timeout, [this, one](http::exchange got) { polled(one, std::move(got)); });
}

void http_sender::polled(std::shared_ptr<entry> const& one, http::exchange got) {
  if (one->over) return;
  if (!got.ok()) return poll_later(one, http::response{});
  switch (classify_status(got.response.status)) {
    case answer_class::done: return finish(one, by_status(std::move(got.response)));
    case answer_class::refused:
      // The result is gone, or never was there: that says nothing about the work.
      if (got.response.status == 404 || got.response.status == 410) {
        return finish(one, failed(certainty::unknown, "the result at Location is gone: HTTP " + std::to_string(got.response.status)));
      }
      return finish(one, by_status(std::move(got.response)));
    case answer_class::still_working:
    case answer_class::transient_not_done:
    case answer_class::transient_unknown: return poll_later(one, got.response);
  }
}

void http_sender::finish(std::shared_ptr<entry> const& one, runtime::call_answer answer) {
  ATONE_ASSERT(!one->over);
  one->over = true;
  auto const name_of = call_name{one->what.saga, one->what.step.text(), one->what.op};
  if (auto const found = entries_.find(name_of); found != entries_.end() && found->second == one) entries_.erase(found);
  auto const done = std::move(one->done);
  one->done = nullptr;
  done(std::move(answer));
}

runtime::given_up http_sender::abandon(saga_id saga, step_path const& step, operation op) {
  auto const found = entries_.find(call_name{saga, step.text(), op});
  if (found == entries_.end()) return runtime::given_up::out;
  auto const one = found->second;
  // A request in flight is left to end by itself: its answer, if one comes, is recorded as late.
  one->given_up = true;
  if (one->in_flight) return runtime::given_up::out;
  bool const queued = one->queued;
  drop(one);
  return queued ? runtime::given_up::never_left : runtime::given_up::dropped;
}

runtime::given_up http_sender::take_back(saga_id saga, step_path const& step, operation op) {
  auto const found = entries_.find(call_name{saga, step.text(), op});
  if (found == entries_.end() || !found->second->queued) return runtime::given_up::out;
  drop(found->second);
  return runtime::given_up::never_left;
}

void http_sender::drop(std::shared_ptr<entry> one) {
  entries_.erase(call_name{one->what.saga, one->what.step.text(), one->what.op});
  one->over = true;
  one->done = nullptr;
  one->end_wait();
  if (one->ticket != 0) client_.cancel(one->ticket);
}

void http_sender::halt() {
  halted_ = true;
  for (auto& [address, at] : gates_) {
    at->timer.cancel();
    at->bell.take_back();
    at->queue.clear();
  }
  auto const all = std::exchange(entries_, {});
  for (auto const& [name_of, one] : all) {
    one->over = true;
    one->done = nullptr;
    one->end_wait();
  }
}

void http_sender::stop() {
  halt();
  client_.stop();
}

}  // namespace atone::library
