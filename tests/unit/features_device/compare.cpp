#include "compare.hpp"

#include <gtest/gtest.h>

namespace atone::features_test {

using namespace features;

namespace {

timestamp moment(std::int64_t microseconds) {
  return timestamp{duration{microseconds}};
}

std::vector<feature_moment> drawn_moments(event_store const& store, std::mt19937_64& random) {
  std::vector<feature_moment> made;
  for (std::size_t at = 0; at < 5; ++at) {
    std::optional<std::uint32_t> entity;
    if (!store.entities.empty() && random() % 5 != 0) entity = static_cast<std::uint32_t>(random() % store.entities.size());
    auto const time = draw_time(random);
    made.emplace_back(entity, moment(time), moment(draw_time(random)));
  }
  return made;
}

// Memory for so many rows of results, as the plug-in counts it.
std::uint64_t bytes_of_results(feature_set_ptr const& set, std::uint64_t rows) {
  auto const table = feature_engine{set}.per_event(store_of(*set, {}));
  std::uint64_t lanes = 0;
  for (auto const& column : table->columns) lanes += column.lanes;
  return 512 * table->columns.size() + rows * (9 * lanes + 28);
}

}  // namespace

gpu_options drawn_options(std::mt19937_64& random, std::string const& plugin, feature_set_ptr const& set) {
  gpu_options made;
  made.plugin = plugin;
  made.thread_rows = static_cast<std::uint32_t>(random() % 3 == 0 ? 32 : random() % 8);
  made.warp_rows = made.thread_rows + static_cast<std::uint32_t>(random() % 2 == 0 ? 0 : random() % 40);
  made.block_threads = random() % 2 == 0 ? 64 : 96;
  if (random() % 2 == 0) made.result_bytes = bytes_of_results(set, 1 + random() % 20);  // several batches
  return made;
}

void expect_same_bits(feature_set const& set, feature_table const& device, feature_table const& host) {
  ASSERT_EQ(device.rows, host.rows);
  ASSERT_EQ(device.columns.size(), host.columns.size());
  for (std::size_t at = 0; at < host.columns.size(); ++at) {
    auto const& expected = host.columns[at];
    auto const& found = device.columns[at];
    auto const name = set.features[expected.feature].name + " over " + set.windows[expected.window].name;
    for (std::size_t row = 0; row < host.rows; ++row) {
      for (std::size_t lane = 0; lane < expected.lanes; ++lane) {
        ASSERT_EQ(found.state(row, lane), expected.state(row, lane)) << name << ", row " << row << ", lane " << lane;
        ASSERT_EQ(found.integer(row, lane), expected.integer(row, lane)) << name << ", row " << row << ", lane " << lane;
      }
    }
  }
}

void compare_drawn(std::uint64_t seed, std::uint64_t round, std::string const& plugin) {
  std::mt19937_64 random{seed + round * 1'000'003};
  auto const drawn = draw_case(random, 12 + (round % 10 == 0 ? 150 : 0));
  ASSERT_TRUE(drawn.set);
  SCOPED_TRACE(drawn.yaml);
  auto const store = store_of(*drawn.set, drawn.rows);
  auto opened = gpu_engine::open(drawn.set, drawn_options(random, plugin, drawn.set));
  ASSERT_TRUE(opened) << opened.error().message;
  auto& device = *opened;
  feature_engine const host{drawn.set};
  auto const kept = device.keep(store);
  ASSERT_TRUE(kept) << kept.error().message;
  auto const compare = [&](result<feature_table> const& found, result<feature_table> const& expected) {
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(expected) << expected.error().message;
    expect_same_bits(*drawn.set, *found, *expected);
  };
  auto const at = moment(draw_time(random));
  auto const known = moment(draw_time(random) + (random() % 2 == 0 ? 20'000'000 : 0));
  ASSERT_NO_FATAL_FAILURE(compare(device.as_of(at, known), host.as_of(store, at, known)));
  auto const moments_wanted = drawn_moments(store, random);
  ASSERT_NO_FATAL_FAILURE(compare(device.at(moments_wanted), host.at(store, moments_wanted)));
  if (round % 4 != 0) return;
  ASSERT_NO_FATAL_FAILURE(compare(device.per_event(), host.per_event(store)));
}

}  // namespace atone::features_test
