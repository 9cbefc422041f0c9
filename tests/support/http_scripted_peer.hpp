// A raw TCP server that does exactly what a test says, byte by byte: what a real participant does on its worst day.
// Every blocking call gives up after `guard`, so that a broken test fails instead of hanging.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace atone_test {

inline void set_guard(int descriptor, int seconds = 20) {
  timeval const longest{seconds, 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
}

// One connection, blocking; either side of it.
class raw_connection {
 public:
  explicit raw_connection(int descriptor) : descriptor_(descriptor) { set_guard(descriptor); }
  ~raw_connection() { close(); }
  raw_connection(raw_connection const&) = delete;
  raw_connection& operator=(raw_connection const&) = delete;

  // Connects to 127.0.0.1.
  static int dial(std::uint16_t port) {
    int const made = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(made, reinterpret_cast<sockaddr const*>(&to), sizeof to) != 0) {
      ::close(made);
      throw std::runtime_error{"raw_connection: can't connect"};
    }
    return made;
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto const count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  // Reads until `mark` was seen, and returns everything up to and with it; what came after it stays for the next read. At the
  // end of the connection: what there was.
  std::string read_until(std::string_view mark) {
    for (;;) {
      auto const at = pending_.find(mark);
      if (at != std::string::npos) return take(at + mark.size());
      if (!more()) return take(pending_.size());
    }
  }

  std::string read_exactly(std::size_t count) {
    while (pending_.size() < count && more()) {
    }
    return take(std::min(count, pending_.size()));
  }

  // Header and body (by Content-Length) of one message, request or answer.
  std::string read_message() {
    auto text = read_until("\r\n\r\n");
    auto const field = text.find("Content-Length: ");
    if (field != std::string::npos) text += read_exactly(std::stoul(text.substr(field + 16)));
    return text;
  }

  std::string read_to_end() {
    while (more()) {
    }
    return take(pending_.size());
  }

  // Does nothing until the other side closes.
  void stall() { read_to_end(); }
  // True when the other side has closed and everything it sent was read.
  bool at_end() { return pending_.empty() && !more(); }
  void finish_sending() { ::shutdown(descriptor_, SHUT_WR); }
  void interrupt() { ::shutdown(descriptor_, SHUT_RDWR); }

  void close() {
    int const was = descriptor_.exchange(-1);
    if (was >= 0) ::close(was);
  }
  // Closes with RST.
  void reset() {
    linger const at_once{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

 private:
  bool more() {
    char room[4096];
    auto const count = ::recv(descriptor_, room, sizeof room, 0);
    if (count <= 0) return false;
    pending_.append(room, static_cast<std::size_t>(count));
    return true;
  }
  std::string take(std::size_t count) {
    auto made = pending_.substr(0, count);
    pending_.erase(0, count);
    return made;
  }

  std::atomic<int> descriptor_;  // the peer's destructor interrupts from another thread
  std::string pending_;
};

// Listens on a free port of 127.0.0.1; the n-th connection runs the n-th script (the last one for all later ones), each in a thread
// of its own.
class scripted_peer {
 public:
  using script = std::function<void(raw_connection&)>;

  explicit scripted_peer(script every) : scripted_peer(std::vector<script>{std::move(every)}) {}
  explicit scripted_peer(std::vector<script> scripts) : scripts_(std::move(scripts)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    if (::bind(listener_, reinterpret_cast<sockaddr const*>(&where), size) != 0 || ::listen(listener_, 128) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &size) != 0) {
      throw std::runtime_error{"scripted_peer: can't listen"};
    }
    port_ = ntohs(where.sin_port);
    acceptor_ = std::thread{[this] { accept_all(); }};
  }
  ~scripted_peer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (auto& open : open_) open->interrupt();
    for (auto& worker : workers_) worker.join();
    ::close(listener_);
  }
  scripted_peer(scripted_peer const&) = delete;
  scripted_peer& operator=(scripted_peer const&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::size_t connections() const noexcept { return connections_; }

 private:
  void accept_all() {
    for (;;) {
      int const accepted = ::accept(listener_, nullptr, nullptr);
      if (accepted < 0) return;
      auto const number = connections_++;
      auto const& chosen = scripts_[std::min(number, scripts_.size() - 1)];
      auto& connection = *open_.emplace_back(std::make_unique<raw_connection>(accepted));
      workers_.emplace_back([&connection, &chosen] {
        chosen(connection);
        connection.close();
      });
    }
  }

  std::vector<script> scripts_;
  int listener_;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> connections_{0};
  std::vector<std::unique_ptr<raw_connection>> open_;
  std::vector<std::thread> workers_;
  std::thread acceptor_;
};

// A port on which nobody listens (it was free a moment ago).
inline std::uint16_t closed_port() {
  int const probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  ::bind(probe, reinterpret_cast<sockaddr const*>(&where), size);
  ::getsockname(probe, reinterpret_cast<sockaddr*>(&where), &size);
  ::close(probe);
  return ntohs(where.sin_port);
}

}  // namespace atone_test
