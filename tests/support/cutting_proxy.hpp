// A TCP proxy on loopback that loses what a network can lose: an answer after its request was carried out, a request
// before it arrived, or everything, without a word (a black hole). Thread rules: one thread commands; its own thread works.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <thread>
#include <vector>

namespace atone::test {

class cutting_proxy {
 public:
  explicit cutting_proxy(std::uint16_t target) : target_(target) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto where = loopback(0);
    socklen_t size = sizeof where;
    bool const listening = ::bind(listener_, address(where), size) == 0 && ::listen(listener_, 64) == 0 &&
                           ::getsockname(listener_, address(where), &size) == 0 && ::pipe2(wake_.data(), O_CLOEXEC) == 0;
    if (!listening) std::abort();
    port_ = ntohs(where.sin_port);
    thread_ = std::thread{[this] { work(); }};
  }

  ~cutting_proxy() {
    stopping_ = true;
    wake();
    thread_.join();
    for (auto const& one : pairs_) close_both(one);
    for (int const descriptor : {listener_, wake_[0], wake_[1]}) ::close(descriptor);
  }

  cutting_proxy(cutting_proxy const&) = delete;
  cutting_proxy& operator=(cutting_proxy const&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  int cuts() const noexcept { return cuts_; }

  // The next request reaches the server; its answer is dropped and the connection cut.
  void lose_next_answer() { lose_answer_after(0); }
  // The same, after `requests` more have passed.
  void lose_answer_after(int requests) {
    passing_ = requests;
    losing_ = loss::answer;
  }
  // The next request is dropped and the connection cut.
  void lose_next_request() { losing_ = loss::request; }
  // From now on nothing passes, nothing is closed; `false` ends it.
  void swallow_everything(bool on) {
    black_hole_ = on;
    wake();
  }

 private:
  enum class loss { none, answer, request };
  struct connection_pair {
    int client;
    int server;
    bool doomed = false;  // its request is through: the answer is not
  };

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    where.sin_port = htons(port);
    return where;
  }
  static sockaddr* address(sockaddr_in& of) { return reinterpret_cast<sockaddr*>(&of); }
  static void close_both(connection_pair const& one) {
    ::close(one.client);
    ::close(one.server);
  }
  void wake() {
    char const any = 'w';
    if (::write(wake_[1], &any, 1) != 1) std::abort();
  }

  void work() {
    while (!stopping_) {
      std::vector<pollfd> watched{{wake_[0], POLLIN, 0}};
      if (!black_hole_) {
        watched.push_back({listener_, POLLIN, 0});
        for (auto const& one : pairs_) {
          watched.push_back({one.client, POLLIN, 0});
          watched.push_back({one.server, POLLIN, 0});
        }
      }
      if (::poll(watched.data(), watched.size(), -1) < 0) continue;
      if (watched[0].revents != 0) drain_wake();
      if (watched.size() == 1) continue;
      serve(watched);
      if (watched[1].revents != 0) accept_one();
    }
  }

  void drain_wake() {
    std::array<char, 64> bytes{};
    if (::read(wake_[0], bytes.data(), bytes.size()) < 0) return;
  }

  void serve(std::vector<pollfd> const& watched) {
    std::size_t at = 2;
    for (auto one = pairs_.begin(); one != pairs_.end(); at += 2) {
      bool alive = watched[at].revents == 0 || from_client(*one);
      alive = alive && (watched[at + 1].revents == 0 || from_server(*one));
      if (alive) {
        ++one;
        continue;
      }
      close_both(*one);
      one = pairs_.erase(one);
    }
  }

  void accept_one() {
    int const client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    int const server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto where = loopback(target_);
    if (::connect(server, address(where), sizeof where) != 0) {
      ::close(client);
      ::close(server);
      return;
    }
    pairs_.push_back({client, server});
  }

  bool from_client(connection_pair& one) {
    auto const wanted = losing_.load();
    if (wanted == loss::request) {
      losing_ = loss::none;
      ++cuts_;
      return false;
    }
    if (wanted == loss::answer && passing_-- <= 0) {
      losing_ = loss::none;
      one.doomed = true;
    }
    return pass(one.client, one.server);
  }

  bool from_server(connection_pair& one) {
    if (!one.doomed) return pass(one.server, one.client);
    // Waits for the server to be done: its answer is there, and goes no further.
    std::array<char, 65536> dropped{};
    static_cast<void>(::recv(one.server, dropped.data(), dropped.size(), 0));
    ++cuts_;
    return false;
  }

  static bool pass(int from, int to) {
    std::array<char, 65536> bytes{};
    auto const got = ::recv(from, bytes.data(), bytes.size(), 0);
    if (got <= 0) return false;
    for (ssize_t sent = 0; sent < got;) {
      auto const more = ::send(to, bytes.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
      if (more <= 0) return false;
      sent += more;
    }
    return true;
  }

  std::uint16_t const target_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::array<int, 2> wake_{-1, -1};
  std::list<connection_pair> pairs_;
  std::atomic<loss> losing_{loss::none};
  std::atomic<int> passing_{0};
  std::atomic<bool> black_hole_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<int> cuts_{0};
  std::thread thread_;
};

}  // namespace atone::test
