// Each rule of docs/features.md by itself: windows, filters, categories, every kind of feature, overflow, JSON.
#include <atone/features/engine.hpp>

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/json.hpp>

#include "support.hpp"

namespace atone::features_test {
namespace {

using namespace features;
using testing::HasSubstr;

constexpr std::int64_t second = 1'000'000;
raw_value const null{};

feature_set_ptr shop(std::string const& features,
                     std::string const& windows = "{3s: {last: 3s}, 10s: {last: 10s}, two: {rows: 2}, ever: {since: epoch}}") {
  return set_of(R"(feature_set: shop
version: 1
entity: user
event_id: id
event_time: at
columns: {user: integer, id: integer, at: timestamp, amount: {type: decimal, scale: 2}, product: text}
windows: )" + windows +
                "\nfeatures:\n  it: " + features + "\n");
}

raw_row sale(std::int64_t id, std::int64_t at, raw_value amount, raw_value product = std::string{"a"}) {
  return {1, id, at * second, std::move(amount), std::move(product)};
}

raw_rows const history{sale(1, 0, 500, std::string{"a"}), sale(2, 5, 100, std::string{"b"}), sale(3, 8, 300, std::string{"a"}),
                       sale(4, 9, 100, std::string{"c"})};

// As of second 9.
std::string value(std::string const& feature, std::string_view window, raw_rows const& rows = history) {
  return value_of(shop(feature), rows, 1, 9 * second, "it", window);
}

TEST(feature_engine, counts_events_and_values) {
  EXPECT_EQ(value("{count: events, over: [3s, 10s, two, ever]}", "3s"), "2");
  EXPECT_EQ(value("{count: events, over: [3s, 10s, two, ever]}", "10s"), "4");
  EXPECT_EQ(value("{count: events, over: [3s, 10s, two, ever]}", "two"), "2");
  EXPECT_EQ(value("{count: amount, over: [ever]}", "ever", {sale(1, 0, null), sale(2, 1, 5)}), "1");
}

TEST(feature_engine, a_store_of_nothing_has_no_columns_to_filter_by) {
  auto const set = shop("{count: events, over: [ever], where: {product: [a]}}");
  feature_engine const engine{set};
  event_store const nothing;
  timestamp const now{};
  EXPECT_EQ(engine.as_of(nothing, now, now)->rows, 0U);
  EXPECT_EQ(engine.per_event(nothing)->rows, 0U);
  std::vector<feature_moment> const anybody{feature_moment{std::nullopt, now, now}};
  auto const found = engine.at(nothing, anybody);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->columns[0].integer(0), 0);
}

TEST(feature_engine, sums_and_means_in_the_columns_unit) {
  EXPECT_EQ(value("{sum: amount, over: [10s]}", "10s"), "1000");
  EXPECT_EQ(value("{mean: amount, over: [10s, 3s]}", "10s"), "2.5");
  EXPECT_EQ(value("{mean: amount, over: [10s, 3s]}", "3s"), "2");
  EXPECT_EQ(value("{mean: amount, over: [ever]}", "ever", {sale(1, 0, 100), sale(2, 0, 0), sale(3, 0, 0)}), "0.3333333333333333");
}

TEST(feature_engine, variance_and_deviation_of_sample_and_population) {
  // 5, 1, 3, 1: mean 2.5, squares of the differences 6.25 + 2.25 + 0.25 + 2.25 = 11.
  EXPECT_EQ(value("{variance: amount, over: [ever]}", "ever"), "3.6666666666666665");
  EXPECT_EQ(value("{variance: amount, estimate: population, over: [ever]}", "ever"), "2.75");
  EXPECT_EQ(value("{deviation: amount, estimate: sample, over: [ever]}", "ever"), "1.9148542155126762");
  EXPECT_EQ(value("{deviation: amount, estimate: population, over: [ever]}", "ever"), "1.6583123951777");
  EXPECT_EQ(value("{variance: amount, over: [ever]}", "ever", {sale(1, 0, 5)}), "null");
  EXPECT_EQ(value("{variance: amount, estimate: population, over: [ever]}", "ever", {sale(1, 0, 5)}), "0");
}

// Adding up squares of doubles loses all digits here; the exact answer is a third.
TEST(feature_engine, variance_of_large_neighbours_is_exact) {
  std::int64_t const large = 4'000'000'000'000'000'000;
  auto const set = set_of(R"(feature_set: large
version: 1
entity: user
event_id: id
event_time: at
columns: {user: integer, id: integer, at: timestamp, amount: integer}
windows: {ever: {since: epoch}}
features: {it: {variance: amount, over: [ever]}}
)");
  EXPECT_EQ(value_of(set, {{1, 1, 0, large}, {1, 2, 0, large + 1}, {1, 3, 0, large}}, 1, 0, "it", "ever"), "0.3333333333333333");
}

TEST(feature_engine, smallest_largest_first_and_last) {
  EXPECT_EQ(value("{min: amount, over: [3s, ever]}", "ever"), "100");
  EXPECT_EQ(value("{max: amount, over: [3s, ever]}", "ever"), "500");
  EXPECT_EQ(value("{max: amount, over: [3s, ever]}", "3s"), "300");
  EXPECT_EQ(value("{first: product, over: [3s, ever]}", "3s"), "a");
  EXPECT_EQ(value("{last: product, over: [3s, ever]}", "ever"), "c");
  EXPECT_EQ(value("{last_values: amount, keep: 3, over: [3s, ever]}", "ever"), "100 300 100");
  EXPECT_EQ(value("{last_values: amount, keep: 3, over: [3s, ever]}", "3s"), "100 300 null");
}

TEST(feature_engine, ties_in_time_are_settled_by_the_id) {
  raw_rows const tied{sale(7, 5, 70), sale(3, 5, 30), sale(5, 5, 50)};
  EXPECT_EQ(value("{first: amount, over: [ever]}", "ever", tied), "30");
  EXPECT_EQ(value("{last: amount, over: [ever]}", "ever", tied), "70");
  EXPECT_EQ(value("{sum: amount, over: [two]}", "two", tied), "120");
}

TEST(feature_engine, distinct_is_exact_and_skips_nulls) {
  EXPECT_EQ(value("{distinct: product, over: [3s, 10s]}", "3s"), "2");
  EXPECT_EQ(value("{distinct: product, over: [3s, 10s]}", "10s"), "3");
  EXPECT_EQ(value("{distinct: amount, over: [ever]}", "ever"), "3");
  EXPECT_EQ(value("{distinct: product, over: [ever]}", "ever", {sale(1, 0, 1, null)}), "0");
}

TEST(feature_engine, distinct_of_many_values_is_exact_too) {
  raw_rows rows;
  for (std::int64_t at = 0; at < 5'000; ++at) rows.push_back(sale(at, 0, at * 7919 % 1'371));
  EXPECT_EQ(value("{distinct: amount, over: [ever]}", "ever", rows), "1371");
}

TEST(feature_engine, recency_and_intervals_in_microseconds) {
  EXPECT_EQ(value("{recency: events, over: [ever]}", "ever", {sale(1, 2, 1), sale(2, 7, 1)}), "2000000");
  EXPECT_EQ(value("{recency: events, over: [ever]}", "ever", {sale(1, 9, 1)}), "0");
  EXPECT_EQ(value("{interval: mean, over: [ever]}", "ever"), "3e+06");
  EXPECT_EQ(value("{interval: min, over: [ever]}", "ever"), "1000000");
  EXPECT_EQ(value("{interval: min, over: [ever]}", "ever", {sale(1, 9, 1)}), "null");
}

TEST(feature_engine, decayed_sums_halve_with_each_half_life) {
  EXPECT_EQ(value("{decayed_count: events, half_life: 1s, over: [ever]}", "ever", {sale(1, 9, 1)}), "1");
  EXPECT_NEAR(std::stod(value("{decayed_count: events, half_life: 4s, over: [ever]}", "ever", {sale(1, 9, 1), sale(2, 5, 1)})), 1.5, 1e-9);
  EXPECT_NEAR(std::stod(value("{decayed_sum: amount, half_life: 4s, over: [ever]}", "ever", {sale(1, 9, 100), sale(2, 5, 600)})), 4.0,
              1e-8);
  EXPECT_EQ(value("{decayed_sum: amount, half_life: 4s, over: [ever]}", "ever", {}), "0");
}

TEST(feature_engine, filters_and_categories) {
  EXPECT_EQ(value("{sum: amount, over: [ever], where: {product: [a, c]}}", "ever"), "900");
  EXPECT_EQ(value("{sum: amount, over: [ever], where: {amount: {above: 1.00}}}", "ever"), "800");
  EXPECT_EQ(value("{sum: amount, over: [ever], where: {amount: {at_least: 1, below: 3.01}, product: a}}", "ever"), "300");
  EXPECT_EQ(value("{count: events, over: [two], where: {product: a}}", "two"), "2") << "the newest two that pass";
  EXPECT_EQ(value("{count: events, over: [ever], where: {product: unheard-of}}", "ever"), "0");
}

TEST(feature_engine, a_ratio_of_two_windows_is_exact_and_null_over_nothing) {
  auto const with = [](raw_rows const& rows) {
    auto const set = shop("{sum: amount, over: [3s, 10s]}\n  trend: {ratio: it, between: [3s, 10s]}");
    return value_of(set, rows, 1, 9 * second, "trend", "3s");
  };
  EXPECT_EQ(with(history), "0.4");
  EXPECT_EQ(with({}), "null");
  EXPECT_EQ(with({sale(1, 9, 5), sale(2, 8, -5)}), "null") << "0 / 0";
}

TEST(feature_engine, events_after_the_moment_change_nothing) {
  auto rows = history;
  rows.push_back(sale(9, 10, 100'000));
  EXPECT_EQ(value("{sum: amount, over: [ever]}", "ever", rows), "1000");
}

TEST(feature_engine, overflow_is_told_and_never_wraps) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  raw_rows const two{sale(1, 8, largest), sale(2, 1, 1)};
  EXPECT_EQ(value("{sum: amount, over: [3s, ever]}", "3s", two), std::to_string(largest));
  EXPECT_EQ(value("{sum: amount, over: [3s, ever]}", "ever", two), "overflow");
  EXPECT_EQ(value("{sum: amount, over: [ever]}", "ever", {sale(1, 0, largest), sale(2, 1, largest), sale(3, 2, -largest)}),
            std::to_string(largest))
      << "a partial sum may exceed 64 bits";
  raw_rows const wide{sale(1, 0, -largest - 1), sale(2, 1, -largest - 1), sale(3, 2, -largest - 1), sale(4, 3, -largest - 1)};
  EXPECT_EQ(value("{deviation: amount, over: [ever]}", "ever", wide), "overflow");
  EXPECT_EQ(value("{mean: amount, over: [ever]}", "ever", wide), "-92233720368547760");
}

TEST(feature_engine, an_overflow_is_an_error_in_json_that_names_feature_and_window) {
  auto const set = shop("{sum: amount, over: [ever]}");
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  auto const store = store_of(*set, {sale(1, 0, largest), sale(2, 0, 1)});
  auto const table = feature_engine{set}.as_of(store, timestamp{duration{second}}, timestamp{});
  auto const text = to_json(*set, store, *table, 0, timestamp{duration{second}});
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("feature 'it' over window 'ever'"));
}

TEST(feature_engine, json_holds_windows_categories_lists_and_ratios) {
  auto const set = shop(R"({sum: amount, over: [3s, 10s]}
  by_product: {count: events, over: [ever], per: {product: [a, b, z]}}
  newest: {last_values: product, keep: 3, over: [3s]}
  when: {first: at, over: [ever]}
  trend: {ratio: it, between: [3s, 10s]})");
  auto const store = store_of(*set, history);
  timestamp const at{duration{9 * second}};
  auto const table = feature_engine{set}.as_of(store, at, at);
  auto const text = to_json(*set, store, *table, 0, at);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, R"({"as_of":"1970-01-01T00:00:09.000000Z","windows":{"3s":{"it":4.00,"newest":["c","a"]},"10s":{"it":10.00},"two":{},)"
                   R"("ever":{"by_product":{"a":2,"b":1,"z":0},"when":"1970-01-01T00:00:00.000000Z"}},"ratios":{"trend":0.4}})");
  EXPECT_TRUE(json::parse(*text));
}

TEST(feature_engine, times_and_entities_out_of_bounds_are_refused) {
  auto const set = shop("{count: events, over: [ever]}");
  auto const store = store_of(*set, history);
  feature_engine const engine{set};
  timestamp const far{duration{time_max + 1}};
  EXPECT_FALSE(engine.as_of(store, far, timestamp{}));
  EXPECT_FALSE(engine.as_of(store, timestamp{}, far));
  EXPECT_FALSE(engine.at(store, std::vector{feature_moment{1U, timestamp{}, timestamp{}}}));
  EXPECT_THAT(refusal_of(*set, {{1, 7, time_max + 1, 1, null}}), HasSubstr("event 7 happened at"));
  EXPECT_EQ(value_of(set, {{1, 7, -time_max, 1, null}}, 1, time_max, "it", "ever"), "1") << "the furthest apart that can be";
}

}  // namespace
}  // namespace atone::features_test
