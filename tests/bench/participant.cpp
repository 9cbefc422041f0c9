#include "participant.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "failure.hpp"

namespace bench {
namespace {

constexpr int backlog = 4096;
constexpr std::string_view done =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
    "{}";
constexpr std::string_view refused =
    "HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n"
    R"({"reason":"no stock"})";

struct connection {
  static constexpr std::size_t request_max = 16 * 1024;
  std::array<char, request_max> bytes;
  std::size_t filled = 0;
};

std::size_t content_length(std::string_view head) {
  static constexpr std::string_view name = "\r\ncontent-length:";
  for (auto at = head.find("\r\n"); at + name.size() < head.size(); at = head.find("\r\n", at + 2)) {
    if (::strncasecmp(head.data() + at, name.data(), name.size()) != 0) continue;
    auto from = at + name.size();
    while (head[from] == ' ') ++from;
    std::size_t length = 0;
    std::from_chars(head.data() + from, head.data() + head.size(), length);
    return length;
  }
  return 0;
}

// Bytes of the first whole request in the buffer; 0: not whole yet.
std::size_t whole_request(std::string_view got) {
  auto const head = got.find("\r\n\r\n");
  if (head == std::string_view::npos) return 0;
  auto const size = head + 4 + content_length(got.substr(0, head + 2));
  return got.size() < size ? 0 : size;
}

bool wants_refusal(std::string_view request) {
  return request.substr(0, request.find("\r\n")).find("/refuse ") != std::string_view::npos;
}

// "POST /later/SECONDS …" is told to come again at that moment (since 1970), with its first attempt.
std::optional<std::time_t> wants_to_come_later(std::string_view request) {
  static constexpr std::string_view path = " /later/";
  static constexpr std::string_view first_attempt = "\r\nAtone-Attempt: 1\r\n";
  auto const line = request.substr(0, request.find("\r\n"));
  auto const at = line.find(path);
  if (at == std::string_view::npos || request.find(first_attempt) == std::string_view::npos) return std::nullopt;
  std::time_t due = 0;
  std::from_chars(line.data() + at + path.size(), line.data() + line.size(), due);
  return due;
}

class server {
 public:
  server(listener const& at, manner how) : listening_(at.descriptor()), how_(how), events_(::epoll_create1(EPOLL_CLOEXEC)) {
    watch(listening_);
  }

  int run() {
    std::array<epoll_event, 256> ready{};
    for (;;) {
      int const count = ::epoll_wait(events_, ready.data(), static_cast<int>(ready.size()), -1);
      if (count < 0 && errno != EINTR) return 1;
      for (int each = 0; each < count; ++each) {
        int const descriptor = ready[static_cast<std::size_t>(each)].data.fd;
        descriptor == listening_ ? accept_one() : receive(descriptor);
      }
    }
  }

 private:
  void watch(int descriptor) {
    epoll_event what{};
    what.events = EPOLLIN;
    what.data.fd = descriptor;
    ::epoll_ctl(events_, EPOLL_CTL_ADD, descriptor, &what);
  }

  void accept_one() {
    int const made = ::accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (made < 0) return;
    int const yes = 1;
    ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    connections_[made] = std::make_unique<connection>();
    watch(made);
  }

  void receive(int descriptor) {
    auto& from = *connections_[descriptor];
    auto const count = ::recv(descriptor, from.bytes.data() + from.filled, from.bytes.size() - from.filled, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return drop(descriptor);
    from.filled += static_cast<std::size_t>(count);
    std::string_view left{from.bytes.data(), from.filled};
    while (auto const size = whole_request(left)) {
      if (!answer(descriptor, left.substr(0, size))) return drop(descriptor);
      left.remove_prefix(size);
    }
    if (left.size() == from.bytes.size()) return drop(descriptor);
    std::memmove(from.bytes.data(), left.data(), left.size());
    from.filled = left.size();
  }

  // A hundred bytes always fit into the socket of a client that reads its answers.
  bool answer(int descriptor, std::string_view request) const {
    if (how_ == manner::silent) return true;
    if (auto const due = wants_to_come_later(request)) return send_later(descriptor, *due);
    auto const text = wants_refusal(request) ? refused : done;
    return ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }

  static bool send_later(int descriptor, std::time_t due) {
    auto const left = std::max<std::time_t>(0, due - std::time(nullptr));
    auto const text = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: " + std::to_string(left) + "\r\nContent-Length: 0\r\n\r\n";
    return ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }

  void drop(int descriptor) {
    ::close(descriptor);
    connections_.erase(descriptor);
  }

  int listening_;
  manner how_;
  int events_;
  std::unordered_map<int, std::unique_ptr<connection>> connections_;
};

}  // namespace

listener::listener() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  auto* const address = reinterpret_cast<sockaddr*>(&where);
  if (descriptor_ < 0 || ::bind(descriptor_, address, size) != 0 || ::listen(descriptor_, backlog) != 0 ||
      ::getsockname(descriptor_, address, &size) != 0) {
    throw failure{std::string{"no loopback port to listen on: "} + std::strerror(errno)};
  }
  port_ = ntohs(where.sin_port);
}
listener::~listener() {
  ::close(descriptor_);
}

int serve(listener const& at, manner how) {
  return server{at, how}.run();
}

}  // namespace bench
