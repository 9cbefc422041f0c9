// The library on a real PostgreSQL: the same promises, the server killed under load, starts from SQL, and what a saga costs in commits.
#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/coordinator.hpp>

#include "postgres_server.hpp"

namespace atone {
namespace {

using test::postgres_server;
using ::testing::HasSubstr;

std::string const three_steps = R"(saga: three
version: 1
services: {shop: {local: shop}}
defaults:
  retry: {delay: 10ms, cap: 200ms}
  compensate: {delay: 10ms, cap: 200ms}
steps:
  - id: one
    call: shop one
    in: {n: =input.n}
    compensate: {call: shop undo_one, in: {n: =input.n}}
  - id: two
    call: shop two
    in: {n: =input.n}
    compensate: {call: shop undo_two, in: {n: =input.n}}
  - id: three
    call: shop three
    in: {n: =input.n}
    compensate: {call: shop undo_three, in: {n: =input.n}}
output: {n: =input.n}
)";

// Counts effects by idempotency key, as a participant with a barrier does.
class ledger {
 public:
  void bind(coordinator& to) {
    for (auto const* name : {"one", "two", "undo_one", "undo_two", "undo_three"}) {
      to.handle("shop", name, [this](call const& asked) {
        note(asked);
        return done();
      });
    }
    to.handle("shop", "three", [this](call const& asked) {
      if (asked.input().find("7}") != std::string::npos) return refused("sevens are unlucky");
      note(asked);
      return done();
    });
  }
  // saga/step -> applied actions minus applied compensations
  std::map<std::string, int> net() const {
    std::lock_guard const held{lock_};
    std::map<std::string, int> sums;
    for (auto const& [key, what] : effects_) sums[what.first] += what.second;
    return sums;
  }

 private:
  void note(call const& asked) {
    std::lock_guard const held{lock_};
    auto const where = asked.saga().text() + '/' + asked.step().text();
    effects_.emplace(asked.idempotency_key(), std::pair{where, asked.op() == operation::compensate ? -1 : 1});
  }

  mutable std::mutex lock_;
  std::map<std::string, std::pair<std::string, int>> effects_;
};

std::unique_ptr<coordinator> open(std::string const& address, ledger& with) {
  options how{address};
  how.handler_threads = 2;
  auto opened = coordinator::open(how);
  if (!opened) throw std::runtime_error{"open: " + opened.error().message};
  with.bind(**opened);
  if (auto const published = (*opened)->publish(three_steps); !published) throw std::runtime_error{"publish: " + published.error().message};
  if (auto const running = (*opened)->run(); !running) throw std::runtime_error{running.error().message};
  return std::move(*opened);
}

std::vector<std::future<result<saga_view>>> start_many(coordinator& sagas, int count) {
  std::vector<std::future<result<saga_view>>> ends;
  for (int n = 0; n < count; ++n) {
    auto promise = std::make_shared<std::promise<result<saga_view>>>();
    ends.push_back(promise->get_future());
    start_request what;
    what.saga = "three";
    what.key = business_key{"order-" + std::to_string(n)};
    what.input = R"({"n": )" + std::to_string(n) + "}";
    sagas.async_start(what, [promise, &sagas](result<started> begun) {
      if (!begun) return promise->set_value(begun.error());
      sagas.async_wait(begun->id, std::chrono::minutes{2}, [promise](result<saga_view> end) { promise->set_value(std::move(end)); });
    });
  }
  return ends;
}

TEST(library_postgres, sagas_end_and_cost_far_less_than_a_commit_each) {
  ATONE_NEED_POSTGRES();
  auto& server = postgres_server::shared();
  auto const database = server.make_database();
  ledger with;
  auto const sagas = open(server.address(database), with);
  auto ends = start_many(*sagas, 256);
  int compensated = 0;
  for (auto& one : ends) {
    auto const view = one.get();
    ASSERT_TRUE(view.has_value()) << view.error().message;
    EXPECT_TRUE(view->ended()) << view->row.cause;
    compensated += view->row.status == saga_status::compensated ? 1 : 0;
  }
  EXPECT_EQ(compensated, 25);  // those whose n ends in 7
  auto const figures = sagas->figures();
  std::cout << "commits a saga at 256 in flight: " << static_cast<double>(figures.commits) / 256 << '\n';
  EXPECT_LT(figures.commits, 256U);
}

TEST(library_postgres, the_server_killed_under_load_loses_nothing) {
  ATONE_NEED_POSTGRES();
  auto& server = postgres_server::shared();
  auto const database = server.make_database();
  ledger with;
  auto const sagas = open(server.address(database), with);
  auto ends = start_many(*sagas, 300);
  server.kill();
  server.start();
  std::set<std::string> ids;
  for (auto& one : ends) {
    auto const view = one.get();
    ASSERT_TRUE(view.has_value()) << view.error().message;
    EXPECT_TRUE(view->ended()) << view->row.cause;
    ids.insert(view->row.id.text());
    auto const net = with.net();
    for (auto const* step : {"one", "two", "three"}) {
      auto const found = net.find(view->row.id.text() + '/' + step);
      int const effect = found == net.end() ? 0 : found->second;
      if (view->completed()) {
        EXPECT_EQ(effect, 1) << step;
      } else {
        EXPECT_LE(effect, 0) << step;
      }
    }
  }
  EXPECT_EQ(ids.size(), 300U);
}

TEST(library_postgres, a_start_inside_the_callers_own_transaction) {
  ATONE_NEED_POSTGRES();
  auto& server = postgres_server::shared();
  auto const database = server.make_database();
  ledger with;
  auto const sagas = open(server.address(database), with);
  server.psql("begin; select atone.start('three', 'never', '{\"n\": 1}'); rollback;", database);
  server.psql("begin; select atone.start('three', 'from-sql', '{\"n\": 9007199254740993}'); commit;", database);
  // The key tells when it has been taken: a start of the same key and body is answered with the saga from SQL, or is it itself.
  start_request what;
  what.saga = "three";
  what.key = business_key{"from-sql"};
  what.input = R"({"n": 9007199254740993})";
  auto const begun = sagas->start(what);
  ASSERT_TRUE(begun.has_value());
  auto const view = sagas->wait(begun->id, std::chrono::seconds{30});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->row.output, R"({"n":9007199254740993})");
  // Taken off the inbox, and the rolled-back one was never there.
  auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  std::string left = "?";
  while (left.find("0") == std::string::npos && std::chrono::steady_clock::now() < deadline) {
    left = server.psql("select count(*) from atone.inbox", database);
  }
  EXPECT_THAT(left, HasSubstr("0"));
  auto const read = sagas->read([](journal_reader& in) -> result<void> {
    auto const rows = in.list(saga_filter{});
    if (!rows) return rows.error();
    EXPECT_EQ(rows->size(), 1U);
    return {};
  });
  EXPECT_TRUE(read.has_value());
}

// The saga is another coordinator's: its end is looked for in the store, and a stop must not leave whoever looks behind.
TEST(library_postgres, a_stop_tells_whoever_waits_for_the_saga_of_another_coordinator) {
  ATONE_NEED_POSTGRES();
  auto& server = postgres_server::shared();
  auto const database = server.make_database();
  options how{server.address(database)};
  how.node = node_id{"driver"};
  auto driver = *coordinator::open(how);
  ASSERT_TRUE(driver->publish(three_steps).has_value());  // its handlers are never bound: the saga stays where it is
  ASSERT_TRUE(driver->run().has_value());
  start_request what;
  what.saga = "three";
  what.input = R"({"n": 1})";
  auto const begun = driver->start(what);
  ASSERT_TRUE(begun.has_value());
  how.node = node_id{"other"};
  auto other = *coordinator::open(how);
  ASSERT_TRUE(other->run().has_value());
  auto told = std::async(std::launch::async, [&] { return other->wait(begun->id, std::chrono::hours{1}); });
  ASSERT_EQ(told.wait_for(std::chrono::milliseconds{200}), std::future_status::timeout);
  other->stop(std::chrono::seconds{1});
  ASSERT_EQ(told.wait_for(std::chrono::seconds{20}), std::future_status::ready);
  auto const outcome = told.get();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, errc::unavailable);
}

TEST(library_postgres, the_older_of_two_coordinators_is_fenced_and_stops) {
  ATONE_NEED_POSTGRES();
  auto& server = postgres_server::shared();
  auto const database = server.make_database();
  ledger first_ledger;
  ledger second_ledger;
  auto const first = open(server.address(database), first_ledger);
  auto const second = open(server.address(database), second_ledger);
  start_request what;
  what.saga = "three";
  what.input = R"({"n": 1})";
  auto const stale = first->start(what);
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().code, errc::fenced);
  EXPECT_FALSE(first->figures().writable);
  auto const fresh = second->run("three", business_key{"k"}, R"({"n": 2})");
  ASSERT_TRUE(fresh.has_value());
  EXPECT_TRUE(fresh->completed());
}

}  // namespace
}  // namespace atone
