// What a network and a server can lose: the reply of a commit, a backend, the whole server, without a word.
#include <gmock/gmock.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "cutting_proxy.hpp"
#include "postgres_batches.hpp"

namespace atone::test {
namespace {

using testing::HasSubstr;

class postgres_loss : public postgres_test {
 protected:
  void SetUp() override {
    postgres_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    proxy_ = std::make_unique<cutting_proxy>(server().port());
    through_ = open_store_at(address_through_proxy());
    ASSERT_TRUE(through_);
    auto opened = through_->open_journal();
    ASSERT_TRUE(opened) << opened.error().message;
    journal_ = std::move(*opened);
    ASSERT_TRUE(journal_->take_over(node_id{"node-1"}));
    ASSERT_TRUE(journal_->commit(starting(1'000), batch_number{1}));  // the call is prepared from here on
  }

  std::string address_through_proxy() const {
    return "postgresql://atone@127.0.0.1:" + std::to_string(proxy_->port()) + "/" + database_ + "?sslmode=disable";
  }

  // Each started saga has its row, its one event and its key.
  void expect_sagas(int count) {
    EXPECT_EQ(rows_in("saga"), std::to_string(count));
    EXPECT_EQ(rows_in("journal"), std::to_string(count));
  }

  std::unique_ptr<cutting_proxy> proxy_;
  std::unique_ptr<store> through_;
  std::unique_ptr<journal> journal_;
};

TEST_F(postgres_loss, the_lost_reply_of_a_commit_is_found_out_and_nothing_is_written_twice) {
  proxy_->lose_next_answer();
  auto const report = journal_->commit(starting(1, 20), batch_number{2});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(proxy_->cuts(), 1);
  expect_sagas(21);
  EXPECT_EQ(ask("select batch_number from atone.writer"), "2");
  EXPECT_EQ(std::to_string(report->database_time.time_since_epoch().count()),
            ask("select (extract(epoch from committed_at) * 1000000)::bigint from atone.writer"));
  EXPECT_FINE(journal_->commit(starting(50), batch_number{3}));
}

TEST_F(postgres_loss, a_request_that_never_arrived_is_sent_again) {
  proxy_->lose_next_request();
  EXPECT_FINE(journal_->commit(starting(1, 20), batch_number{2}));
  EXPECT_EQ(proxy_->cuts(), 1);
  expect_sagas(21);
}

TEST_F(postgres_loss, the_lost_reply_names_the_losers_all_the_same) {
  auto first = starting(1);
  first.starts[0].row.key = business_key{"taken"};
  ASSERT_TRUE(journal_->commit(first, batch_number{2}));
  auto second = starting(2);
  second.starts[0].row.key = business_key{"taken"};
  proxy_->lose_next_answer();
  auto const report = journal_->commit(second, batch_number{3});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->losers.size(), 1U);
  EXPECT_EQ(report->losers[0].existing, numbered_saga(1));
}

TEST_F(postgres_loss, a_lost_reply_after_another_took_over_is_fenced) {
  auto other = store_->open_journal();
  ASSERT_TRUE(other);
  proxy_->swallow_everything(true);
  std::thread taking{[&] {
    EXPECT_TRUE((*other)->take_over(node_id{"node-1"}));
    proxy_->swallow_everything(false);
  }};
  auto const stale = journal_->commit(starting(1), batch_number{2});
  taking.join();
  // The request may have slipped through before the hole opened: then its answer comes late, and is true. Else it is fenced.
  if (stale) {
    expect_sagas(2);  // the fixture's and this one
  } else {
    EXPECT_EQ(stale.error().code, errc::fenced);
  }
  EXPECT_EQ(rows_in("saga"), rows_in("journal"));
  auto const next = journal_->commit(starting(1, 7), batch_number{stale ? 3U : 2U});
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, errc::fenced);
}

TEST_F(postgres_loss, b51_a_black_hole_ends_the_wait_and_is_reported_as_unknown) {
  auto limits = short_limits();
  limits.answer = std::chrono::milliseconds{400};
  limits.connect = std::chrono::seconds{2};
  postgres::retry_limits retry;
  retry.reconnect_total = std::chrono::milliseconds{20};
  auto opened = postgres::open_with_limits(address_through_proxy(), limits, retry);
  ASSERT_TRUE(opened);
  auto journal = (*opened)->open_journal();
  ASSERT_TRUE(journal);
  ASSERT_TRUE((*journal)->take_over(node_id{"node-1"}));
  proxy_->swallow_everything(true);
  auto const before = std::chrono::steady_clock::now();
  auto const lost = (*journal)->commit(starting(1), batch_number{1});
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds{10});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, errc::outcome_unknown) << lost.error().message;
  EXPECT_TRUE(lost.error().retryable());
  proxy_->swallow_everything(false);
  EXPECT_FINE((*journal)->commit(starting(1), batch_number{1}));  // the caller repeats the same number
  expect_sagas(2);
}

TEST_F(postgres_loss, b51_backends_ended_again_and_again_lose_no_batch) {
  std::atomic<bool> done{false};
  std::atomic<int> ended{0};
  std::thread ending{[&] {
    while (!done) {
      // As an administrator would, from another connection: whoever writes now.
      ask("select pg_terminate_backend(backend_pid) from atone.writer");
      ++ended;
    }
  }};
  // As the port asks: the same batch under the same number until it is done.
  auto const commit = [&](std::uint32_t number) {
    auto report = journal_->commit(starting(10'000 + number * 10, 5), batch_number{number});
    for (int again = 0; again < 20 && !report && report.error().retryable(); ++again) {
      report = journal_->commit(starting(10'000 + number * 10, 5), batch_number{number});
    }
    EXPECT_FINE(report);
    return report.has_value();
  };
  std::uint32_t number = 2;
  while ((number <= 40 || ended < 5) && commit(number)) ++number;
  done = true;
  ending.join();
  expect_sagas(1 + 5 * static_cast<int>(number - 2));
  EXPECT_EQ(ask("select count(*) from pg_stat_activity where application_name = 'atone' and datname = current_database() "
                "and pid <> (select backend_pid from atone.writer)"),
            "0");  // nothing is left behind
}

TEST_F(postgres_loss, b48_a_read_only_server_is_waited_for_and_written_to_again) {
  // The server turns read-only under an open session, as a demoted primary does.
  server().psql("alter database " + database_ + " set default_transaction_read_only = on");
  ask("select pg_terminate_backend(backend_pid) from atone.writer");
  auto const refused = journal_->commit(starting(1), batch_number{2});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().retryable()) << refused.error().message;
  server().psql("alter database " + database_ + " reset default_transaction_read_only");
  EXPECT_FINE(journal_->commit(starting(1), batch_number{2}));
  expect_sagas(2);
}

TEST_F(postgres_loss, a_server_killed_in_the_middle_of_commits_keeps_all_it_acknowledged) {
  // A server of its own: the kill must not touch the other tests'.
  postgres_server own;
  auto opened = open_store_at(own.address(own.make_database()));
  ASSERT_TRUE(opened && opened->migrate());
  auto journal = opened->open_journal();
  ASSERT_TRUE(journal && (*journal)->take_over(node_id{"node-1"}));
  std::atomic<std::uint32_t> acknowledged{0};
  std::thread killing{[&] {
    while (acknowledged < 25) std::this_thread::yield();
    own.kill();
  }};
  std::uint32_t number = 1;
  for (;; ++number) {
    auto const report = (*journal)->commit(starting(number * 10, 3), batch_number{number});
    if (!report) break;
    acknowledged = number;
  }
  killing.join();
  own.start();
  // The one whose outcome stayed open is repeated; then each is there, once.
  ASSERT_TRUE((*journal)->commit(starting(number * 10, 3), batch_number{number}));
  auto reader = opened->open_reader();
  ASSERT_TRUE(reader);
  auto const counts = (*reader)->counts();
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->at(saga_status::running), 3 * number);
  for (std::uint32_t checked = 1; checked <= number; ++checked) {
    auto const history = (*reader)->history(numbered_saga(checked * 10));
    ASSERT_TRUE(history);
    EXPECT_EQ(history->size(), 1U) << "batch " << checked;
  }
}

TEST_F(postgres_loss, an_unreachable_server_is_unavailable_within_the_limits) {
  auto const nobody = postgres::open_with_limits("postgresql://atone:secret@127.0.0.1:1/none", short_limits(), postgres::retry_limits{});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, errc::unavailable);
  EXPECT_THAT(nobody.error().message, HasSubstr("can't connect"));
  EXPECT_THAT(nobody.error().message, testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace atone::test
