// The one place of feature_recompute that makes threads.
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include <atone/features/parallel.hpp>

namespace atone::features {

void one_by_one(std::size_t parts, std::function<void(std::size_t)> const& part) {
  for (std::size_t at = 0; at < parts; ++at) part(at);
}

parallel on_threads(std::size_t threads) {
  return [threads](std::size_t parts, std::function<void(std::size_t)> const& part) {
    std::atomic<std::size_t> next{0};
    auto const work = [&] {
      for (auto at = next.fetch_add(1); at < parts; at = next.fetch_add(1)) part(at);
    };
    std::vector<std::jthread> helpers;
    try {
      for (std::size_t at = 1; at < threads && at < parts; ++at) helpers.emplace_back(work);
    } catch (std::system_error const&) {
      // Fewer helpers: the same work.
    }
    work();
  };
}

}  // namespace atone::features
