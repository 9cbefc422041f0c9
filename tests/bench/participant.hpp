// A participant that costs next to nothing: one epoll loop, HTTP/1.1 with keep-alive, the least parsing that finds the end of a
// request. POST …/refuse is answered 409, POST /later/SECONDS at its first attempt 503 with what is left until then, everything else 200
// `{}`; a silent one reads and never answers. Not a server for anything else: bodies without Content-Length, chunks and pipelines longer
// than its buffer are not understood.
#pragma once

#include <cstdint>

namespace bench {

enum class manner : std::uint8_t { answers, silent };

// A listening socket on a free loopback port.
class listener {
 public:
  listener();
  ~listener();
  listener(listener const&) = delete;
  listener& operator=(listener const&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  std::uint16_t port() const noexcept { return port_; }

 private:
  int descriptor_;
  std::uint16_t port_ = 0;
};

// Serves until the process is ended; returns only when epoll fails.
int serve(listener const& at, manner how);

}  // namespace bench
