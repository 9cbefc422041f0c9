// The real writer over a journal that answers by script: a failed commit is repeated under its own number until its fate is
// known, and only then is anybody told.
#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "library/writer_thread.hpp"

namespace atone::library {
namespace {

using ::testing::ElementsAre;

// Answers commits by script, then with success; notes the numbers it was asked for.
class scripted_journal final : public journal {
 public:
  struct notes {
    std::mutex lock;
    std::deque<errc> script;
    std::vector<std::uint64_t> numbers;
    std::vector<std::size_t> records;
    bool loses_answers = false;  // what is scripted to fail has taken effect all the same
    std::uint64_t last = 0;
  };
  explicit scripted_journal(std::shared_ptr<notes> of) : of_(std::move(of)) {}

  result<epoch> take_over(node_id const&) override { return epoch{1}; }
  result<commit_report> commit(journal_batch const& batch, batch_number number) override {
    std::lock_guard const held{of_->lock};
    of_->records.push_back(batch.records.size());
    return answer(number);
  }
  result<commit_report> commit_with_sql(sql_statement const&, answer_to_batch const& on_success, batch_number number) override {
    std::lock_guard const held{of_->lock};
    bool const known = number.value() == of_->last;  // took effect: reported without running the statement again
    if (!known) of_->records.push_back(on_success(R"({"rows":1,"row":null})").records.size());
    return answer(number);
  }
  result<void> load_open(std::vector<shard> const&, saga_sink const&) override { return {}; }
  result<void> publish(definition_row const&) override { return {}; }
  result<timestamp> now() override { return timestamp{}; }
  std::uint16_t shards() const override { return 1; }

 private:
  result<commit_report> answer(batch_number number) {
    of_->numbers.push_back(number.value());
    bool const fails = !of_->script.empty();
    if (!fails || of_->loses_answers) of_->last = number.value();
    if (!fails) return commit_report{};
    auto const code = of_->script.front();
    of_->script.pop_front();
    return error{code, "scripted"};
  }
  std::shared_ptr<notes> of_;
};

class writer_thread_test : public testing::Test {
 protected:
  writer_thread_test() : writer_(loop_, std::make_unique<scripted_journal>(notes_), clock_) {}

  void script(std::deque<errc> codes) { notes_->script = std::move(codes); }
  // Runs the loop until the writer has answered.
  template <class T, class Ask>
  result<T> wait_for(Ask const& ask) {
    std::optional<result<T>> heard;
    auto guard = boost::asio::make_work_guard(loop_);
    ask([&](result<T> outcome) {
      heard.emplace(std::move(outcome));
      guard.reset();
    });
    loop_.restart();
    loop_.run();
    return *heard;
  }
  result<isolating_report> commit() {
    journal_batch batch;
    journal_record record;
    record.saga = saga_id{{1}};
    batch.records.push_back(record);
    return wait_for<isolating_report>([&](auto done) { writer_.commit(batch, done); });
  }
  result<runtime::batch_writer::sql_outcome> run() {
    auto const one_record = [](std::string_view) {
      journal_batch batch;
      batch.records.emplace_back();
      return batch;
    };
    return wait_for<runtime::batch_writer::sql_outcome>([&](auto done) { writer_.commit_sql(sql_statement{}, one_record, done); });
  }
  std::vector<std::uint64_t> const& numbers() const { return notes_->numbers; }

  boost::asio::io_context loop_;
  database_clock clock_{timestamp{}};
  std::shared_ptr<scripted_journal::notes> notes_ = std::make_shared<scripted_journal::notes>();
  writer_thread writer_;
};

TEST_F(writer_thread_test, a_commit_that_the_store_could_not_take_is_repeated_under_its_number) {
  script({errc::unavailable, errc::outcome_unknown, errc::serialization});
  EXPECT_TRUE(commit().has_value());
  EXPECT_THAT(numbers(), ElementsAre(1, 1, 1, 1));
  EXPECT_TRUE(writer_.healthy());
  EXPECT_TRUE(commit().has_value());
  EXPECT_EQ(numbers().back(), 2U);
}

TEST_F(writer_thread_test, batches_are_numbered_without_gaps) {
  for (int n = 0; n < 3; ++n) EXPECT_TRUE(commit().has_value());
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3));
}

TEST_F(writer_thread_test, a_fenced_commit_is_not_repeated) {
  script({errc::fenced});
  auto const outcome = commit();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, errc::fenced);
  EXPECT_THAT(numbers(), ElementsAre(1));
  EXPECT_FALSE(writer_.healthy());
}

TEST_F(writer_thread_test, refused_data_names_its_saga_and_is_not_repeated) {
  script({errc::bad_data});
  auto const outcome = commit();
  ASSERT_TRUE(outcome.has_value());
  ASSERT_EQ(outcome->rejected.size(), 1U);
  EXPECT_EQ(outcome->rejected[0].saga, (saga_id{{1}}));
  EXPECT_TRUE(commit().has_value());
  EXPECT_THAT(numbers(), ElementsAre(1, 1)) << "a refused number is not used up";
}

TEST_F(writer_thread_test, a_store_that_stays_away_ends_with_the_grace) {
  script(std::deque<errc>(100'000, errc::unavailable));
  auto const outcome = wait_for<isolating_report>([&](auto done) {
    journal_batch batch;
    batch.alerts.emplace_back();
    writer_.commit(batch, done);
    writer_.stop(duration{0});
  });
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, errc::unavailable);
}

TEST_F(writer_thread_test, a_statement_whose_commit_lost_its_answer_is_not_run_again_and_keeps_its_answer) {
  notes_->loses_answers = true;
  script({errc::outcome_unknown});
  auto const outcome = run();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->answer, R"({"rows":1,"row":null})");
  EXPECT_EQ(notes_->records.size(), 1U);
  EXPECT_THAT(numbers(), ElementsAre(1, 1));
}

TEST_F(writer_thread_test, a_refused_statement_is_an_answer_and_uses_no_number) {
  script({errc::bad_data});
  auto const refused = run();
  ASSERT_TRUE(refused.has_value());
  EXPECT_FALSE(refused->answer.has_value());
  EXPECT_EQ(refused->refusal, "scripted");
  EXPECT_TRUE(commit().has_value());
  EXPECT_THAT(numbers(), ElementsAre(1, 1));
}

TEST_F(writer_thread_test, an_empty_batch_is_answered_in_its_turn_and_writes_nothing) {
  EXPECT_TRUE(wait_for<isolating_report>([&](auto done) { writer_.commit(journal_batch{}, done); }).has_value());
  EXPECT_TRUE(numbers().empty());
}

TEST_F(writer_thread_test, a_failed_check_keeps_its_number_until_its_fate_is_known) {
  script({errc::outcome_unknown, errc::unavailable});
  std::promise<result<void>> told;
  writer_.check([&](result<void> outcome) { told.set_value(std::move(outcome)); });
  EXPECT_FALSE(told.get_future().get().has_value()) << "told at once";
  EXPECT_TRUE(commit().has_value());
  EXPECT_THAT(numbers(), ElementsAre(1, 1, 1, 2));
}

// What has been committed is told before handlers that were ready earlier, when the loop is asked to look; once, and in order.
TEST_F(writer_thread_test, news_do_not_stand_behind_what_is_ready) {
  std::vector<std::string> order;
  boost::asio::post(loop_, [&] { order.emplace_back("ready"); });
  for (auto const* which : {"first", "second"}) {
    writer_.commit(journal_batch{}, [&order, which](result<isolating_report>) { order.emplace_back(which); });
  }
  std::promise<void> behind_both;
  writer_.check([&](result<void>) { behind_both.set_value(); });
  behind_both.get_future().wait();
  writer_.tell_news();
  loop_.run();
  EXPECT_THAT(order, ElementsAre("first", "second", "ready"));
}

}  // namespace
}  // namespace atone::library
