// One TCP connection, with or without TLS on it. Thread rules: the thread of the io_context.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include <sys/socket.h>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace atone::http {

using error_code = boost::system::error_code;
// With its executor as a static type: no type erasure on the way to the reactor.
using tcp_socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

class wire {
 public:
  using tls_stream = boost::asio::ssl::stream<tcp_socket&>;

  explicit wire(boost::asio::io_context& io) : socket_(io) {}
  explicit wire(tcp_socket socket) : socket_(std::move(socket)) {}
  wire(wire const&) = delete;
  wire& operator=(wire const&) = delete;

  tcp_socket& socket() noexcept { return socket_; }
  tls_stream& secure(boost::asio::ssl::context& context) { return tls_.emplace(socket_, context); }
  tls_stream& tls() noexcept { return *tls_; }
  bool is_secure() const noexcept { return tls_.has_value(); }
  bool is_open() const noexcept { return socket_.is_open(); }

  // Small requests leave at once; calls that can't go on return would_block.
  void prepare() {
    error_code ignored;
    socket_.set_option(boost::asio::ip::tcp::no_delay{true}, ignored);
    socket_.non_blocking(true, ignored);
  }

  template <class Handler>
  void async_handshake(boost::asio::ssl::stream_base::handshake_type as, Handler&& handler) {
    tls_->async_handshake(as, std::forward<Handler>(handler));
  }

  template <class Handler>
  void async_read_some(std::pair<char*, std::size_t> room, Handler&& handler) {
    auto const into = boost::asio::buffer(room.first, room.second);
    if (tls_) {
      tls_->async_read_some(into, std::forward<Handler>(handler));
    } else {
      socket_.async_read_some(into, std::forward<Handler>(handler));
    }
  }

  // Writes what the kernel takes now; TLS takes nothing here.
  std::size_t try_write(std::string_view bytes, error_code& ec) {
    ec = boost::asio::error::would_block;
    return tls_ ? 0 : socket_.write_some(boost::asio::buffer(bytes.data(), bytes.size()), ec);
  }

  template <class Handler>
  void async_write(std::string_view bytes, Handler&& handler) {
    auto const from = boost::asio::buffer(bytes.data(), bytes.size());
    if (tls_) {
      boost::asio::async_write(*tls_, from, std::forward<Handler>(handler));
    } else {
      boost::asio::async_write(socket_, from, std::forward<Handler>(handler));
    }
  }

  // Nothing has come since the last read: neither bytes nor the peer's close.
  bool is_quiet() noexcept {
    char byte = 0;
    auto const count = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

  void shutdown_send() noexcept {
    error_code ignored;
    socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  }
  void close() noexcept {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  tcp_socket socket_;
  std::optional<tls_stream> tls_;
};

}  // namespace atone::http
