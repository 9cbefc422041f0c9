// What a saga costs in transactions when many are in flight, by the server's own count: group commit is worth its name only well
// below one. The count holds everything the coordinator does, its polling for starts from SQL included.
#include <atomic>
#include <future>
#include <iostream>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/coordinator.hpp>

#include "postgres_server.hpp"

namespace atone {
namespace {

using test::postgres_server;

constexpr int in_flight = 256;
constexpr int sagas_in_all = 4096;
constexpr double commits_a_saga_max = 0.5;

std::string const three_calls = R"(saga: calls
version: 1
services: {shop: {local: shop}}
steps:
  - {id: one, call: shop one, compensate: {call: shop undo}}
  - {id: two, call: shop two, compensate: {call: shop undo}}
  - {id: three, call: shop three, compensate: {call: shop undo}}
)";

// Keeps `in_flight` sagas going until all have been started and have ended.
class load {
 public:
  explicit load(coordinator& sagas) : sagas_(sagas) {}

  int run() {
    for (int n = 0; n < in_flight; ++n) next();
    over_.get_future().wait();
    return completed_;
  }

 private:
  void next() {
    int const n = started_++;
    if (n >= sagas_in_all) return;
    start_request what;
    what.saga = "calls";
    what.key = business_key{"order-" + std::to_string(n)};
    sagas_.async_start(what, [this](result<started> begun) {
      if (!begun) return ended(false);
      sagas_.async_wait(begun->id, std::chrono::minutes{2}, [this](result<saga_view> end) { ended(end && end->completed()); });
    });
  }
  void ended(bool well) {
    completed_ += well ? 1 : 0;
    next();
    if (++ended_ == sagas_in_all) over_.set_value();
  }

  coordinator& sagas_;
  std::atomic<int> started_{0};
  int ended_ = 0;  // of the loop's thread, as what follows
  int completed_ = 0;
  std::promise<void> over_;
};

std::unique_ptr<coordinator> open(std::string const& address) {
  auto opened = coordinator::open(options{address});
  if (!opened) throw std::runtime_error{opened.error().message};
  for (auto const* name : {"one", "two", "three", "undo"}) (*opened)->handle("shop", name, [](call const&) { return done(); });
  if (auto const published = (*opened)->publish(three_calls); !published) throw std::runtime_error{published.error().message};
  return std::move(*opened);
}

// A server process adds its counts at its end: all of the database's have to be gone.
long committed(postgres_server const& server, std::string const& database) {
  auto const patience = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  auto const connected = "select count(*) from pg_stat_activity where datname = '" + database + "'";
  while (server.psql(connected) != "0" && std::chrono::steady_clock::now() < patience) {
  }
  return std::stol(server.psql("select xact_commit from pg_stat_database where datname = '" + database + "'"));
}

TEST(library_postgres_commits, a_saga_costs_less_than_half_a_commit_with_256_in_flight) {
  ATONE_NEED_POSTGRES();
  auto& server = postgres_server::shared();
  auto const database = server.make_database();
  open(server.address(database));  // the tables and the definition
  auto const before = committed(server, database);
  auto sagas = open(server.address(database));
  ASSERT_TRUE(sagas->run().has_value());
  EXPECT_EQ(load{*sagas}.run(), sagas_in_all);
  auto const figures = sagas->figures();
  sagas.reset();
  auto const after = committed(server, database);
  auto const each = static_cast<double>(after - before) / sagas_in_all;
  std::cout << sagas_in_all << " sagas of three steps, " << in_flight << " in flight: " << after - before
            << " commits by the server's count (" << figures.commits << " batches), " << each << " a saga\n";
  EXPECT_LT(each, commits_a_saga_max);
  EXPECT_GE(after - before, static_cast<long>(figures.commits)) << "the server counts at least our own";
}

}  // namespace
}  // namespace atone
