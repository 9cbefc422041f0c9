#include <chrono>

#include <boost/asio/post.hpp>

#include "http/http_date.hpp"
#include "http/server_core.hpp"

namespace atone::http {
namespace {

using boost::asio::ip::tcp;

constexpr deadlines::id grace_id = 0;
constexpr deadlines::id accept_again_id = 1;
constexpr deadlines::id room_again_id = 2;
constexpr duration accept_pause = std::chrono::milliseconds{50};  // after a failed accept: descriptors may be short
constexpr duration idle_least = std::chrono::seconds{1};          // a connection that had nothing for so long may have to make room

}  // namespace

server_core::server_core(boost::asio::io_context& io, server_options options, server::handler answer)
    : io_(io),
      options_(std::move(options)),
      handler_(std::move(answer)),
      door_(std::make_shared<server_door>(io)),
      acceptor_(io),
      deadlines_(io, [this](deadlines::id which) { expired(which); }) {}

result<void> server_core::start() {
  error_code ec;
  auto const address = boost::asio::ip::make_address(options_.address, ec);
  if (ec) return error{errc::invalid_argument, "can't listen on \"" + options_.address + "\": expected an IP address"};
  if (options_.tls) {
    auto made = make_server_tls(*options_.tls);
    if (!made) return made.error();
    tls_ = *std::move(made);
  }
  if (auto done = listen(tcp::endpoint{address, options_.port}); !done) return done.error();
  accept();
  return {};
}

result<void> server_core::listen(tcp::endpoint const& where) {
  error_code ec;
  acceptor_.open(where.protocol(), ec);
  if (!ec) acceptor_.set_option(tcp::acceptor::reuse_address{true}, ec);
  if (!ec) acceptor_.bind(where, ec);
  if (!ec) acceptor_.listen(boost::asio::socket_base::max_listen_connections, ec);
  if (!ec) port_ = acceptor_.local_endpoint(ec).port();
  if (!ec) return {};
  error_code ignored;
  acceptor_.close(ignored);
  return error{errc::unavailable, "can't listen on " + options_.address + ":" + std::to_string(options_.port) + ": " + ec.message()};
}

void server_core::accept() {
  if (accepting_ || stopping_ || at_door_) return;
  accepting_ = true;
  acceptor_.async_accept(io_, [self = shared_from_this()](error_code ec, tcp_socket socket) { self->accepted(ec, std::move(socket)); });
}

void server_core::accepted(error_code ec, tcp_socket socket) {
  accepting_ = false;
  if (stopping_) return;
  if (ec) {
    deadlines_.add(accept_pause, accept_again_id);
    return;
  }
  if (sessions_.size() >= options_.connections_max) {
    at_door_.emplace(std::move(socket));
    return make_room();
  }
  let_in(std::move(socket));
  accept();
}

void server_core::let_in(tcp_socket socket) {
  auto const id = ++last_session_;
  auto const made = std::make_shared<server_session>(*this, id, std::move(socket));
  sessions_.emplace(id, made);
  made->start();
}

// Clients that keep connections for later must not shut out whoever has something to ask: of those that ask nothing the longest-standing
// one goes. Where all are busy, the one at the door waits until one ends.
void server_core::make_room() {
  if (!at_door_ || looked_for_room_) return;
  auto const now = deadlines::now();
  std::shared_ptr<server_session> longest;
  for (auto const& [id, session] : sessions_) {
    auto const since = session->idle_since();
    if (since && now - *since >= idle_least && (!longest || *since < *longest->idle_since())) longest = session;
  }
  if (longest) return longest->close();  // which lets the other in
  looked_for_room_ = true;               // nobody can have been idle long enough much sooner: one look for all who come until then
  deadlines_.add(idle_least, room_again_id);
}

std::string const& server_core::date() {
  auto const now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  auto const second = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  if (second != date_second_) {
    date_second_ = second;
    date_ = format_http_date(now);
  }
  return date_;
}

void server_core::closed(std::uint64_t session) {
  auto const self = shared_from_this();
  sessions_.erase(session);
  if (stopping_) return check_stopped();
  if (at_door_ && sessions_.size() < options_.connections_max) let_in(*std::exchange(at_door_, std::nullopt));
  accept();
}

void server_core::expired(deadlines::id which) {
  auto const self = shared_from_this();
  if (which == grace_id) return close_all();
  if (which == accept_again_id) return accept();
  if (which == room_again_id) {
    looked_for_room_ = false;
    return make_room();
  }
  auto const found = sessions_.find(which);
  if (found == sessions_.end()) return;
  auto const session = found->second;
  session->expired();
}

void server_core::stop(duration grace, std::function<void()> done) {
  if (done) on_stopped_.push_back(std::move(done));
  if (std::exchange(stopping_, true)) return check_stopped();
  error_code ignored;
  acceptor_.close(ignored);
  at_door_.reset();
  deadlines_.add(grace, grace_id);
  auto const sessions = sessions_;
  for (auto const& [id, session] : sessions) session->finish();
  check_stopped();
}

void server_core::close_all() {
  auto const sessions = sessions_;
  for (auto const& [id, session] : sessions) session->close();
}

void server_core::check_stopped() {
  if (!sessions_.empty()) return;
  deadlines_.stop();
  for (auto& done : std::exchange(on_stopped_, {})) boost::asio::post(io_, std::move(done));
}

void server_core::abandon() {
  stopping_ = true;
  door_->close();
  error_code ignored;
  acceptor_.close(ignored);
  at_door_.reset();
  close_all();
  deadlines_.stop();
}

// ---- the public face ----

struct server::impl {
  std::shared_ptr<server_core> core;
};

server::server(boost::asio::io_context& io, server_options options, handler answer) : impl_(std::make_shared<impl>()) {
  impl_->core = std::make_shared<server_core>(io, std::move(options), std::move(answer));
}

server::~server() {
  impl_->core->abandon();
}

result<void> server::start() {
  return impl_->core->start();
}

std::uint16_t server::port() const noexcept {
  return impl_->core->port();
}

void server::stop(duration grace, std::function<void()> done) {
  impl_->core->stop(grace, std::move(done));
}

}  // namespace atone::http
