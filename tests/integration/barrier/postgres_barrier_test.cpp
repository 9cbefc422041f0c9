// The participant's barrier on PostgreSQL through the C++ helper, at each isolation level.
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>

#include <atone/participant.hpp>

#include "cutting_proxy.hpp"
#include "postgres_server.hpp"

namespace atone::test {
namespace {

using participant::answer;
using participant::call;
using participant::outcome;
using participant::sql_session;
using participant::verdict;
using testing::HasSubstr;

call call_of(operation op, std::string step = "order") {
  call made;
  made.saga = "01JDZ4M6GQ5V7Y8N2W3X4R5T6K";
  made.step = std::move(step);
  made.op = op;
  return made;
}

class postgres_barrier : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ATONE_NEED_POSTGRES();
    database_ = server().make_database();
    server().psql("alter database " + database_ + " set default_transaction_isolation = '" + GetParam() + "'");
    participant_ = open_at(server().address(database_));
    ASSERT_TRUE(participant_);
    auto const installed = participant_->install_barrier();
    ASSERT_TRUE(installed) << installed.error().message;
    auto const made = participant_->transact([](sql_session& in) {
      return in.script("create table effect (id int primary key, n int not null); insert into effect values (1, 0)");
    });
    ASSERT_TRUE(made) << made.error().message;
  }

  void TearDown() override {
    if (!database_.empty()) server().drop_database(database_);
  }

  static postgres_server& server() { return postgres_server::shared(); }

  static std::unique_ptr<participant::participant_database> open_at(std::string const& address) {
    auto opened = participant::open_database(address);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }

  // The business: one more (or less) effect, counted also where the transaction is rolled back.
  result<answer> add(sql_session& in, int by) {
    ++tried_;
    auto const done = in.execute("update effect set n = n + $1::int where id = 1 returning n", {std::to_string(by)});
    if (!done) return done.error();
    return answer::done(R"({"n":)" + *done->front().at("n") + "}");
  }

  result<outcome> run(operation op, int by = 1, std::string step = "order") {
    return participant_->run(call_of(op, std::move(step)), [&](sql_session& in) { return add(in, by); });
  }

  void expect(result<outcome> const& got, verdict said, std::string const& body, int status = 200) {
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(participant::name(got->verdict), participant::name(said));
    EXPECT_EQ(got->answer.body, body);
    EXPECT_EQ(got->answer.status, status);
    EXPECT_EQ(got->answer.refused, status >= 400);
  }

  // Ends when some other transaction of this database waits for a lock.
  void wait_until_somebody_waits() const {
    for (int attempt = 0; attempt < 200; ++attempt) {
      if (server().psql("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = '" + database_ + "'") != "0")
        return;
    }
    FAIL() << "nobody waits for the open transaction";
  }

  std::string effects() const { return server().psql("select n from effect", database_); }

  std::string database_;
  std::unique_ptr<participant::participant_database> participant_;
  std::atomic<int> tried_{0};
};

TEST_P(postgres_barrier, b06_a_duplicate_gets_the_stored_answer_and_does_nothing) {
  expect(run(operation::act), verdict::proceed, R"({"n":1})");
  for (int again = 0; again < 5; ++again) expect(run(operation::act), verdict::duplicate, R"({"n":1})");
  EXPECT_EQ(effects(), "1");
  EXPECT_EQ(tried_, 1);
}

TEST_P(postgres_barrier, an_action_is_compensated_once) {
  expect(run(operation::act), verdict::proceed, R"({"n":1})");
  expect(run(operation::compensate, -1), verdict::proceed, R"({"n":0})");
  expect(run(operation::compensate, -1), verdict::duplicate, R"({"n":0})");
  EXPECT_EQ(effects(), "0");
}

TEST_P(postgres_barrier, b05_a_compensation_without_action_is_empty_and_stops_a_late_one) {
  expect(run(operation::compensate, -1), verdict::empty, "{}");
  expect(run(operation::compensate, -1), verdict::duplicate, "{}");
  auto const late = run(operation::act);
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->verdict, verdict::refused);
  EXPECT_EQ(late->answer.status, 409);
  EXPECT_THAT(late->answer.body, HasSubstr("already compensated"));
  EXPECT_EQ(effects(), "0");
  EXPECT_EQ(tried_, 0);
}

TEST_P(postgres_barrier, b05_a_cancel_without_try_is_empty_and_stops_a_late_one) {
  expect(run(operation::cancel, -1), verdict::empty, "{}");
  EXPECT_EQ(run(operation::try_)->verdict, verdict::refused);
  EXPECT_EQ(run(operation::confirm)->verdict, verdict::refused);
  EXPECT_EQ(tried_, 0);
}

TEST_P(postgres_barrier, confirm_and_cancel_exclude_each_other) {
  expect(run(operation::try_, 1, "a"), verdict::proceed, R"({"n":1})");
  expect(run(operation::confirm, 10, "a"), verdict::proceed, R"({"n":11})");
  EXPECT_EQ(run(operation::cancel, -1, "a")->verdict, verdict::refused);
  expect(run(operation::confirm, 10, "a"), verdict::duplicate, R"({"n":11})");
  expect(run(operation::try_, 1, "b"), verdict::proceed, R"({"n":12})");
  expect(run(operation::cancel, -1, "b"), verdict::proceed, R"({"n":11})");
  EXPECT_EQ(run(operation::confirm, 10, "b")->verdict, verdict::refused);
  expect(run(operation::cancel, -1, "b"), verdict::duplicate, R"({"n":11})");
  EXPECT_EQ(effects(), "11");
}

TEST_P(postgres_barrier, commit_and_abort_exclude_each_other) {
  expect(run(operation::abort, -1, "a"), verdict::empty, "{}");
  EXPECT_EQ(run(operation::prepare, 1, "a")->verdict, verdict::refused);
  expect(run(operation::prepare, 1, "b"), verdict::proceed, R"({"n":1})");
  expect(run(operation::commit, 1, "b"), verdict::proceed, R"({"n":2})");
  EXPECT_EQ(run(operation::abort, -1, "b")->verdict, verdict::refused);
}

TEST_P(postgres_barrier, a_refusal_is_stored_and_its_work_undone) {
  auto const refuse = [&](sql_session& in) {
    static_cast<void>(add(in, 5));
    return result<answer>{answer::no(R"({"why":"limit"})", 422)};
  };
  auto const first = participant_->run(call_of(operation::act), refuse);
  expect(first, verdict::proceed, R"({"why":"limit"})", 422);
  expect(participant_->run(call_of(operation::act), refuse), verdict::duplicate, R"({"why":"limit"})", 422);
  EXPECT_EQ(effects(), "0");
  EXPECT_EQ(tried_, 1);
  expect(run(operation::compensate, -5), verdict::empty, "{}");  // of a refused action there is nothing to undo
  EXPECT_EQ(effects(), "0");
}

TEST_P(postgres_barrier, a_refusal_after_a_failed_statement_is_stored_too) {
  auto const refused = participant_->run(call_of(operation::act), [](sql_session& in) -> result<answer> {
    auto const twice = in.execute("insert into effect values (1, 1)", {});
    EXPECT_FALSE(twice);
    return answer::no("{}");
  });
  expect(refused, verdict::proceed, "{}", 409);
  expect(run(operation::act), verdict::duplicate, "{}", 409);
}

TEST_P(postgres_barrier, an_error_leaves_nothing_and_the_next_attempt_proceeds) {
  auto const failed = participant_->run(call_of(operation::act), [&](sql_session& in) -> result<answer> {
    static_cast<void>(add(in, 5));
    return error{errc::unavailable, "the shop is closed"};
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the shop is closed");
  EXPECT_EQ(effects(), "0");
  expect(run(operation::act), verdict::proceed, R"({"n":1})");
}

TEST_P(postgres_barrier, a_statement_that_fails_unnoticed_is_not_an_answer) {
  auto const failed = participant_->run(call_of(operation::act), [](sql_session& in) -> result<answer> {
    static_cast<void>(in.execute("select no_such_function()", {}));
    return answer::done("{}");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, errc::bad_data);
  expect(run(operation::act), verdict::proceed, R"({"n":1})");
}

TEST_P(postgres_barrier, the_business_can_not_end_the_transaction) {
  auto const failed = participant_->run(call_of(operation::act), [](sql_session& in) -> result<answer> {
    static_cast<void>(in.script("commit"));
    return answer::done("{}");
  });
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("not allowed"));
  expect(run(operation::act), verdict::proceed, R"({"n":1})");
}

// Twelve of the same at once: one works, the others wait for it (read committed) or repeat their transaction (40001).
TEST_P(postgres_barrier, b06_concurrent_duplicates_all_get_the_one_answer) {
  std::vector<std::future<result<outcome>>> all;
  for (int one = 0; one < 12; ++one) all.push_back(std::async(std::launch::async, [&] { return run(operation::act); }));
  int proceeded = 0;
  for (auto& one : all) {
    auto const got = one.get();
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->answer.body, R"({"n":1})");
    proceeded += got->verdict == verdict::proceed ? 1 : 0;
  }
  EXPECT_EQ(proceeded, 1);
  EXPECT_EQ(effects(), "1");
}

// Different sagas on one row: conflicts repeat the whole transaction, nothing is lost, nothing done twice.
TEST_P(postgres_barrier, b49_conflicting_business_of_different_sagas_all_succeeds) {
  std::vector<std::future<result<outcome>>> all;
  for (int one = 0; one < 8; ++one) {
    all.push_back(std::async(std::launch::async, [this, one] { return run(operation::act, 1, "step-" + std::to_string(one)); }));
  }
  for (auto& one : all) {
    auto const got = one.get();
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->verdict, verdict::proceed);
  }
  EXPECT_EQ(effects(), "8");
}

// The action is inside its transaction when its compensation arrives: the compensation waits for it, then undoes it.
TEST_P(postgres_barrier, b07_a_compensation_waits_for_the_slow_action_it_overtakes) {
  std::future<result<outcome>> undone;
  auto const done = participant_->run(call_of(operation::act), [&](sql_session& in) {
    auto worked = add(in, 1);
    if (!undone.valid()) {
      undone = std::async(std::launch::async, [&] { return run(operation::compensate, -1); });
      wait_until_somebody_waits();
    }
    return worked;
  });
  expect(done, verdict::proceed, R"({"n":1})");
  expect(undone.get(), verdict::proceed, R"({"n":0})");
  EXPECT_EQ(effects(), "0");
}

// The same, and the slow action fails in the end: then there was nothing to undo, and a repeat of the action is refused.
TEST_P(postgres_barrier, b07_a_compensation_that_waited_for_an_action_that_failed_is_empty) {
  std::future<result<outcome>> undone;
  auto const failed = participant_->run(call_of(operation::act), [&](sql_session& in) -> result<answer> {
    static_cast<void>(add(in, 1));
    undone = std::async(std::launch::async, [&] { return run(operation::compensate, -1); });
    wait_until_somebody_waits();
    return error{errc::bad_data, "in the end it did not work"};
  });
  EXPECT_FALSE(failed);
  expect(undone.get(), verdict::empty, "{}");
  EXPECT_EQ(run(operation::act)->verdict, verdict::refused);
  EXPECT_EQ(effects(), "0");
}

// Replies are lost at each request of the transaction in turn, that of the commit among them: the repeat finds the stored
// answer where there is one, and the work is done once.
TEST_P(postgres_barrier, b06_a_lost_reply_at_any_request_does_the_work_once) {
  cutting_proxy proxy{server().port()};
  auto const through = open_at("postgresql://atone@127.0.0.1:" + std::to_string(proxy.port()) + "/" + database_ + "?sslmode=disable");
  ASSERT_TRUE(through);
  ASSERT_TRUE(through->transact([](sql_session&) { return result<void>{}; }));  // a connection lies ready
  constexpr int requests = 6;                                                   // begin, barrier, savepoint, business, answer, commit
  for (int request = 0; request < requests; ++request) {
    proxy.lose_answer_after(request);
    auto const got = through->run(call_of(operation::act, "step-" + std::to_string(request)), [&](sql_session& in) { return add(in, 1); });
    ASSERT_TRUE(got) << "request " << request << ": " << got.error().message;
    EXPECT_EQ(proxy.cuts(), request + 1);
    EXPECT_EQ(got->verdict, request == requests - 1 ? verdict::duplicate : verdict::proceed) << "request " << request;
    EXPECT_EQ(got->answer.body, R"({"n":)" + std::to_string(request + 1) + "}");
  }
  EXPECT_EQ(effects(), std::to_string(requests));
}

TEST_P(postgres_barrier, b51_backends_ended_under_the_pool_lose_and_double_nothing) {
  std::atomic<bool> done{false};
  std::thread ending{[&] {
    while (!done)
      server().psql("select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = '" + database_ +
                    "' and application_name = 'atone'");
  }};
  for (int step = 0; step < 30; ++step) {
    auto const got = run(operation::act, 1, "step-" + std::to_string(step));
    EXPECT_TRUE(got) << got.error().message;
    EXPECT_TRUE(got && (got->verdict == verdict::proceed || got->verdict == verdict::duplicate));
  }
  done = true;
  ending.join();
  EXPECT_EQ(effects(), "30");
}

INSTANTIATE_TEST_SUITE_P(at, postgres_barrier, testing::Values("read committed", "repeatable read", "serializable"),
                         [](testing::TestParamInfo<std::string> const& of) {
                           auto name = of.param;
                           for (auto& character : name) character = character == ' ' ? '_' : character;
                           return name;
                         });

}  // namespace
}  // namespace atone::test
