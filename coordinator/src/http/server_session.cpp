#include "http/server_session.hpp"

#include <exception>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>

#include <atone/assert.hpp>
#include <atone/json.hpp>

#include "http/request_text.hpp"
#include "http/server_core.hpp"

namespace atone::http {
namespace {

constexpr duration linger_max = std::chrono::seconds{2};
constexpr std::size_t discard_max = 64 * 1024 * 1024;  // bytes read and thrown away after an early answer
constexpr std::string_view continue_text = "HTTP/1.1 100 Continue\r\n\r\n";

std::string error_body(std::string_view code, std::string_view message) {
  std::string out = R"({"error":{"code":)";
  json::append_string(out, code);
  out += R"(,"message":)";
  json::append_string(out, message);
  return out + "}}";
}

}  // namespace

// ---- the way from other threads ----

void server_door::deliver(std::function<void()> work) {
  {
    std::lock_guard const lock{guard_};
    if (!io_) return;
    if (!io_->get_executor().running_in_this_thread()) {
      boost::asio::post(*io_, std::move(work));
      return;
    }
  }
  work();
}

void server_door::close() {
  std::lock_guard const lock{guard_};
  io_ = nullptr;
}

responder::state::~state() {
  drop();
}

void responder::state::send(response with) {
  if (answered.exchange(true)) return;
  door->deliver([to = session, n = number, answer = std::move(with)]() mutable {
    if (auto const alive = to.lock()) alive->answer(n, std::move(answer));
  });
}

void responder::state::drop() {
  if (answered.exchange(true)) return;
  door->deliver([to = session, n = number] {
    if (auto const alive = to.lock()) alive->drop(n);
  });
}

void responder::send(response with) {
  if (state_) state_->send(std::move(with));
}

void responder::drop() {
  if (state_) state_->drop();
}

// ---- the session ----

server_session::server_session(server_core& core, std::uint64_t id, tcp_socket socket)
    : core_(&core), id_(id), wire_(std::move(socket)), reader_({core.options().header_max, core.options().body_max}) {}

void server_session::start() {
  wire_.prepare();
  if (!core_->tls()) {
    phase_ = phase::reading;
    process();
    return;
  }
  arm(core_->options().request_max);
  wire_.secure(*core_->tls());
  wire_.async_handshake(boost::asio::ssl::stream_base::server, [self = shared_from_this()](error_code ec) {
    if (self->phase_ != phase::handshake) return;
    if (ec) return self->close();
    self->phase_ = phase::reading;
    self->process();
  });
}

// Goes on as far as it can without waiting: a loop, so that pipelined requests with instant answers don't nest.
void server_session::process() {
  if (inside_) return;
  inside_ = true;
  while (phase_ == phase::reading && take_request()) dispatch();
  inside_ = false;
}

// True: a whole request is there. Otherwise a read is under way, or the connection is at its end.
bool server_session::take_request() {
  auto const progress = reader_.feed(buffer_.bytes());
  buffer_.consume(progress.consumed);
  if (progress.state == read_state::done) return true;
  if (progress.state == read_state::failed) {
    refuse(reader_.status(), reader_.problem());
    return false;
  }
  if (reader_.take_expectation()) send_continue();
  if (phase_ == phase::reading) read();
  return false;
}

void server_session::dispatch() {
  disarm();
  phase_ = phase::handling;
  close_after_ = !reader_.keep_alive();
  auto what = reader_.take();
  reader_.begin();
  head_ = what.method == "HEAD";
  responder way{std::make_shared<responder::state>(core_->door(), weak_from_this(), ++number_)};
  try {
    core_->handler()(std::move(what), way);
  } catch (std::exception const& thrown) {
    way.send(response{500, error_body("internal", thrown.what())});
  } catch (...) {
    way.send(response{500, error_body("internal", "something that is not a std::exception was thrown")});
  }
}

void server_session::answer(std::uint64_t number, response with) {
  if (phase_ != phase::handling || number != number_) return;
  write(with, close_after_ || core_->stopping());
}

void server_session::drop(std::uint64_t number) {
  if (phase_ == phase::handling && number == number_) close();
}

void server_session::read() {
  // Two deadlines: for a request's first byte, then for the whole of it. The second is not moved by bytes that trickle in.
  bool const begun = reader_.started() || !buffer_.empty();
  if (!armed_ || begun != receiving_late_) {
    receiving_late_ = begun;
    idle_since_ = deadlines::now();
    arm(begun ? core_->options().request_max : core_->options().idle_max);
  }
  wire_.async_read_some(buffer_.prepare(), [self = shared_from_this()](error_code ec, std::size_t count) { self->received(ec, count); });
}

void server_session::received(error_code ec, std::size_t count) {
  if (phase_ != phase::reading) return;
  if (ec) return close();
  buffer_.commit(count);
  process();
}

void server_session::send_continue() {
  // Few bytes on a connection whose send buffer is empty; a client that gets none sends its body anyway after a while.
  error_code ec;
  if (!wire_.is_secure()) {
    wire_.try_write(continue_text, ec);
    return;
  }
  // A TLS write must have ended before the answer's begins: the body is read only then.
  phase_ = phase::writing;
  wire_.async_write(continue_text, [self = shared_from_this()](error_code failure, std::size_t) {
    if (self->phase_ != phase::writing) return;
    if (failure) return self->close();
    self->phase_ = phase::reading;
    self->process();
  });
}

void server_session::refuse(std::int32_t status, std::string const& problem) {
  head_ = false;
  write(response{status, error_body("bad_request", problem)}, true);
}

void server_session::write(response const& with, bool close_after) {
  answer_form form;
  form.head = head_;
  form.close = close_after;
  form.date = core_->date();
  out_ = response_text(with, form);
  close_after_ = close_after;
  phase_ = phase::writing;
  error_code ec;
  auto const count = wire_.try_write(out_, ec);
  if (count == out_.size()) return written();
  if (ec && ec != boost::asio::error::would_block && ec != boost::asio::error::try_again) return close();
  arm(core_->options().idle_max);
  wire_.async_write(std::string_view{out_}.substr(count), [self = shared_from_this()](error_code failure, std::size_t) {
    if (self->phase_ != phase::writing) return;
    if (failure) return self->close();
    self->written();
  });
}

void server_session::written() {
  disarm();
  if (close_after_ || core_->stopping()) return linger();
  phase_ = phase::reading;
  process();
}

// Closing with unread bytes in the kernel would reset the connection and could take the answer with it.
void server_session::linger() {
  phase_ = phase::lingering;
  wire_.shutdown_send();
  arm(linger_max);
  discard();
}

void server_session::discard() {
  buffer_.clear();
  auto const room = buffer_.prepare();
  // Below TLS: what comes now is not read as anything.
  wire_.socket().async_read_some(boost::asio::buffer(room.first, room.second),
                                 [self = shared_from_this()](error_code ec, std::size_t count) {
                                   if (self->phase_ != phase::lingering) return;
                                   self->discarded_ += count;
                                   if (ec || self->discarded_ > discard_max) return self->close();
                                   self->discard();
                                 });
}

void server_session::finish() {
  close_after_ = true;
  bool const between_requests = phase_ == phase::reading && !reader_.started() && buffer_.empty();
  if (phase_ == phase::handshake || between_requests) close();
}

void server_session::expired() {
  armed_ = false;
  if (phase_ == phase::reading && receiving_late_) return refuse(408, "the request did not arrive whole in time");
  close();
}

void server_session::close() {
  if (phase_ == phase::closed) return;
  phase_ = phase::closed;
  disarm();
  wire_.close();
  core_->closed(id_);
}

void server_session::arm(duration after) {
  disarm();
  due_ = core_->due().add(after, id_);
  armed_ = true;
}

void server_session::disarm() {
  if (armed_) core_->due().remove(due_);
  armed_ = false;
}

}  // namespace atone::http
