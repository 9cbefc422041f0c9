// The sorted store: order, duplicates, corrections, what is set aside, what is refused; and rows from messages.
#include <atone/features/events.hpp>

#include <algorithm>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace atone::features_test {
namespace {

using namespace features;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

raw_value const null{};

feature_set_ptr plain(std::string const& key = "integer") {
  return set_of("feature_set: store\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\ncolumns: {user: " + key + ", id: " + key +
                ", at: timestamp, amount: integer}\nwindows: {ever: {since: epoch}}\nfeatures: {n: {count: events, over: [ever]}}\n");
}

feature_set_ptr known() {
  return set_of(
      "feature_set: store\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\nknown_at: known\n"
      "columns: {user: integer, id: integer, at: timestamp, amount: integer, known: timestamp}\n"
      "windows: {ever: {since: epoch}}\nfeatures: {n: {count: events, over: [ever]}}\n");
}

TEST(event_store, is_sorted_by_entity_time_and_id) {
  auto const store = store_of(*plain(), {{2, 1, 5, 10}, {-1, 4, 9, 11}, {2, 3, 5, 12}, {2, 2, 5, 13}, {2, 9, 1, 14}, {-1, 5, -9, 15}});
  EXPECT_THAT(store.entities, ElementsAre(-1, 2));
  EXPECT_THAT(store.offsets, ElementsAre(0, 2, 6));
  EXPECT_THAT(store.times, ElementsAre(-9, 9, 1, 5, 5, 5));
  EXPECT_THAT(store.columns[1].values, ElementsAre(5, 4, 9, 1, 2, 3));
  EXPECT_THAT(store.columns[3].values, ElementsAre(15, 11, 14, 10, 13, 12));
}

TEST(event_store, texts_sort_as_texts_whatever_order_they_came_in) {
  auto const set = plain("text");
  auto const store = store_of(*set, {{std::string{"zoe"}, std::string{"b"}, 1, 1},
                                     {std::string{"adam"}, std::string{"z"}, 1, 2},
                                     {std::string{"zoe"}, std::string{"a"}, 1, 3}});
  EXPECT_THAT(store.columns[0].words, ElementsAre("adam", "zoe"));
  EXPECT_THAT(store.columns[3].values, ElementsAre(2, 3, 1));
  EXPECT_EQ(store.find("zoe", *set), std::optional<std::uint32_t>{1});
  EXPECT_EQ(store.find("nobody", *set), std::nullopt);
}

TEST(event_store, keys_over_the_whole_range_of_64_bits_are_sorted) {
  std::mt19937_64 random{4};
  raw_rows rows{{std::numeric_limits<std::int64_t>::min(), 0, 0, 0}, {std::numeric_limits<std::int64_t>::max(), 0, 0, 0}};
  for (std::int64_t id = 0; id < 500; ++id) {
    rows.push_back({static_cast<std::int64_t>(random()), id, static_cast<std::int64_t>(random() >> 3) - time_max / 2, 0});
  }
  for (std::int64_t id = 500; id < 1'000; ++id)
    rows.push_back({static_cast<std::int64_t>(random() % 5), id, static_cast<std::int64_t>(random() >> 3), 0});
  auto const store = store_of(*plain(), rows);
  EXPECT_TRUE(std::is_sorted(store.entities.begin(), store.entities.end()));
  for (std::size_t at = 0; at < store.entities.size(); ++at) {
    EXPECT_TRUE(std::is_sorted(store.times.begin() + store.offsets[at], store.times.begin() + store.offsets[at + 1]));
  }
}

TEST(event_store, rows_that_say_the_same_again_are_one_event) {
  auto const store = store_of(*plain(), {{1, 1, 5, 10}, {1, 1, 5, 10}, {1, 2, 5, 10}, {1, 1, 5, 10}});
  EXPECT_EQ(store.rows(), 2U);
  EXPECT_EQ(store.left_out.duplicates, 2U);
  EXPECT_THAT(store.offsets, ElementsAre(0, 2));
}

TEST(event_store, one_id_belongs_to_one_entity_only_by_its_own_name) {
  EXPECT_EQ(store_of(*plain(), {{1, 1, 5, 10}, {2, 1, 5, 11}}).rows(), 2U);
}

TEST(event_store, one_id_with_two_contents_is_refused_in_any_order) {
  for (auto const& other : {raw_row{1, 17, 5, 11}, raw_row{1, 17, 6, 10}, raw_row{1, 17, 5, null}}) {
    raw_row const first{1, 17, 5, 10};
    for (auto const& rows : {raw_rows{first, other}, raw_rows{other, first}, raw_rows{first, first, other}}) {
      EXPECT_THAT(refusal_of(*plain(), rows), HasSubstr("event 17 came with two contents"));
    }
  }
}

TEST(event_store, repeats_are_found_among_many_rows_of_an_entity) {
  raw_rows rows;
  for (std::int64_t id = 0; id < 300; ++id) rows.push_back({1, id, id % 7, id});
  rows.push_back(rows[123]);
  EXPECT_EQ(store_of(*plain(), rows).left_out.duplicates, 1U);
  rows.back()[3] = 999;
  EXPECT_THAT(refusal_of(*plain(), rows), HasSubstr("event 123 came with two contents"));
}

TEST(event_store, corrections_follow_each_other_by_when_they_became_known) {
  auto const store = store_of(*known(), {{1, 1, 5, 30, 9}, {1, 1, 4, 10, 5}, {1, 1, 5, 20, 7}, {1, 1, 5, 30, 12}});
  EXPECT_EQ(store.rows(), 3U) << "the fourth says what the third said";
  EXPECT_THAT(store.known_from, ElementsAre(5, 7, 9));
  EXPECT_THAT(store.known_until, ElementsAre(7, 9, std::numeric_limits<std::int64_t>::max()));
}

TEST(event_store, rows_known_together_must_agree_whatever_was_known_before) {
  raw_rows rows{{1, 1, 5, 10, 1}, {1, 1, 5, 10, 2}, {1, 1, 5, 20, 2}};
  do {
    EXPECT_THAT(refusal_of(*known(), rows), HasSubstr("two contents"));
  } while (std::next_permutation(rows.begin(), rows.end()));
}

TEST(event_store, what_is_set_aside_is_counted_by_reason) {
  auto const store = store_of(*plain(), {{null, 1, 5, 1}, {1, null, 5, 1}, {1, 2, null, 1}, {null, null, null, 1}, {1, 3, 5, null}});
  EXPECT_EQ(store.left_out.without_entity, 2U);
  EXPECT_EQ(store.left_out.without_id, 1U);
  EXPECT_EQ(store.left_out.without_time, 1U);
  EXPECT_EQ(store.rows(), 1U);
}

TEST(event_store, a_set_may_refuse_nulls) {
  auto const set = set_of(
      "feature_set: s\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\ncolumns: {user: {type: integer, nulls: refuse}, id: "
      "integer, at: "
      "timestamp, amount: {type: integer, nulls: refuse}}\nwindows: {ever: {since: epoch}}\nfeatures: {n: {count: events, over: "
      "[ever]}}\n");
  EXPECT_THAT(refusal_of(*set, {{null, 1, 5, 1}}), HasSubstr("column 'user': found null in 1 rows"));
  EXPECT_THAT(refusal_of(*set, {{1, 1, 5, null}, {1, 2, 5, 1}}), HasSubstr("column 'amount': found null in 1 rows"));
  EXPECT_THAT(refusal_of(*set, {{1, 2, 5, 1}}), IsEmpty());
}

// Unknown when it was known would be taken for known when it happened.
TEST(event_store, a_set_may_refuse_a_null_in_its_known_at) {
  auto const set = set_of(
      "feature_set: s\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\nknown_at: told\ncolumns: {user: integer, id: integer, at: "
      "timestamp, told: {type: timestamp, nulls: refuse}}\nwindows: {ever: {since: epoch}}\nfeatures: {n: {count: events, over: "
      "[ever]}}\n");
  EXPECT_THAT(refusal_of(*set, {{1, 1, 5, null}}), HasSubstr("column 'told': found null in 1 rows"));
  EXPECT_THAT(refusal_of(*set, {{1, 1, 5, 6}}), IsEmpty());
}

TEST(event_store, columns_that_do_not_fit_are_refused) {
  auto const set = plain("text");
  event_table short_of_a_column{*plain()};
  short_of_a_column.columns.pop_back();
  EXPECT_FALSE(sort_events(*plain(), short_of_a_column));
  auto table = table_of(*plain(), {{1, 1, 5, 1}});
  table.columns[3].values.push_back(2);
  EXPECT_THAT(sort_events(*plain(), table).error().message, HasSubstr("column 'amount' has another length"));
  event_table wordless{*set};
  for (auto& column : wordless.columns) column.values.push_back(0);
  EXPECT_THAT(sort_events(*set, wordless).error().message, HasSubstr("points outside its words"));
}

class rows_from_messages : public testing::Test {
 protected:
  std::string append(std::vector<cell> const& cells) {
    auto const done = appender.append(cells);
    return done ? std::string{} : done.error().message;
  }
  std::string amount(cell const& value) {
    return append({std::int64_t{1}, std::int64_t{1}, std::int64_t{0}, value, std::string_view{"a"}});
  }

  feature_set_ptr set = set_of(
      "feature_set: s\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\ncolumns: {user: integer, id: integer, at: timestamp, "
      "amount: {type: "
      "decimal, scale: 2}, product: text}\nwindows: {ever: {since: epoch}}\nfeatures: {n: {count: events, over: [ever]}}\n");
  event_table table{*set};
  row_appender appender{*set, table};
};

TEST_F(rows_from_messages, decimals_are_exact) {
  for (auto const* text : {"12.5", "12.50", "12.500", "0.01", "-0.01", "-0", "92233720368547758.07", "-92233720368547758.08", "7"}) {
    EXPECT_EQ(amount(std::string_view{text}), "") << text;
  }
  EXPECT_EQ(amount(std::int64_t{3}), "");
  EXPECT_EQ(amount(0.1), "");
  EXPECT_EQ(amount(0.125), "");  // a tie, exactly: to the even cent
  EXPECT_EQ(amount(0.135), "");  // just above the tie as a double
  EXPECT_THAT(table.columns[3].values, ElementsAre(1250, 1250, 1250, 1, -1, 0, std::numeric_limits<std::int64_t>::max(),
                                                   std::numeric_limits<std::int64_t>::min(), 700, 300, 10, 12, 14));
  for (auto const* text :
       {"", "-", ".5", "5.", "1e3", "0.001", "92233720368547758.08", "+1", " 1", "1,5", "99999999999999999999999999999999999999999"}) {
    EXPECT_THAT(amount(std::string_view{text}), HasSubstr("column 'amount'")) << text;
  }
  EXPECT_THAT(amount(1e300), HasSubstr("beyond 64 bits"));
  EXPECT_EQ(amount(1e-300), "");
}

TEST_F(rows_from_messages, texts_times_and_nulls) {
  EXPECT_EQ(append({std::string_view{"7"}, std::int64_t{1}, std::string_view{"1970-01-01T00:00:01Z"}, {}, std::string_view{"b"}}), "");
  EXPECT_EQ(append({7.0, std::int64_t{2}, std::int64_t{5}, {}, std::string_view{"b"}}), "");
  EXPECT_THAT(table.columns[0].values, ElementsAre(7, 7));
  EXPECT_THAT(table.columns[2].values, ElementsAre(1'000'000, 5));
  EXPECT_THAT(table.columns[4].words, ElementsAre("b"));
  EXPECT_TRUE(table.columns[3].is_null(0) && table.columns[3].is_null(1));
  EXPECT_EQ(amount(std::int64_t{5}), "");
  EXPECT_FALSE(table.columns[3].is_null(2));
  EXPECT_THAT(append({7.5, {}, {}, {}, {}}), HasSubstr("column 'user': found 7.5"));
  EXPECT_THAT(append({{}, {}, std::string_view{"yesterday"}, {}, {}}), HasSubstr("expected a time as"));
  EXPECT_THAT(append({{}, {}, {}, {}, std::int64_t{5}}), HasSubstr("column 'product': found 5; expected a text"));
  EXPECT_THAT(append({{}}), HasSubstr("a row of 1 cells; expected 5"));
  EXPECT_EQ(table.rows(), 3U);
}

}  // namespace
}  // namespace atone::features_test
