// The parts of a job on any number of threads, in any order: the same bits.
#include <atomic>
#include <new>
#include <random>

#include <gtest/gtest.h>

#include "support.hpp"

namespace atone::features_test {
namespace {

using namespace features;

constexpr std::int64_t second = 1'000'000;

feature_set_ptr shop(std::string const& features) {
  return set_of(R"(feature_set: shop
version: 1
entity: user
event_id: id
event_time: at
columns: {user: integer, id: integer, at: timestamp, amount: {type: decimal, scale: 2}, product: text}
windows: {3s: {last: 3s}, 10s: {last: 10s}, two: {rows: 2}, ever: {since: epoch}}
features:
  it: )" + features +
                "\n");
}

// Enough entities for many parts, some of them large.
raw_rows crowd() {
  std::mt19937_64 random{9};
  raw_rows rows;
  for (std::int64_t id = 0; id < 60'000; ++id) {
    auto const user = static_cast<std::int64_t>(id % 10 == 0 ? random() % 3 : random() % 20'000);
    rows.push_back({user, id, static_cast<std::int64_t>(random() % 20) * second, static_cast<std::int64_t>(random() % 1'000),
                    std::string(1, static_cast<char>('a' + random() % 26))});
  }
  return rows;
}

TEST(feature_engine, the_number_of_threads_changes_no_bit) {
  auto const set = shop(R"({mean: amount, over: [3s, 10s, two]}
  variety: {distinct: product, over: [10s, ever]}
  spread: {deviation: amount, over: [10s, ever], where: {product: [a, b, c, d, e]}}
  decay: {decayed_sum: amount, half_life: 3s, over: [ever]})");
  auto const store = store_of(*set, crowd());
  feature_engine const engine{set};
  timestamp const at{duration{15 * second}};
  auto const expected = bits_of(*engine.as_of(store, at, at));
  auto const expected_events = bits_of(*engine.per_event(store));
  for (std::size_t const threads : {1, 2, 7}) {
    EXPECT_EQ(bits_of(*engine.as_of(store, at, at, on_threads(threads))), expected) << threads;
    EXPECT_EQ(bits_of(*engine.per_event(store, on_threads(threads))), expected_events) << threads;
  }
}

TEST(feature_engine, parts_in_any_order_change_no_bit) {
  auto const set = shop("{deviation: amount, over: [3s, 10s, two]}");
  auto const store = store_of(*set, crowd());
  feature_engine const engine{set};
  timestamp const at{duration{15 * second}};
  parallel const backwards = [](std::size_t parts, std::function<void(std::size_t)> const& part) {
    EXPECT_GT(parts, 1U);
    for (auto one = parts; one > 0; --one) part(one - 1);
  };
  EXPECT_EQ(bits_of(*engine.as_of(store, at, at, backwards)), bits_of(*engine.as_of(store, at, at)));
}

// Out of memory in a helper is the caller's to see, not the end of the process.
TEST(feature_engine, what_a_part_throws_reaches_the_caller_from_whatever_thread) {
  for (std::size_t const bad : {0U, 7U, 99U}) {
    std::atomic<int> running{0};
    auto const part = [&](std::size_t at) {
      ++running;
      if (at == bad) throw std::bad_alloc{};
    };
    EXPECT_THROW(on_threads(4)(100, part), std::bad_alloc);
    EXPECT_LE(running.load(), 100);
  }
}

}  // namespace
}  // namespace atone::features_test
