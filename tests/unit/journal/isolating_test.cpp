// What a halved batch does with the start requests that its sagas came from.
#include <gmock/gmock.h>

#include <atone/journal.hpp>

namespace atone::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

saga_id numbered(std::uint8_t number) {
  saga_id::bytes bytes{};
  bytes.back() = number;
  return saga_id{bytes};
}

// Refuses every batch that holds saga `culprit`, keeps all others.
class picky_journal final : public journal {
 public:
  explicit picky_journal(std::uint8_t culprit) : culprit_(numbered(culprit)) {}

  result<commit_report> commit(journal_batch const& batch, batch_number number) override {
    if (!batch.taken.empty() && broken_for_requests_) return error{errc::unavailable, "the server is gone"};
    for (auto const& start : batch.starts) {
      if (start.row.id == culprit_) return error{errc::bad_data, "refused"};
    }
    kept.push_back(batch);
    numbers.push_back(number.value());
    commit_report report;
    report.database_time = timestamp{duration{static_cast<std::int64_t>(number.value())}};
    return report;
  }
  void break_for_requests() { broken_for_requests_ = true; }

  result<epoch> take_over(node_id const&) override { return epoch{1}; }
  result<commit_report> commit_with_sql(sql_statement const&, answer_to_batch const&, batch_number) override { return commit_report{}; }
  result<void> load_open(std::vector<shard> const&, saga_sink const&) override { return {}; }
  result<void> publish(definition_row const&) override { return {}; }
  result<timestamp> now() override { return timestamp{}; }
  std::uint16_t shards() const override { return 1; }

  std::vector<journal_batch> kept;
  std::vector<std::uint64_t> numbers;

 private:
  saga_id const culprit_;
  bool broken_for_requests_ = false;
};

journal_batch asked_for(std::uint8_t sagas) {
  journal_batch batch;
  for (std::uint8_t number = 1; number <= sagas; ++number) {
    saga_start start;
    start.row.id = numbered(number);
    batch.starts.push_back(start);
    batch.taken.push_back(100U + number);
  }
  return batch;
}

TEST(commit_isolating, a_batch_that_is_fine_takes_its_requests_along) {
  picky_journal to{9};
  ASSERT_TRUE(commit_isolating(to, asked_for(2), batch_number{5}));
  ASSERT_EQ(to.kept.size(), 1U);
  EXPECT_THAT(to.kept[0].taken, ElementsAre(101, 102));
}

TEST(commit_isolating, a_halved_batch_takes_all_requests_out_after_its_sagas) {
  picky_journal to{3};
  auto const report = commit_isolating(to, asked_for(4), batch_number{5});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->rejected.size(), 1U);
  EXPECT_EQ(report->rejected[0].saga, numbered(3));
  ASSERT_EQ(to.kept.size(), 3U);  // 1 and 2; 4; the requests
  EXPECT_THAT(to.kept[0].taken, IsEmpty());
  EXPECT_THAT(to.kept[1].taken, IsEmpty());
  EXPECT_THAT(to.kept[2].taken, ElementsAre(101, 102, 103, 104));
  EXPECT_TRUE(to.kept[2].starts.empty());
  EXPECT_THAT(to.numbers, ElementsAre(5, 6, 7));
  EXPECT_EQ(report->last, batch_number{7});
  EXPECT_EQ(report->report.database_time, timestamp{duration{7}});
}

TEST(commit_isolating, the_request_of_a_rejected_saga_is_not_handed_out_again) {
  picky_journal to{1};
  auto const report = commit_isolating(to, asked_for(1), batch_number{5});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->rejected.size(), 1U);
  ASSERT_EQ(to.kept.size(), 1U);
  EXPECT_THAT(to.kept[0].taken, ElementsAre(101));
  EXPECT_EQ(report->last, batch_number{5});
}

TEST(commit_isolating, requests_that_can_not_be_taken_out_are_an_error_like_any_other) {
  picky_journal to{1};
  to.break_for_requests();
  auto const report = commit_isolating(to, asked_for(1), batch_number{5});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, errc::unavailable);
}

}  // namespace
}  // namespace atone::test
