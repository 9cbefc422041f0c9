#include "environment.hpp"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include <atone/assert.hpp>

namespace atone::library {

duration boot_time() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::duration_cast<duration>(std::chrono::nanoseconds{now.tv_nsec});
}

timestamp database_clock::now() {
  auto const estimate = boot_().count() + offset_.load(std::memory_order_relaxed);
  auto newest = newest_.load(std::memory_order_relaxed);
  while (newest < estimate && !newest_.compare_exchange_weak(newest, estimate, std::memory_order_relaxed)) {
  }
  return timestamp{duration{std::max(newest, estimate)}};
}

void database_clock::observe(timestamp at, duration asked, duration answered) {
  // It was read somewhere between the two, often at the very end: only what contradicts the offset moves it, and no further.
  auto const lowest = (at.time_since_epoch() - answered).count();
  auto const highest = (at.time_since_epoch() - asked).count();
  auto const offset = offset_.load(std::memory_order_relaxed);
  auto const since = answered.count() - observed_.exchange(answered.count(), std::memory_order_relaxed);
  auto const back = std::clamp(since / 2, std::int64_t{0}, std::int64_t{back_max.count()});
  offset_.store(std::max(std::clamp(offset, lowest, highest), offset - back), std::memory_order_relaxed);
}

system_random::system_random() {
  std::random_device device;
  std::array<std::uint32_t, 8> seed{};
  for (auto& word : seed) word = device();
  std::seed_seq sequence(seed.begin(), seed.end());
  engine_.seed(sequence);
}

std::string secret_key() {
  content_hash::bytes drawn{};
  auto const size = ::getrandom(drawn.data(), drawn.size(), 0);
  ATONE_ASSERT(size == static_cast<ssize_t>(drawn.size()));
  return content_hash{drawn}.text();
}

timestamp wall_time() {
  return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
}

std::string host_name() {
  std::array<char, 256> text{};
  if (::gethostname(text.data(), text.size() - 1) != 0 || text[0] == '\0') return "node";
  return text.data();
}

saga_id time_ordered_ids::next_saga(timestamp now) {
  auto const milliseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count());
  saga_id::bytes made{};
  for (int byte = 0; byte < 6; ++byte) made[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(milliseconds >> (40 - 8 * byte));
  auto const high = random_.next();
  auto const low = random_.next();
  for (int byte = 0; byte < 8; ++byte) made[static_cast<std::size_t>(6 + byte)] = static_cast<std::uint8_t>(high >> (8 * byte));
  made[14] = static_cast<std::uint8_t>(low);
  made[15] = static_cast<std::uint8_t>(low >> 8);
  if (made <= last_) {
    made = last_;
    for (std::size_t byte = made.size(); byte-- > 0;) {
      if (++made[byte] != 0) break;
    }
  }
  last_ = made;
  return saga_id{made};
}

}  // namespace atone::library
