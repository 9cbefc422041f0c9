// One connection of http::server. Thread rules: the thread of the io_context, but for server_door.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <atone/http.hpp>

#include "http/deadlines.hpp"
#include "http/readers.hpp"
#include "http/receive_buffer.hpp"
#include "http/wire.hpp"

namespace atone::http {

class server_core;
class server_session;

// What responders of any thread hold: the way to the io_context, closed when the server ends, so that a late answer finds a
// closed door and not a destroyed io_context.
class server_door {
 public:
  explicit server_door(boost::asio::io_context& io) : io_(&io) {}
  // Runs `work` on the io_context's thread: at once when called from there.
  void deliver(std::function<void()> work);
  void close();

 private:
  std::mutex guard_;
  boost::asio::io_context* io_;
};

struct responder::state {
  std::shared_ptr<server_door> door;
  std::weak_ptr<server_session> session;
  std::uint64_t number = 0;  // which request of the session
  std::atomic<bool> answered{false};

  state(std::shared_ptr<server_door> way, std::weak_ptr<server_session> to, std::uint64_t n)
      : door(std::move(way)), session(std::move(to)), number(n) {}
  ~state();
  state(state const&) = delete;
  state& operator=(state const&) = delete;
  void send(response with);
  void drop();
};

class server_session : public std::enable_shared_from_this<server_session> {
 public:
  server_session(server_core& core, std::uint64_t id, tcp_socket socket);

  void start();
  // An answer to request `number`; too late or twice is ignored.
  void answer(std::uint64_t number, response with);
  void drop(std::uint64_t number);
  // Closes at once when no request is open, else after its answer.
  void finish();
  void expired();
  void close();
  // Since when it has waited for a request's first byte; nothing: it is busy.
  std::optional<deadlines::clock::time_point> idle_since() const noexcept {
    return phase_ == phase::reading && armed_ && !receiving_late_ ? std::optional{idle_since_} : std::nullopt;
  }

 private:
  enum class phase : std::uint8_t { handshake, reading, handling, writing, lingering, closed };

  void process();
  bool take_request();
  void dispatch();
  void read();
  void received(error_code ec, std::size_t count);
  void send_continue();
  void refuse(std::int32_t status, std::string const& problem);
  void write(response const& with, bool close_after);
  void written();
  void linger();
  void discard();
  void arm(duration after);
  void disarm();

  server_core* core_;
  std::uint64_t id_;
  wire wire_;
  receive_buffer buffer_;
  request_reader reader_;
  phase phase_ = phase::handshake;
  std::uint64_t number_ = 0;
  bool head_ = false;         // the open request is a HEAD
  bool close_after_ = false;  // the connection ends with the next answer
  bool inside_ = false;       // process() is on the stack and will go on itself
  bool armed_ = false;
  bool receiving_late_ = false;  // the deadline is for the rest of a request, not for its first byte
  deadlines::clock::time_point idle_since_{};
  std::size_t discarded_ = 0;
  deadlines::entry due_;
  std::string out_;
};

}  // namespace atone::http
