// Lists: newest first, pages without gaps or repeats, filters that take their text literally.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "store_suite.hpp"

namespace atone::test {
namespace {

std::vector<saga_id> ids_of(std::vector<saga_row> const& rows) {
  std::vector<saga_id> ids;
  for (auto const& row : rows) ids.push_back(row.id);
  return ids;
}

TEST_P(store_suite, lists_are_newest_first_and_limited) {
  EXPECT_FINE(commit(starting(1, 5)));
  saga_filter filter;
  filter.limit = 3;
  EXPECT_THAT(ids_of(MUST(reader_->list(filter))), testing::ElementsAre(numbered(5), numbered(4), numbered(3)));
  filter.before = numbered(3);
  EXPECT_THAT(ids_of(MUST(reader_->list(filter))), testing::ElementsAre(numbered(2), numbered(1)));
  filter.before = numbered(1);
  EXPECT_TRUE(MUST(reader_->list(filter)).empty());
}

TEST_P(store_suite, a_page_is_never_larger_than_the_limit_of_the_port) {
  EXPECT_FINE(commit(starting(1, saga_filter::page_max + 1)));
  saga_filter filter;
  filter.limit = saga_filter::page_max + 500;
  EXPECT_EQ(MUST(reader_->list(filter)).size(), saga_filter::page_max);
}

TEST_P(store_suite, filters_hold_together) {
  auto batch = starting(1, 6);
  batch.starts[1].row.definition.name = "order-returned";
  batch.starts[4].row.definition.name = "order-returned";
  batch.changes.push_back(change_of(5, saga_status::parked, 1));
  batch.changes.push_back(change_of(6, saga_status::completed, 1));
  EXPECT_FINE(commit(batch));
  saga_filter filter;
  filter.definition = "order-returned";
  EXPECT_THAT(ids_of(MUST(reader_->list(filter))), testing::ElementsAre(numbered(5), numbered(2)));
  filter.status = saga_status::running;
  EXPECT_THAT(ids_of(MUST(reader_->list(filter))), testing::ElementsAre(numbered(2)));
  filter.definition.clear();
  filter.since = at(3);
  EXPECT_THAT(ids_of(MUST(reader_->list(filter))), testing::ElementsAre(numbered(4), numbered(3)));
  filter.before = numbered(4);
  EXPECT_THAT(ids_of(MUST(reader_->list(filter))), testing::ElementsAre(numbered(3)));
  filter = saga_filter{};
  filter.status = saga_status::completed;
  EXPECT_THAT(ids_of(MUST(reader_->list(filter))), testing::ElementsAre(numbered(6)));
  filter.definition = "order";  // a name is exact
  EXPECT_TRUE(MUST(reader_->list(filter)).empty());
}

// Text of a filter means itself: wildcards, quotes, backslashes, case.
TEST_P(store_suite, b63_filter_text_is_taken_literally) {
  std::vector<std::string> const keys{"100%",       "100 percent", "a_b",      "axb",      "it's",
                                      "\"quoted\"", "back\\slash", "Umlaut-ä", "umlaut-ä", "a"};
  journal_batch batch;
  for (std::uint32_t number = 0; number < keys.size(); ++number) batch.starts.push_back(start_of(number + 1, keys[number]));
  EXPECT_FINE(commit(batch));
  std::map<std::string, std::vector<std::uint32_t>> const expected{
      {"100%", {1}}, {"100", {2, 1}}, {"%", {}},        {"_", {}},         {"a_", {3}},  {"a", {10, 4, 3}},   {"it'", {5}},
      {"\"", {6}},   {"back\\", {7}}, {"back\\\\", {}}, {"Umlaut-ä", {8}}, {"uml", {9}}, {"' OR 1=1 --", {}},
  };
  for (auto const& [prefix, numbers] : expected) {
    saga_filter filter;
    filter.key_prefix = prefix;
    std::vector<saga_id> ids;
    for (auto const number : numbers) ids.push_back(numbered(number));
    EXPECT_EQ(ids_of(MUST(reader_->list(filter))), ids) << prefix;
  }
}

// BUG_REPORTS B-63: 1,000 sagas listed in pages of 50 while 100 more start and 100 end, many at equal times.
TEST_P(store_suite, b63_each_old_saga_is_listed_exactly_once_while_others_start_and_end) {
  auto batch = starting(1, 1'000);
  for (auto& start : batch.starts) start.row.started_at = at(0);
  EXPECT_FINE(commit(batch));
  std::map<saga_id, int> times;
  saga_filter filter;
  for (std::uint32_t page = 0;; ++page) {
    auto const rows = MUST(reader_->list(filter));
    if (rows.empty()) break;
    for (auto const& row : rows) ++times[row.id];
    filter.before = rows.back().id;
    if (page >= 10) continue;
    auto more = starting(2'000 + 10 * page, 10);
    for (std::uint32_t number = 1; number <= 10; ++number) more.changes.push_back(change_of(page * 10 + number, saga_status::completed, 1));
    EXPECT_FINE(commit(more));
  }
  for (std::uint32_t number = 1; number <= 1'000; ++number) EXPECT_EQ(times[numbered(number)], 1) << number;
  EXPECT_EQ(times.size(), 1'000u);
}

TEST_P(store_suite, counts_follow_every_change) {
  EXPECT_TRUE(MUST(reader_->counts()).empty());
  auto batch = starting(1, 5);
  batch.changes.push_back(change_of(1, saga_status::parked, 1));
  batch.changes.push_back(change_of(2, saga_status::completed, 1));
  EXPECT_FINE(commit(batch));
  std::map<saga_status, std::uint64_t> expected{{saga_status::running, 3}, {saga_status::parked, 1}, {saga_status::completed, 1}};
  EXPECT_EQ(MUST(reader_->counts()), expected);
  journal_batch next;
  next.changes.push_back(change_of(1, saga_status::compensated, 2));
  next.changes.push_back(change_of(2, saga_status::completed, 2));  // again: counted once
  next.changes.push_back(change_of(3, saga_status::completed, 2));
  auto ended = start_of(6);
  ended.row.status = saga_status::completed;
  next.starts.push_back(ended);
  EXPECT_FINE(commit(next));
  expected = {{saga_status::running, 2}, {saga_status::compensated, 1}, {saga_status::completed, 3}};
  EXPECT_EQ(MUST(reader_->counts()), expected);
}

}  // namespace
}  // namespace atone::test
