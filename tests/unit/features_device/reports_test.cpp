// Faults that users of feature systems reported, on the device: see tests/SCENARIOS.md.
#include <bit>

#include <gtest/gtest.h>

#include "compare.hpp"
#include "emulator.hpp"

namespace atone::features_test {
namespace {

using namespace features;

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t week = 7 * 86'400 * second;
raw_value const null{};

std::string const head = R"(feature_set: reports
version: 1
entity: user
event_id: id
event_time: at
columns: {user: integer, id: integer, at: timestamp, amount: {type: decimal, scale: 2}}
windows: {7d: {last: 7d}, ever: {since: epoch}}
features:
)";

// One feature of one entity, on the device; the CPU must agree.
std::string on_device(feature_set_ptr const& set, raw_rows const& rows, std::int64_t as_of, std::string_view feature,
                      std::string_view window, std::uint32_t thread_rows) {
  auto const store = store_of(*set, rows);
  gpu_options options;
  options.plugin = emulated_plugin();
  options.thread_rows = thread_rows;
  options.block_threads = 64;
  auto device = gpu_engine::open(set, options);
  auto const kept = device->keep(store);
  EXPECT_TRUE(kept);
  timestamp const at{duration{as_of}};
  std::vector<feature_moment> const wanted{feature_moment{store.find(1), at, at}};
  auto const table = device->at(wanted);
  EXPECT_EQ(bits_of(*table), bits_of(*feature_engine{set}.at(store, wanted)));
  for (auto const& column : table->columns) {
    if (set->features[column.feature].name == feature && set->windows[column.window].name == window) return shown(*set, store, column, 0);
  }
  return "no such column";
}

// An event one microsecond before a window, at its beginning, at its last microsecond and behind it.
TEST(features_device, B75_windows_are_half_open_on_the_device_too) {
  auto const set = set_of(head + "  count: {count: events, over: [7d]}\n");
  constexpr std::int64_t now = 400 * 86'400 * second;
  for (std::uint32_t const thread_rows : {0U, 32U}) {
    auto const counted = [&](std::int64_t at) { return on_device(set, {{1, 1, at, 1}}, now, "count", "7d", thread_rows); };
    EXPECT_EQ(counted(now - week), "0");
    EXPECT_EQ(counted(now - week + 1), "1");
    EXPECT_EQ(counted(now), "1");
    EXPECT_EQ(counted(now + 1), "0");
  }
}

TEST(features_device, B76_one_rule_for_null_and_nothing_on_the_device_too) {
  auto const set = set_of(head + R"(  sum: {sum: amount, over: [ever]}
  mean: {mean: amount, over: [ever]}
  min: {min: amount, over: [ever]}
  max: {max: amount, over: [ever]}
  values: {count: amount, over: [ever]}
  first: {first: amount, over: [ever]}
  last: {last: amount, over: [ever]}
)");
  for (std::uint32_t const thread_rows : {0U, 32U}) {
    auto const of = [&](raw_rows const& rows, std::string_view feature) {
      return on_device(set, rows, 9 * second, feature, "ever", thread_rows);
    };
    raw_rows const some{{1, 1, 0, 100}, {1, 2, second, null}, {1, 3, 2 * second, 200}};
    raw_rows const nulls{{1, 1, 0, null}};
    for (auto const& [feature, of_some, of_nulls] :
         {std::tuple{"sum", "300", "0"}, std::tuple{"mean", "1.5", "null"}, std::tuple{"min", "100", "null"},
          std::tuple{"max", "200", "null"}, std::tuple{"values", "2", "0"}, std::tuple{"first", "100", "null"},
          std::tuple{"last", "200", "null"}}) {
      EXPECT_EQ(of(some, feature), of_some) << feature;
      EXPECT_EQ(of(nulls, feature), of_nulls) << feature;
      EXPECT_EQ(of({}, feature), of_nulls) << feature;
    }
  }
}

// The sum that a document of users makes: an integer addition on the bits of floats.
void add_bits(int* sum, float const* values, unsigned count) {
  if (threadIdx.x < count) atomicAdd(sum, __float_as_int(values[threadIdx.x]));
}

TEST(features_device, adding_the_bits_of_floats_is_no_sum_and_ours_is_exact_whatever_the_order) {
  float const values[] = {1.5F, 2.25F, 0.25F};
  auto sum = std::bit_cast<int>(0.0F);
  cuda_emulator::run(1, 32, [&] { add_bits(&sum, values, 3); });
  EXPECT_EQ(std::bit_cast<float>(sum), -0.203125F) << "1.5 + 2.25 + 0.25";
  auto const set = set_of(head + "  spent: {sum: amount, over: [ever]}\n  usual: {mean: amount, over: [ever]}\n");
  for (std::uint32_t const thread_rows : {0U, 32U}) {
    EXPECT_EQ(on_device(set, {{1, 1, 0, 150}, {1, 2, 1, 225}, {1, 3, 2, 25}}, 9, "spent", "ever", thread_rows), "400");
    EXPECT_EQ(on_device(set, {{1, 1, 0, 150}, {1, 2, 1, 225}, {1, 3, 2, 225}}, 9, "usual", "ever", thread_rows), "2");
  }
  // Added as floats in this order, the cent is gone: 10^15 has no place for it.
  raw_rows const far_apart{
      {1, 1, 0, std::int64_t{100'000'000'000'000'000}}, {1, 2, 1, 1}, {1, 3, 2, std::int64_t{-100'000'000'000'000'000}}};
  EXPECT_EQ((1e15F + 0.01F) - 1e15F, 0.0F);
  EXPECT_EQ(on_device(set, far_apart, 9, "spent", "ever", 0), "1");
}

}  // namespace
}  // namespace atone::features_test
