// The one place of feature_recompute that makes threads.
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <atone/features/parallel.hpp>

#include "threads/watch.hpp"

namespace atone::features {

bool exit_when_closed(int socket) {
  auto const watch = [socket] {
    pollfd closed{socket, 0, 0};  // that it is closed is told without being asked for
    while (poll(&closed, 1, -1) <= 0) {
    }
    _exit(1);
  };
  try {
    std::thread{watch}.detach();
    return true;
  } catch (std::system_error const&) {
    return false;
  }
}

void one_by_one(std::size_t parts, std::function<void(std::size_t)> const& part) {
  for (std::size_t at = 0; at < parts; ++at) part(at);
}

parallel on_threads(std::size_t threads) {
  return [threads](std::size_t parts, std::function<void(std::size_t)> const& part) {
    std::atomic<std::size_t> next{0};
    std::mutex lock;
    std::exception_ptr first;  // under lock: out of memory, say; the caller's thread throws it on
    auto const work = [&] {
      try {
        for (auto at = next.fetch_add(1); at < parts; at = next.fetch_add(1)) part(at);
      } catch (...) {
        std::lock_guard const held{lock};
        if (!first) first = std::current_exception();
        next.store(parts);
      }
    };
    std::vector<std::jthread> helpers;
    try {
      for (std::size_t at = 1; at < threads && at < parts; ++at) helpers.emplace_back(work);
    } catch (std::system_error const&) {
      // Fewer helpers: the same work.
    }
    work();
    helpers.clear();  // joins
    if (first) std::rethrow_exception(first);
  };
}

}  // namespace atone::features
