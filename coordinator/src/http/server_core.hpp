// The inside of http::server: the listener and the book of its connections. Thread rules: the thread of the io_context.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/basic_socket_acceptor.hpp>

#include "http/deadlines.hpp"
#include "http/server_session.hpp"
#include "http/tls.hpp"

namespace atone::http {

class server_core : public std::enable_shared_from_this<server_core> {
 public:
  server_core(boost::asio::io_context& io, server_options options, server::handler answer);

  result<void> start();
  void stop(duration grace, std::function<void()> done);
  void abandon();
  std::uint16_t port() const noexcept { return port_; }

  // ---- for sessions ----
  server_options const& options() const noexcept { return options_; }
  server::handler const& handler() const noexcept { return handler_; }
  std::shared_ptr<server_door> const& door() const noexcept { return door_; }
  boost::asio::ssl::context* tls() const noexcept { return tls_.get(); }
  deadlines& due() noexcept { return deadlines_; }
  bool stopping() const noexcept { return stopping_; }
  // The Date header's text, made once a second.
  std::string const& date();
  void closed(std::uint64_t session);

 private:
  using acceptor_type = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

  result<void> listen(boost::asio::ip::tcp::endpoint const& where);
  void accept();
  void accepted(error_code ec, tcp_socket socket);
  void let_in(tcp_socket socket);
  void make_room();
  void expired(deadlines::id which);
  void close_all();
  void check_stopped();

  boost::asio::io_context& io_;
  server_options options_;
  server::handler handler_;
  std::shared_ptr<server_door> door_;
  tls_context tls_;
  acceptor_type acceptor_;
  deadlines deadlines_;
  std::unordered_map<std::uint64_t, std::shared_ptr<server_session>> sessions_;
  std::vector<std::function<void()>> on_stopped_;
  std::optional<tcp_socket> at_door_;  // accepted while there was no room
  std::uint64_t last_session_ = 2;     // ids up to here are deadlines of our own
  std::uint16_t port_ = 0;
  bool looked_for_room_ = false;  // in vain; the next look has its time
  bool accepting_ = false;
  bool stopping_ = false;
  std::int64_t date_second_ = -1;
  std::string date_;
};

}  // namespace atone::http
