#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>

#include <atone/assert.hpp>

#include "http/client_core.hpp"

namespace atone::http {
namespace {

using boost::asio::ip::tcp;

read_limits limits_of(client_options const& options) {
  return {options.header_max, options.body_max};
}

bool is_address(std::string const& host) {
  error_code ec;
  boost::asio::ip::make_address(host, ec);
  return !ec;
}

}  // namespace

client_connection::client_connection(std::shared_ptr<client_core> core, client_pool& pool)
    : core_(std::move(core)), pool_(&pool), wire_(core_->io()), reader_(limits_of(core_->options()), core_->options().keep_all_headers) {}

void client_connection::connect(exchange_ptr first) {
  current_ = std::move(first);
  current_->on = this;
  error_code ec;
  auto const address = boost::asio::ip::make_address(pool_->to.host, ec);
  if (!ec) {
    resolved({tcp::endpoint{address, pool_->to.port}});
    return;
  }
  resolver_.emplace(core_->io());
  resolver_->async_resolve(pool_->to.host, std::to_string(pool_->to.port),
                           [self = shared_from_this()](error_code failure, tcp::resolver::results_type const& found) {
                             if (!self->current_) return;
                             if (failure)
                               return self->fail(transport_failure::connect, "resolve " + self->pool_->to.host + ": " + failure.message());
                             std::vector<tcp::endpoint> endpoints;
                             for (auto const& entry : found) endpoints.push_back(entry.endpoint());
                             self->resolved(endpoints);
                           });
}

void client_connection::resolved(std::vector<tcp::endpoint> const& endpoints) {
  auto const list = std::make_shared<std::vector<tcp::endpoint>>(endpoints);
  boost::asio::async_connect(wire_.socket(), *list,
                             [self = shared_from_this(), list](error_code ec, tcp::endpoint const&) { self->connected(ec); });
}

void client_connection::connected(error_code ec) {
  if (!current_) return;
  if (ec) {
    auto const port = std::to_string(pool_->to.port);
    return fail(transport_failure::connect, "connect " + pool_->to.host + ":" + port + ": " + ec.message());
  }
  wire_.prepare();
  if (pool_->to.tls) return secure_then_carry();
  start_first();
}

void client_connection::secure_then_carry() {
  auto const& context = core_->tls();
  if (!context) return fail(transport_failure::connect, context.error().message);
  wire_.secure(**context);
  std::string problem;
  if (!check_peer_name(problem)) return fail(transport_failure::connect, problem);
  wire_.async_handshake(boost::asio::ssl::stream_base::client, [self = shared_from_this()](error_code ec) { self->handshaken(ec); });
}

// The certificate must be for the host we were told to reach, and the server is told which host that is.
bool client_connection::check_peer_name(std::string& problem) {
  auto const& host = pool_->to.host;
  auto& stream = wire_.tls();
  error_code ec;
  stream.set_verify_callback(boost::asio::ssl::host_name_verification{host}, ec);
  if (ec) {
    problem = "TLS: " + ec.message();
    return false;
  }
  if (is_address(host)) return true;  // a server name is a name, never an address (RFC 6066)
  // What SSL_set_tlsext_host_name does; the macro has a cast our warnings refuse.
  auto* const handle = stream.native_handle();
  if (::SSL_ctrl(handle, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(host.c_str())) == 1) return true;
  problem = "TLS: \"" + host + "\" can't be sent as server name";
  return false;
}

void client_connection::handshaken(error_code ec) {
  if (!current_) return;
  if (ec) return fail(transport_failure::connect, "TLS handshake with " + pool_->to.host + ": " + ec.message());
  start_first();
}

void client_connection::start_first() {
  read();
  reader_.begin(current_->head);
  if (!write_request()) fail(transport_failure::connect, "the connection was closed before the request left");
}

bool client_connection::carry(exchange_ptr next) {
  ATONE_ASSERT(!current_ && buffer_.empty());
  if (!wire_.is_open() || !wire_.is_quiet()) return false;
  current_ = std::move(next);
  reader_.begin(current_->head);
  if (write_request()) {
    current_->on = this;
    return true;
  }
  current_.reset();
  return false;
}

// Tries at once, which spares a turn of the loop for every small request; what does not fit is sent when there is room.
bool client_connection::write_request() {
  error_code ec;
  std::string_view const text = current_->text;
  auto const count = wire_.try_write(text, ec);
  bool const must_wait = !ec || ec == boost::asio::error::would_block || ec == boost::asio::error::try_again;
  current_->left = count > 0;
  if (count == text.size()) return true;
  if (!must_wait && count == 0) return false;
  current_->left = true;
  writing_ = true;
  // The exchange is held: it may end by its deadline while the kernel still reads from its text. A failed write is not reported:
  // the peer may have answered before it closed, and the read that is under way will tell.
  wire_.async_write(text.substr(count), [self = shared_from_this(), held = current_](error_code, std::size_t) { self->writing_ = false; });
  return true;
}

void client_connection::read() {
  wire_.async_read_some(buffer_.prepare(), [self = shared_from_this()](error_code ec, std::size_t count) { self->received(ec, count); });
}

void client_connection::received(error_code ec, std::size_t count) {
  if (!wire_.is_open()) return;
  buffer_.commit(count);
  if (ec) return peer_closed(ec);
  if (!current_) return core_->broken(*this, transport_failure::lost, {});  // bytes that nobody asked for
  parse();
}

void client_connection::parse() {
  auto const progress = reader_.feed(buffer_.bytes());
  buffer_.consume(progress.consumed);
  switch (progress.state) {
    case read_state::need_more: return read();
    case read_state::failed: return fail(transport_failure::malformed, reader_.problem());
    case read_state::done: return finish_answer();
  }
}

void client_connection::finish_answer() {
  bool const reusable = reader_.keep_alive() && buffer_.empty() && !writing_;
  exchange made;
  made.response = reader_.take();
  if (reusable) read();
  core_->answered(*this, reusable, std::move(made));
}

void client_connection::peer_closed(error_code ec) {
  bool const clean = ec == boost::asio::error::eof;
  if (current_ && clean && reader_.started() && reader_.end() == read_state::done) return finish_answer();
  std::string what = clean ? "the connection was closed" : ec.message();
  if (current_) what += reader_.started() ? " in the middle of the answer" : " before the answer";
  core_->broken(*this, transport_failure::lost, std::move(what));
}

void client_connection::fail(transport_failure how, std::string detail) {
  core_->broken(*this, how, std::move(detail));
}

void client_connection::close() noexcept {
  if (resolver_) resolver_->cancel();
  wire_.close();
}

}  // namespace atone::http
