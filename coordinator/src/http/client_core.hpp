// The inside of http::client: requests under way, connections, and a pool of connections for each origin.
// Thread rules: the thread of the io_context.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "http/deadlines.hpp"
#include "http/readers.hpp"
#include "http/receive_buffer.hpp"
#include "http/tls.hpp"
#include "http/wire.hpp"

namespace atone::http {

class client_connection;
class client_core;
struct client_pool;

// One request from send() to its completion.
struct client_exchange {
  client::ticket id = 0;
  std::string text;  // the request as it goes out
  bool head = false;
  bool left = false;  // some byte may have reached the peer: from here on its outcome is unknown, never "connect"
  client_pool* pool = nullptr;
  client_connection* on = nullptr;  // null while it waits its turn
  deadlines::entry due;
  client::completion done;

  client_exchange() = default;
};
using exchange_ptr = std::shared_ptr<client_exchange>;

// The connections to one origin and who waits for one.
struct client_pool {
  origin to;
  std::unordered_set<std::shared_ptr<client_connection>> open;
  std::vector<client_connection*> idle;            // the most recently used last
  std::map<client::ticket, exchange_ptr> waiting;  // first come, first served

  explicit client_pool(origin where) : to(std::move(where)) {}
};

// One connection; carries one exchange at a time. A read is always under way once it is connected, so that a peer's
// close is seen when it happens.
class client_connection : public std::enable_shared_from_this<client_connection> {
 public:
  client_connection(std::shared_ptr<client_core> core, client_pool& pool);

  // Connects, then carries `first`.
  void connect(exchange_ptr first);
  // Carries `next` on a kept connection. False: the connection is of no use any more and nothing of the request has left.
  bool carry(exchange_ptr next);
  void close() noexcept;
  exchange_ptr release() noexcept { return std::move(current_); }

  client_pool& pool() noexcept { return *pool_; }
  deadlines::clock::time_point idle_since{};

 private:
  void resolved(std::vector<boost::asio::ip::tcp::endpoint> const& endpoints);
  void connected(error_code ec);
  void secure_then_carry();
  bool check_peer_name(std::string& problem);
  void handshaken(error_code ec);
  void start_first();
  bool write_request();
  void read();
  void received(error_code ec, std::size_t count);
  void parse();
  void finish_answer();
  void peer_closed(error_code ec);
  void fail(transport_failure how, std::string detail);

  std::shared_ptr<client_core> core_;
  client_pool* pool_;
  wire wire_;
  std::optional<boost::asio::ip::basic_resolver<boost::asio::ip::tcp, boost::asio::io_context::executor_type>> resolver_;
  receive_buffer buffer_;
  response_reader reader_;
  exchange_ptr current_;
  bool writing_ = false;
};

class client_core : public std::enable_shared_from_this<client_core> {
 public:
  client_core(boost::asio::io_context& io, client_options options);

  client::ticket send(origin const& to, written_request&& what, duration timeout, client::completion done);
  void cancel(client::ticket which);
  void stop();

  // ---- for connections ----
  boost::asio::io_context& io() noexcept { return io_; }
  client_options const& options() const noexcept { return options_; }
  result<tls_context> const& tls();
  // The answer is complete: the connection is kept or closed first, so that `done` finds it free.
  void answered(client_connection& on, bool reusable, exchange what);
  // The connection broke: closes it, ends what it carried and lets the next request try.
  void broken(client_connection& on, transport_failure how, std::string detail);

 private:
  struct origin_hash {
    std::size_t operator()(origin const& of) const noexcept { return std::hash<std::string>{}(of.host) * 31 + of.port * 2u + of.tls; }
  };
  struct same_origin {
    bool operator()(origin const& a, origin const& b) const noexcept { return a.port == b.port && a.tls == b.tls && a.host == b.host; }
  };

  client_pool& pool_of(origin const& to);
  void place(client_pool& pool, exchange_ptr const& what);
  bool place_on_idle(client_pool& pool, exchange_ptr const& what);
  void drop(client_connection& which);
  void keep(client_connection& which);
  void serve_waiting(client_pool& pool);
  void sweep_idle();
  void expired(client::ticket which);
  // Takes the exchange out of all books; null when it had ended.
  exchange_ptr withdraw(client::ticket which);
  void complete_later(exchange_ptr const& what, transport_failure how, std::string detail);
  static void complete(exchange_ptr const& what, exchange result);

  boost::asio::io_context& io_;
  client_options options_;
  deadlines deadlines_;
  std::unordered_map<origin, std::unique_ptr<client_pool>, origin_hash, same_origin> pools_;
  std::unordered_map<client::ticket, exchange_ptr> exchanges_;
  std::optional<result<tls_context>> tls_;
  client::ticket last_ticket_ = 0;
  bool sweeping_ = false;
  bool stopped_ = false;
};

}  // namespace atone::http
