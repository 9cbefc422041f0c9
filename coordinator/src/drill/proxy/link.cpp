#include "drill/proxy/link.hpp"

#include <algorithm>

#include <boost/asio/write.hpp>

#include "drill/proxy/second_sending.hpp"

namespace atone::drill {
namespace {

using boost::system::error_code;

std::chrono::microseconds drawn_delay(proxy_state& in) {
  auto const spread = in.fault.jitter.count();
  std::uniform_int_distribution<duration::rep> draw{-spread, spread};
  return std::max(in.fault.of + duration{draw(in.random)}, duration::zero());
}

}  // namespace

link::link(proxy_state& in, socket client)
    : in_(in),
      client_(std::move(client)),
      server_(in.io),
      there_(in.io, client_, server_, way::there),
      back_(in.io, server_, client_, way::back) {}

void link::begin() {
  if (held()) return touch();  // fault_changed() begins
  if (in_.fault.kind == fault_kind::half_open) {
    connected_ = true;
    go_silent();
    return read(there_);
  }
  connected_ = true;
  server_.async_connect(in_.target, [self = shared_from_this()](error_code failed) {
    if (self->closed_) return;
    if (self->silent_) return self->read(self->there_);
    if (failed) return self->reset();
    error_code ignored;
    self->server_.set_option(boost::asio::ip::tcp::no_delay{true}, ignored);
    self->read(self->there_);
    self->read(self->back_);
  });
}

void link::fault_changed() {
  if (!connected_) return begin();
  if (in_.fault.kind == fault_kind::half_open && !silent_) go_silent();
  for (auto* const each : {&there_, &back_}) {
    each->pause.cancel();
    auto const waited = std::exchange(each->waiting, waits_for::nothing);
    if (waited == waits_for::room_to_read) read(*each);
    if (waited == waits_for::room_to_pass) pass(*each);
  }
}

void link::close() {
  if (std::exchange(closed_, true)) return;
  error_code ignored;
  client_.close(ignored);
  server_.close(ignored);
  there_.pause.cancel();
  back_.pause.cancel();
  --in_.figures.open;
  in_.links.erase(shared_from_this());
}

void link::reset() {
  if (closed_) return;
  error_code ignored;
  client_.set_option(boost::asio::socket_base::linger{true, 0}, ignored);
  ++in_.figures.resets;
  close();
}

void link::touch() {
  if (std::exchange(touched_, in_.faults) != in_.faults) ++in_.figures.touched;
}

// The target is gone without a word. What is on its way to the client comes to nothing.
void link::go_silent() {
  silent_ = true;
  touch();
  back_.ended = true;
  error_code ignored;
  server_.close(ignored);
}

void link::read(flow& of) {
  if (closed_ || of.ended) return;
  if (held() && !silent_) {
    of.waiting = waits_for::room_to_read;
    return;
  }
  of.from.async_read_some(boost::asio::buffer(of.buffer), [self = shared_from_this(), &of](error_code failed, std::size_t bytes) {
    of.over = static_cast<bool>(failed);
    self->has_read(of, bytes);
  });
}

void link::has_read(flow& of, std::size_t bytes) {
  if (closed_ || of.ended) return;
  of.have = bytes;
  of.sent = 0;
  of.paused = false;
  if (&of == &there_ && bytes != 0 && !silent_) {
    if (loses()) return;
    for (auto& request : requests_.add({of.buffer.data(), bytes})) send_again(std::move(request));
  }
  if (&of == &back_ && doomed_) {
    ++in_.figures.cuts;
    return close();
  }
  pass(of);
}

// Whether what the client has sent is lost: then the connection is closed.
bool link::loses() {
  auto& fault = in_.fault;
  bool const may = fault.kind == fault_kind::lose_request || fault.kind == fault_kind::lose_answer;
  if (!may || doomed_) return false;
  if (fault.after > 0) {
    --fault.after;
    return false;
  }
  bool const request = fault.kind == fault_kind::lose_request;
  touch();
  count_loss();
  if (!request) {
    doomed_ = true;
    return false;
  }
  ++in_.figures.cuts;
  close();
  return true;
}

void link::count_loss() {
  if (in_.fault.times == 0) return;
  if (--in_.fault.times == 0) in_.fault = network_fault{};
}

void link::pass(flow& of) {
  if (closed_ || of.ended) return;
  if (silent_) {
    of.have = of.sent = 0;
    return of.over ? close() : read(of);
  }
  if (held()) {
    if (of.have != 0 || of.over) touch();
    of.waiting = waits_for::room_to_pass;
    return;
  }
  if (of.sent == of.have) return of.over ? end(of) : read(of);
  pass_some(of);
}

void link::pass_some(flow& of) {
  auto const& fault = in_.fault;
  if (of.counted != in_.faults) {
    of.counted = in_.faults;
    of.passed = 0;
  }
  auto const rest = of.have - of.sent;
  if (!covers(fault.where, of.where)) return write(of, rest, false);
  switch (fault.kind) {
    case fault_kind::delay: return of.paused ? write(of, rest, false) : wait(of, drawn_delay(in_));
    case fault_kind::drip: return of.paused ? write(of, std::min<std::uint64_t>(rest, fault.bytes), false) : wait(of, fault.of);
    case fault_kind::cut: return write(of, std::min<std::uint64_t>(rest, fault.bytes - of.passed), rest >= fault.bytes - of.passed);
    default: return write(of, rest, false);
  }
}

void link::wait(flow& of, duration time) {
  touch();
  of.pause.expires_after(time);
  of.pause.async_wait([self = shared_from_this(), &of](error_code cancelled) {
    of.paused = !cancelled;
    self->pass(of);
  });
}

void link::write(flow& of, std::size_t bytes, bool then_cut) {
  auto const piece = boost::asio::buffer(of.buffer.data() + of.sent, bytes);
  boost::asio::async_write(of.to, piece, [self = shared_from_this(), &of, then_cut](error_code failed, std::size_t written) {
    if (self->closed_ || of.ended) return;
    of.sent += written;
    of.passed += written;
    self->in_.figures.carried += written;
    of.paused = false;
    if (then_cut && !self->silent_) {
      self->touch();
      ++self->in_.figures.cuts;
      return self->close();
    }
    if (failed && !self->silent_) return self->close();
    self->pass(of);
  });
}

// The source has closed: so does this way. An answer may still come the other way.
void link::end(flow& of) {
  of.ended = true;
  error_code ignored;
  of.to.shutdown(socket::shutdown_send, ignored);
  if (there_.ended && back_.ended) close();
}

void link::send_again(std::string request) {
  if (in_.fault.kind != fault_kind::duplicate || in_.doubles >= fault_proxy::doubles_max) return;
  ++in_.figures.doubled;
  touch();
  std::make_shared<second_sending>(in_, std::move(request))->begin();
}

}  // namespace atone::drill
