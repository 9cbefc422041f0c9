// Faults that users of feature systems reported: BUG reports B-73 to B-76, see tests/SCENARIOS.md.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace atone::features_test {
namespace {

using namespace features;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::int64_t day = 86'400'000'000;
constexpr std::int64_t second = 1'000'000;
raw_value const null{};

std::string const head = R"(feature_set: reports
version: 1
entity: user
event_id: id
event_time: at
)";

raw_row row(std::int64_t user, std::int64_t id, std::int64_t at, raw_value amount) {
  return {user, id, at, std::move(amount)};
}

feature_set_ptr simple(std::string const& features) {
  return set_of(head + R"(columns: {user: integer, id: integer, at: timestamp, amount: integer}
windows: {7d: {last: 7d}, 30d: {last: 30d}, 90d: {last: 90d}, ever: {since: epoch}}
features:
)" + features);
}

feature_set_ptr with_known_at() {
  return set_of(head + R"(known_at: known
columns: {user: integer, id: integer, at: timestamp, amount: integer, known: timestamp}
windows: {ever: {since: epoch}}
features: {last: {last: amount, over: [ever]}, sum: {sum: amount, over: [ever]}, count: {count: events, over: [ever]}}
)");
}

// One user's row as JSON, as of `at` with what was known at `known`.
std::string json_of(feature_set_ptr const& set, raw_rows const& rows, std::int64_t at, std::int64_t known) {
  auto const store = store_of(*set, rows);
  std::vector<feature_moment> const wanted{feature_moment{store.find(1), timestamp{duration{at}}, timestamp{duration{known}}}};
  auto const table = feature_engine{set}.at(store, wanted);
  EXPECT_TRUE(table) << table.error().message;
  auto const text = to_json(*set, store, *table, 0, timestamp{duration{at}});
  EXPECT_TRUE(text) << text.error().message;
  return text ? *text : "";
}

// Value 10 of event 1 is written at second 1; at second 5 it is corrected to 20.
TEST(feature_reports, B73_a_value_that_was_not_known_yet_does_not_count) {
  auto const set = with_known_at();
  raw_rows const rows{{1, 1, 1 * second, 10, 1 * second}, {1, 1, 1 * second, 20, 5 * second}};
  EXPECT_THAT(json_of(set, rows, 3 * second, 3 * second), HasSubstr(R"({"last":10,"sum":10,"count":1})"));
  EXPECT_THAT(json_of(set, rows, 6 * second, 6 * second), HasSubstr(R"({"last":20,"sum":20,"count":1})"));
  EXPECT_THAT(json_of(set, rows, 6 * second, 5 * second - 1), HasSubstr(R"("last":10)"));
  EXPECT_THAT(json_of(set, rows, 6 * second, 5 * second), HasSubstr(R"("last":20)"));
}

TEST(feature_reports, B73_a_recompute_that_pins_what_was_known_gives_the_same_bytes_after_a_backfill) {
  auto const set = with_known_at();
  raw_rows rows{{1, 1, 1 * second, 10, 1 * second}, {1, 2, 2 * second, 5, 2 * second}};
  auto const before = json_of(set, rows, 3 * second, 3 * second);
  rows.push_back({1, 1, 1 * second, 20, 5 * second});  // a correction
  rows.push_back({1, 3, 2 * second, 7, 6 * second});   // one that came late
  EXPECT_EQ(json_of(set, rows, 3 * second, 3 * second), before);
  EXPECT_THAT(json_of(set, rows, 3 * second, 6 * second), HasSubstr(R"("count":3)"));
}

TEST(feature_reports, B74_a_column_without_any_value_is_null_and_filled_later) {
  auto const set =
      simple("  sum: {sum: amount, over: [ever]}\n  mean: {mean: amount, over: [ever]}\n  values: {count: amount, over: [ever]}\n");
  raw_rows rows{row(1, 1, 0, null), row(1, 2, 1, null)};
  EXPECT_THAT(json_of(set, rows, 5, 5), HasSubstr(R"({"sum":0,"mean":null,"values":0})"));
  rows.push_back(row(1, 3, 2, 4));
  EXPECT_THAT(json_of(set, rows, 5, 5), HasSubstr(R"({"sum":4,"mean":4,"values":1})"));
}

TEST(feature_reports, B74_a_null_key_in_ten_thousand_rows_is_set_aside_and_counted) {
  auto const set = simple("  count: {count: events, over: [ever]}\n");
  raw_rows rows;
  for (std::int64_t at = 0; at < 10'000; ++at) rows.push_back(row(at % 100, at, at, 1));
  rows[1234][0] = null;
  auto const store = store_of(*set, rows);
  EXPECT_EQ(store.left_out.without_entity, 1U);
  EXPECT_EQ(store.rows(), 9'999U);
  EXPECT_EQ(store.entities.size(), 100U);
}

TEST(feature_reports, B74_an_empty_batch_is_no_error) {
  auto const set = simple("  count: {count: events, over: [ever]}\n  mean: {mean: amount, over: [ever]}\n");
  auto const store = store_of(*set, {});
  EXPECT_EQ(feature_engine{set}.as_of(store, timestamp{}, timestamp{})->rows, 0U);
  EXPECT_THAT(json_of(set, {}, 5, 5), HasSubstr(R"({"count":0,"mean":null})"));
}

// At the beginning, one microsecond before it, one before the end, at the end; for each window. The end is as_of + 1 µs.
TEST(feature_reports, B75_windows_are_half_open) {
  auto const set = simple("  count: {count: events, over: [7d, 30d, 90d]}\n");
  constexpr std::int64_t now = 400 * day;
  for (auto const& [window, days] : {std::pair{"7d", 7}, std::pair{"30d", 30}, std::pair{"90d", 90}}) {
    auto const counted = [&, name = window](std::int64_t at) { return value_of(set, {row(1, 1, at, 1)}, 1, now, "count", name); };
    std::int64_t const start = now + 1 - days * day;
    EXPECT_EQ(counted(start - 1), "0") << window;
    EXPECT_EQ(counted(start), "1") << window;
    EXPECT_EQ(counted(now), "1") << window << ": end - 1";
    EXPECT_EQ(counted(now + 1), "0") << window << ": end";
  }
}

TEST(feature_reports, B75_an_event_on_the_seam_belongs_to_one_of_two_windows) {
  auto const set = simple("  count: {count: events, over: [7d]}\n");
  constexpr std::int64_t now = 400 * day;
  for (std::int64_t const off : {-1, 0, 1}) {
    raw_rows const seam{row(1, 1, now - 7 * day + off, 1)};
    auto const newer = value_of(set, seam, 1, now, "count", "7d");
    auto const older = value_of(set, seam, 1, now - 7 * day, "count", "7d");
    EXPECT_NE(newer, older) << off;
  }
}

TEST(feature_reports, B75_late_rows_inside_and_outside_the_allowed_lateness) {
  std::string const body = R"(known_at: known
columns: {user: integer, id: integer, at: timestamp, amount: integer, known: timestamp}
windows: {ever: {since: epoch}}
features: {count: {count: events, over: [ever]}}
)";
  raw_rows const rows{{1, 1, 0, 1, 10 * second}, {1, 2, 0, 1, 10 * second + 1}, {1, 3, 5, 1, null}};
  auto const set_aside_them = set_of(head + body + "late: {after: 10s, then: set_aside}\n");
  auto const store = store_of(*set_aside_them, rows);
  EXPECT_EQ(store.left_out.late, 1U);
  EXPECT_EQ(store.rows(), 2U);
  auto const refuse_them = set_of(head + body + "late: {after: 10s, then: refuse}\n");
  EXPECT_THAT(refusal_of(*refuse_them, rows), HasSubstr("event 2 became known more than 10s after it happened"));
  EXPECT_EQ(store_of(*set_of(head + body), rows).rows(), 3U);
}

// {1, null, 2}, {null}, {}, {-0, 0} as the set's table says: nulls are skipped, nothing is null (sums: 0), -0 is 0.
TEST(feature_reports, B76_one_rule_for_null_and_nothing) {
  auto const set = simple(R"(  sum: {sum: amount, over: [ever]}
  mean: {mean: amount, over: [ever]}
  min: {min: amount, over: [ever]}
  max: {max: amount, over: [ever]}
  values: {count: amount, over: [ever]}
  events: {count: events, over: [ever]}
  first: {first: amount, over: [ever]}
  last: {last: amount, over: [ever]}
)");
  EXPECT_THAT(json_of(set, {row(1, 1, 0, 1), row(1, 2, 1, null), row(1, 3, 2, 2)}, 5, 5),
              HasSubstr(R"({"sum":3,"mean":1.5,"min":1,"max":2,"values":2,"events":3,"first":1,"last":2})"));
  EXPECT_THAT(json_of(set, {row(1, 1, 0, null)}, 5, 5),
              HasSubstr(R"({"sum":0,"mean":null,"min":null,"max":null,"values":0,"events":1,"first":null,"last":null})"));
  EXPECT_THAT(json_of(set, {}, 5, 5),
              HasSubstr(R"({"sum":0,"mean":null,"min":null,"max":null,"values":0,"events":0,"first":null,"last":null})"));
}

TEST(feature_reports, B76_nan_and_infinities_are_refused_where_they_come_in_and_minus_zero_is_zero) {
  auto const set = set_of(head + R"(columns: {user: integer, id: integer, at: timestamp, amount: {type: decimal, scale: 2}}
windows: {ever: {since: epoch}}
features: {min: {min: amount, over: [ever]}, max: {max: amount, over: [ever]}}
)");
  event_table table{*set};
  row_appender appender{*set, table};
  auto const append = [&](double value) {
    std::vector<cell> const cells{std::int64_t{1}, static_cast<std::int64_t>(table.rows()), std::int64_t{0}, value};
    auto const done = appender.append(cells);
    return done ? std::string{} : done.error().message;
  };
  EXPECT_THAT(append(std::nan("")), HasSubstr("column 'amount': found NaN"));
  EXPECT_THAT(append(std::numeric_limits<double>::infinity()), HasSubstr("column 'amount': found an infinity"));
  EXPECT_THAT(append(-std::numeric_limits<double>::infinity()), HasSubstr("column 'amount': found an infinity"));
  EXPECT_EQ(table.rows(), 0U) << "a refused row leaves nothing behind";
  EXPECT_EQ(append(-0.0), "");
  EXPECT_EQ(append(0.0), "");
  EXPECT_EQ(table.columns[3].values, (std::vector<std::int64_t>{0, 0}));
  auto const store = sort_events(*set, table);
  std::vector<feature_moment> const wanted{feature_moment{store->find(1), timestamp{}, timestamp{}}};
  auto const found = feature_engine{set}.at(*store, wanted);
  EXPECT_THAT(*to_json(*set, *store, *found, 0, timestamp{}), HasSubstr(R"({"min":0.00,"max":0.00})"));
}

}  // namespace
}  // namespace atone::features_test
