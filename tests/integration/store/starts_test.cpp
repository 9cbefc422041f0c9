// Starting sagas: rows, events, business keys and those who lose them.
#include "store_suite.hpp"

namespace atone::test {
namespace {

TEST_P(store_suite, a_start_is_found_by_id_with_its_first_event) {
  EXPECT_FINE(commit(starting(1)));
  auto const found = MUST(reader_->find(numbered(1)));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, row_of(1));
  auto const events = MUST(reader_->history(numbered(1)));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0], record_of(1, 1).event);
}

TEST_P(store_suite, what_was_never_started_is_not_found) {
  EXPECT_FALSE(MUST(reader_->find(numbered(9))));
  EXPECT_TRUE(MUST(reader_->history(numbered(9))).empty());
  EXPECT_TRUE(MUST(reader_->compensations(numbered(9))).empty());
  EXPECT_TRUE(MUST(reader_->actions(numbered(9))).empty());
  EXPECT_FALSE(MUST(reader_->find_by_key("order-placed", business_key{"none"})));
  EXPECT_FALSE(MUST(reader_->find_by_key("order-placed", business_key{""})));
}

TEST_P(store_suite, a_key_is_found_by_its_exact_name_only) {
  EXPECT_FINE(commit(starting_with_key(1, "order-7")));
  auto const found = MUST(reader_->find_by_key("order-placed", business_key{"order-7"}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, numbered(1));
  EXPECT_EQ(found->key.value(), "order-7");
  EXPECT_FALSE(MUST(reader_->find_by_key("order-placed", business_key{"ORDER-7"})));
  EXPECT_FALSE(MUST(reader_->find_by_key("order-placed", business_key{"order-"})));
  EXPECT_FALSE(MUST(reader_->find_by_key("another", business_key{"order-7"})));
}

TEST_P(store_suite, the_second_start_under_a_key_leaves_the_batch_with_all_that_is_its_own) {
  EXPECT_FINE(commit(starting_with_key(1, "order-7", "first body")));
  auto batch = starting_with_key(2, "order-7", "other body");
  batch.records.push_back(record_of(2, 2));
  batch.changes.push_back(change_of(2, saga_status::completed, 2));
  batch.compensations.push_back(compensation_of(2, "order", compensation_status::pending));
  batch.alerts.push_back(alert_of(2, "parked"));
  batch.outputs.push_back(output_of(2, "user-1", "{}"));
  batch.actions.push_back(action_of(2, "cancel"));
  auto const other = starting(3);  // a bystander in the same batch stays
  batch.starts.push_back(other.starts[0]);
  batch.records.push_back(other.records[0]);
  auto const report = MUST(commit(batch));
  ASSERT_EQ(report.losers.size(), 1u);
  EXPECT_EQ(report.losers[0].refused, numbered(2));
  EXPECT_EQ(report.losers[0].existing, numbered(1));
  EXPECT_EQ(report.losers[0].body, content_hash::of("first body"));
  EXPECT_FALSE(MUST(reader_->find(numbered(2))));
  EXPECT_TRUE(MUST(reader_->history(numbered(2))).empty());
  EXPECT_TRUE(MUST(reader_->compensations(numbered(2))).empty());
  EXPECT_TRUE(MUST(reader_->actions(numbered(2))).empty());
  EXPECT_TRUE(MUST(reader_->alerts(10)).empty());
  EXPECT_FALSE(MUST(reader_->last_output("order-placed", step_path{"features"}, "user-1")));
  EXPECT_TRUE(MUST(reader_->find(numbered(3))));
}

TEST_P(store_suite, two_starts_under_one_key_in_one_batch_the_first_wins) {
  auto batch = starting_with_key(1, "order-7", "mine");
  auto const second = starting_with_key(2, "order-7", "theirs");
  batch.starts.push_back(second.starts[0]);
  batch.records.push_back(second.records[0]);
  auto const report = MUST(commit(batch));
  ASSERT_EQ(report.losers.size(), 1u);
  EXPECT_EQ(report.losers[0].refused, numbered(2));
  EXPECT_EQ(report.losers[0].existing, numbered(1));
  EXPECT_EQ(report.losers[0].body, content_hash::of("mine"));
  EXPECT_TRUE(MUST(reader_->find(numbered(1))));
  EXPECT_FALSE(MUST(reader_->find(numbered(2))));
}

TEST_P(store_suite, a_key_belongs_to_the_name_of_the_saga) {
  auto batch = starting_with_key(1, "7");
  auto other = starting_with_key(2, "7");
  other.starts[0].row.definition.name = "order-returned";
  batch.starts.push_back(other.starts[0]);
  batch.records.push_back(other.records[0]);
  EXPECT_TRUE(MUST(commit(batch)).losers.empty());
  EXPECT_EQ(MUST(reader_->find_by_key("order-returned", business_key{"7"}))->id, numbered(2));
}

TEST_P(store_suite, a_key_that_one_store_could_not_keep_is_refused_by_all) {
  std::vector<std::string> const refused{std::string{"a\0b", 3},
                                         std::string(1, '\0'),
                                         "\xC3\x28",
                                         "\xC0\x80",
                                         "\xED\xA0\x80",
                                         "cut \xE2\x82",
                                         std::string(saga_start::key_bytes_max + 1, 'k')};
  for (auto const& key : refused) EXPECT_REFUSED(errc::bad_data, commit(starting_with_key(1, key)));
  EXPECT_FALSE(MUST(reader_->find(numbered(1))));
}

TEST_P(store_suite, the_longest_and_the_oddest_key_come_back) {
  std::string longest;  // that does not compress
  for (std::uint32_t part = 0; longest.size() < saga_start::key_bytes_max; ++part) longest += content_hash::of(std::to_string(part)).text();
  longest.resize(saga_start::key_bytes_max);
  std::vector<std::string> const taken{longest, " ", "\x01\x7F\n", "\xF4\x8F\xBF\xBF", "Z\u00FCrich \u27C2"};
  for (std::uint32_t number = 1; number <= taken.size(); ++number) {
    EXPECT_FINE(commit(starting_with_key(number, taken[number - 1])));
    auto const found = MUST(reader_->find_by_key("order-placed", business_key{taken[number - 1]}));
    ASSERT_TRUE(found) << number;
    EXPECT_EQ(found->key.value(), taken[number - 1]);
  }
}

TEST_P(store_suite, sagas_without_a_key_never_lose) {
  EXPECT_FINE(commit(starting(1, 3)));
  EXPECT_TRUE(MUST(commit(starting(4, 3))).losers.empty());
  EXPECT_EQ(MUST(reader_->list(saga_filter{})).size(), 6u);
}

TEST_P(store_suite, a_key_outlives_the_end_of_its_saga) {
  auto batch = starting_with_key(1, "order-7");
  batch.changes.push_back(change_of(1, saga_status::completed, 1));
  EXPECT_FINE(commit(batch));
  EXPECT_EQ(MUST(commit(starting_with_key(2, "order-7"))).losers.size(), 1u);
}

TEST_P(store_suite, a_saga_can_end_in_the_batch_that_starts_it) {
  auto batch = starting(1);
  auto change = change_of(1, saga_status::completed, 2);
  change.row.output = R"({"total": 1.50, "big": 9007199254740993})";
  change.row.crashes = 2;
  batch.records.push_back(record_of(1, 2));
  batch.changes.push_back(change);
  EXPECT_FINE(commit(batch));
  EXPECT_EQ(*MUST(reader_->find(numbered(1))), change.row);
}

TEST_P(store_suite, a_change_touches_only_what_may_change) {
  EXPECT_FINE(commit(starting_with_key(1, "order-7")));
  journal_batch batch;
  auto change = change_of(1, saga_status::compensating, 5);
  change.row.cause = "stock refused: none left";
  change.row.crashes = 1;
  change.row.definition.name = "forged";
  change.row.key = business_key{"forged"};
  change.row.started_at = at(999'999);
  batch.changes.push_back(change);
  EXPECT_FINE(commit(batch));
  auto const found = *MUST(reader_->find(numbered(1)));
  auto expected = row_of(1, "order-7");
  expected.status = saga_status::compensating;
  expected.updated_at = change.row.updated_at;
  expected.cause = "stock refused: none left";
  expected.crashes = 1;
  expected.last = sequence{5};
  EXPECT_EQ(found, expected);
}

TEST_P(store_suite, an_empty_batch_is_a_commit_like_any_other) {
  auto const before = MUST(writer_->now());
  auto const report = MUST(commit(journal_batch{}));
  EXPECT_TRUE(report.losers.empty());
  EXPECT_GE(report.database_time, before);
  EXPECT_GE(MUST(writer_->now()), report.database_time);
}

}  // namespace
}  // namespace atone::test
