// Borders of windows: scenario B-75 (an event exactly on the border counts in exactly the right windows).
#include <atone/features/window_features.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <atone/json.hpp>

namespace {

using namespace atone;
using namespace atone::features;
using namespace std::chrono_literals;

constexpr auto day = 24h;

timestamp moment(std::int64_t microseconds) {
  return timestamp{duration{microseconds}};
}

timestamp as_of() {
  return *parse_timestamp("1998-06-30T12:00:00.000000Z");
}

feature_row computed(std::vector<order_event> const& events, timestamp at = as_of()) {
  auto row = window_features(events, at);
  EXPECT_TRUE(row) << row.error().message;
  return row ? *row : feature_row{};
}

std::vector<std::int64_t> counts(feature_row const& row) {
  std::vector<std::int64_t> out;
  for (auto const& window : row.windows) out.push_back(window.count);
  return out;
}

using three = std::vector<std::int64_t>;

TEST(window_features, no_events_give_zeros_and_nulls) {
  auto const row = computed({});
  EXPECT_EQ(row.as_of, as_of());
  for (auto const& window : row.windows) {
    EXPECT_EQ(window.count, 0);
    EXPECT_EQ(window.sum, 0);
    EXPECT_FALSE(window.mean);
    EXPECT_FALSE(window.recency);
  }
}

TEST(window_features, windows_are_named_by_their_days) {
  auto const row = computed({});
  EXPECT_EQ(row.windows[0].days, 7);
  EXPECT_EQ(row.windows[1].days, 30);
  EXPECT_EQ(row.windows[2].days, 90);
}

TEST(window_features, one_event_is_count_sum_mean_and_recency) {
  auto const row = computed({{"a", as_of() - 2 * day, 1177}});
  for (auto const& window : row.windows) {
    EXPECT_EQ(window.count, 1);
    EXPECT_EQ(window.sum, 1177);
    EXPECT_EQ(window.mean, 1177.0);
    EXPECT_EQ(window.recency, duration{2 * day});
  }
}

TEST(window_features, longer_windows_hold_what_shorter_ones_hold) {
  auto const row = computed({{"a", as_of() - 1 * day, 100}, {"b", as_of() - 20 * day, 30}, {"c", as_of() - 60 * day, 5}});
  EXPECT_EQ(counts(row), (three{1, 2, 3}));
  EXPECT_EQ(row.windows[0].sum, 100);
  EXPECT_EQ(row.windows[1].sum, 130);
  EXPECT_EQ(row.windows[2].sum, 135);
  EXPECT_EQ(row.windows[1].mean, 65.0);
  EXPECT_EQ(row.windows[2].mean, 45.0);
}

// B-75: at the open border, 1 µs inside it, at the closed border, 1 µs after it; for each of the three windows.
TEST(window_features, B75_borders_are_half_open) {
  for (std::size_t at = 0; at < window_days.size(); ++at) {
    auto const length = window_days[at] * day;
    auto const inside = [&](timestamp when) { return computed({{"e", when, 1}}).windows[at].count; };
    EXPECT_EQ(inside(as_of() - length - 1us), 0) << window_days[at];
    EXPECT_EQ(inside(as_of() - length), 0) << window_days[at];
    EXPECT_EQ(inside(as_of() - length + 1us), 1) << window_days[at];
    EXPECT_EQ(inside(as_of() - 1us), 1) << window_days[at];
    EXPECT_EQ(inside(as_of()), 1) << window_days[at];
    EXPECT_EQ(inside(as_of() + 1us), 0) << window_days[at];
  }
}

// Laid end to end, windows hold each event exactly once.
TEST(window_features, B75_an_event_on_the_seam_belongs_to_one_of_two_windows) {
  std::vector<order_event> const seam{{"e", as_of() - 7 * day, 1}};
  auto const newer = computed(seam, as_of()).windows[0].count;
  auto const older = computed(seam, as_of() - 7 * day).windows[0].count;
  EXPECT_EQ(newer + older, 1);
  EXPECT_EQ(older, 1);
}

TEST(window_features, an_event_of_this_very_moment_has_recency_zero) {
  EXPECT_EQ(computed({{"a", as_of(), 1}}).windows[0].recency, duration{0});
}

TEST(window_features, events_after_as_of_change_nothing) {
  std::vector<order_event> const past{{"a", as_of() - 1us, 7}};
  std::vector<order_event> with_future = past;
  with_future.emplace_back("b", as_of() + 1us, 1000);
  with_future.emplace_back("c", as_of() + 400 * day, 1000);
  EXPECT_EQ(computed(past), computed(with_future));
}

TEST(window_features, a_row_delivered_twice_counts_once) {
  auto const row = computed({{"a", as_of() - 1h, 10}, {"b", as_of() - 2h, 20}, {"a", as_of() - 1h, 10}, {"a", as_of() - 1h, 10}});
  EXPECT_EQ(counts(row), (three{2, 2, 2}));
  EXPECT_EQ(row.windows[0].sum, 30);
}

TEST(window_features, equal_content_under_two_ids_is_two_events) {
  auto const row = computed({{"a", as_of() - 1h, 10}, {"b", as_of() - 1h, 10}});
  EXPECT_EQ(row.windows[0].count, 2);
  EXPECT_EQ(row.windows[0].sum, 20);
}

TEST(window_features, one_id_with_two_contents_is_refused_in_either_order) {
  order_event const first{"o-17", as_of() - 1h, 10};
  for (auto const& other : {order_event{"o-17", as_of() - 1h, 11}, order_event{"o-17", as_of() - 2h, 10}}) {
    for (auto const& rows : {std::vector{first, other}, std::vector{other, first}}) {
      auto const row = window_features(rows, as_of());
      ASSERT_FALSE(row);
      EXPECT_EQ(row.error().code, errc::invalid_argument);
      EXPECT_NE(row.error().message.find("'o-17'"), std::string::npos) << row.error().message;
    }
  }
}

TEST(window_features, two_contents_are_refused_outside_the_windows_too) {
  std::vector<order_event> const rows{{"a", as_of() - 400 * day, 1}, {"a", as_of() - 500 * day, 1}};
  EXPECT_FALSE(window_features(rows, as_of()));
}

TEST(window_features, an_empty_id_is_refused) {
  std::vector<order_event> const rows{{"", as_of(), 1}};
  auto const row = window_features(rows, as_of());
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().code, errc::invalid_argument);
}

TEST(window_features, refunds_are_negative_amounts) {
  auto const row = computed({{"a", as_of() - 1h, 500}, {"b", as_of() - 1h, -700}});
  EXPECT_EQ(row.windows[0].sum, -200);
  EXPECT_EQ(row.windows[0].mean, -100.0);
}

TEST(window_features, a_sum_beyond_64_bits_is_an_error_that_names_the_window) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  std::vector<order_event> const rows{{"a", as_of() - 1h, largest}, {"b", as_of() - 20 * day, 1}};
  auto const row = window_features(rows, as_of());
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().code, errc::invalid_argument);
  EXPECT_NE(row.error().message.find("30 days"), std::string::npos) << row.error().message;
}

TEST(window_features, sums_at_both_ends_of_64_bits_are_exact) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(computed({{"a", as_of(), largest - 1}, {"b", as_of(), 1}}).windows[0].sum, largest);
  EXPECT_EQ(computed({{"a", as_of(), smallest + 1}, {"b", as_of(), -1}}).windows[0].sum, smallest);
  EXPECT_EQ(computed({{"a", as_of(), smallest}}).windows[0].mean, -std::ldexp(1.0, 63));
}

// Whether a partial sum fits depends on the order of rows; the answer must not.
TEST(window_features, a_partial_sum_may_exceed_64_bits) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  auto const row = computed({{"a", as_of(), largest}, {"b", as_of(), largest}, {"c", as_of(), -largest}});
  EXPECT_EQ(row.windows[0].sum, largest);
}

TEST(window_features, the_mean_is_rounded_once) {
  EXPECT_EQ(computed({{"a", as_of(), 1}, {"b", as_of(), 0}, {"c", as_of(), 0}}).windows[0].mean, 1.0 / 3.0);
  // The sum 2^54 + 2 lies between two doubles: rounding it before the division would make it 2^54.
  std::int64_t const sum = (std::int64_t{1} << 54) + 2;
  auto const mean = *computed({{"a", as_of(), sum}, {"b", as_of(), 0}, {"c", as_of(), 0}}).windows[0].mean;
  EXPECT_EQ(mean, 6004799503160662.0);  // exactly 18014398509481986 / 3
  EXPECT_NE(mean, std::ldexp(1.0, 54) / 3.0);
}

TEST(window_features, a_large_mean_goes_to_the_nearest_double_and_ties_to_even) {
  std::int64_t const base = std::int64_t{1} << 53;
  auto const mean_of = [](std::int64_t sum) { return *computed({{"a", as_of(), sum}}).windows[0].mean; };
  EXPECT_EQ(mean_of(base + 1), static_cast<double>(base));      // tie: even is below
  EXPECT_EQ(mean_of(base + 3), static_cast<double>(base + 4));  // tie: even is above
  EXPECT_EQ(mean_of(-base - 1), -static_cast<double>(base));
  // 2^53 + 1 + 1/3 is just above a tie.
  std::int64_t const above_tie = (base + 1) * 3 + 1;
  auto const row = computed({{"a", as_of(), above_tie}, {"b", as_of(), 0}, {"c", as_of(), 0}});
  EXPECT_EQ(row.windows[0].mean, static_cast<double>(base + 2));
}

TEST(window_features, ages_are_exact_at_the_ends_of_time) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(counts(computed({{"a", moment(smallest), 1}}, moment(largest))), (three{0, 0, 0}));
  EXPECT_EQ(counts(computed({{"a", moment(largest), 1}}, moment(smallest))), (three{0, 0, 0}));
  EXPECT_EQ(counts(computed({{"a", moment(smallest), 1}}, moment(smallest))), (three{1, 1, 1}));
}

std::vector<order_event> random_history(std::mt19937_64& random) {
  std::vector<order_event> rows;
  std::size_t const size = random() % 60;
  for (std::size_t at = 0; at < size; ++at) {
    // Few distinct times, some exactly on the borders, so that ties and borders are common.
    auto const age = duration{day} * static_cast<std::int64_t>(random() % 95) + duration{static_cast<std::int64_t>(random() % 3) - 1};
    rows.emplace_back("e" + std::to_string(at), as_of() - age, static_cast<std::int64_t>(random() % 20'000) - 2'000);
  }
  return rows;
}

TEST(window_features, any_order_and_any_duplicates_give_the_same_bytes) {
  std::mt19937_64 random{75};
  for (int round = 0; round < 200; ++round) {
    auto rows = random_history(random);
    auto const expected = to_json(computed(rows));
    std::size_t const distinct = rows.size();
    for (std::size_t at = 0; at < distinct; ++at) {
      if (random() % 3 == 0) rows.push_back(order_event{rows[at]});
    }
    std::shuffle(rows.begin(), rows.end(), random);
    ASSERT_EQ(to_json(computed(rows)), expected) << "round " << round;
  }
}

// The same rules, written the slow way.
TEST(window_features, equals_a_second_way_of_counting) {
  std::mt19937_64 random{7};
  for (int round = 0; round < 200; ++round) {
    auto const rows = random_history(random);
    auto const row = computed(rows);
    for (auto const& window : row.windows) {
      auto const from = as_of() - window.days * day;
      std::int64_t count = 0;
      std::int64_t sum = 0;
      timestamp newest = from;
      for (auto const& event : rows) {
        if (!(event.at > from && event.at <= as_of())) continue;
        ++count;
        sum += event.amount;
        newest = std::max(newest, event.at);
      }
      ASSERT_EQ(window.count, count);
      ASSERT_EQ(window.sum, sum);
      ASSERT_EQ(window.recency, count == 0 ? std::nullopt : std::optional<duration>{as_of() - newest});
    }
  }
}

TEST(window_features, json_names_every_window) {
  auto const row = computed({{"a", as_of() - 1s, 150}, {"b", as_of() - 20 * day, 1}});
  EXPECT_EQ(to_json(row), R"({"as_of":"1998-06-30T12:00:00.000000Z","windows":{)"
                          R"("7d":{"count":1,"sum":150,"mean":150,"recency_us":1000000},)"
                          R"("30d":{"count":2,"sum":151,"mean":75.5,"recency_us":1000000},)"
                          R"("90d":{"count":2,"sum":151,"mean":75.5,"recency_us":1000000}}})");
}

TEST(window_features, json_of_an_empty_history_has_nulls_and_reads_back) {
  auto const text = to_json(computed({}));
  auto const read = json::parse(text);
  ASSERT_TRUE(read) << read.error().message;
  auto const week = read->find("windows")->find("7d");
  ASSERT_TRUE(week);
  EXPECT_EQ(week->find("count")->as_int64(), 0);
  EXPECT_TRUE(week->find("mean")->is_null());
  EXPECT_TRUE(week->find("recency_us")->is_null());
}

}  // namespace
