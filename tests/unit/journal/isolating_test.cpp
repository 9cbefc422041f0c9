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
    for (auto const& start : batch.starts) {
      if (start.row.id == culprit_) return error{errc::bad_data, "refused"};
    }
    kept.push_back(batch);
    numbers.push_back(number.value());
    commit_report report;
    report.database_time = timestamp{duration{static_cast<std::int64_t>(number.value())}};
    return report;
  }

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

TEST(commit_isolating, a_halved_batch_leaves_all_its_requests_to_the_caller) {
  picky_journal to{3};
  auto const report = commit_isolating(to, asked_for(4), batch_number{5});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->rejected.size(), 1U);
  EXPECT_EQ(report->rejected[0].saga, numbered(3));
  ASSERT_EQ(to.kept.size(), 2U);  // 1 and 2; 4
  EXPECT_THAT(to.kept[0].taken, IsEmpty());
  EXPECT_THAT(to.kept[1].taken, IsEmpty());
  EXPECT_THAT(report->taken_left, ElementsAre(101, 102, 103, 104));
  EXPECT_THAT(to.numbers, ElementsAre(5, 6));
  EXPECT_EQ(report->last, batch_number{6});
  EXPECT_EQ(report->report.database_time, timestamp{duration{6}});
}

}  // namespace
}  // namespace atone::test
