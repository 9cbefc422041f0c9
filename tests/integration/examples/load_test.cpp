// The closed loop against a daemon that behaves, is busy, loses replies, dies and refuses.
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "demo_support.hpp"
#include "load.hpp"
#include "services_support.hpp"

namespace examples_test {
namespace {

using atone::http::response;
using testing::HasSubstr;
using namespace std::chrono_literals;

// Starts sagas by key, and ends each after it has been asked for a few times.
class daemon_double {
 public:
  std::optional<response> answer(atone::http::request const& what) {
    std::lock_guard const held{guard_};
    ++requests;
    if (trouble) {
      if (auto troubled = trouble(what, requests)) return *troubled;
    }
    return what.method == "POST" ? start(what) : wait(what.target);
  }

  response start(atone::http::request const& what) {
    auto const key = std::string{what.headers.get("Idempotency-Key")};
    auto const known = ids_.find(key);
    bool const replayed = known != ids_.end();
    if (!replayed) {
      ids_[key] = saga(static_cast<std::uint8_t>(ids_.size() + 1));
      ++under_way;
      most_under_way = std::max(most_under_way, under_way);
    }
    return response{200, R"({"id":")" + ids_[key] + R"(","replayed":)" + (replayed ? "true" : "false") + "}"};
  }

  response wait(std::string const& target) {
    auto const id = target.substr(10, 26);
    bool const over = ++asked_[id] >= asks;
    if (over && ended_.insert(id).second) --under_way;
    auto const number = ended_.size();
    std::string const status = !over ? "running" : number % 5 == 0 ? "compensated" : "completed";
    return response{200, R"({"id":")" + id + R"(","status":")" + status + R"(","cause":"fan/profile/profile refused: 409 no",)" +
                             R"("steps":[{"path":"features","fell_back":)" + (over && number == 1 ? "true" : "false") + "}]}"};
  }

  std::size_t started() const { return ids_.size(); }

  // What goes wrong with the n-th request; nothing: it is answered. An inner nothing: dropped.
  std::function<std::optional<std::optional<response>>(atone::http::request const&, int)> trouble;
  int asks = 2;
  int requests = 0;
  int under_way = 0;
  int most_under_way = 0;

 private:
  std::mutex guard_;
  std::map<std::string, std::string> ids_;
  std::map<std::string, int> asked_;
  std::set<std::string> ended_;
};

struct driven {
  std::vector<demo::outcome> outcomes;
  std::optional<atone::error> failure;
  demo::load_figures figures;
};

driven drive(std::uint16_t port, std::size_t count, std::uint32_t in_flight = 8) {
  boost::asio::io_context io;
  driven seen;
  demo::load_options options;
  options.daemon.host = "127.0.0.1";
  options.daemon.port = port;
  options.saga = "order-placed";
  options.in_flight = in_flight;
  options.retry_pause = 1ms;
  std::vector<demo::work_item> work;
  for (std::size_t number = 0; number < count; ++number) work.emplace_back("key-" + std::to_string(number), "{}");
  demo::load load{io, options, std::move(work), [&](demo::outcome const& of) { seen.outcomes.push_back(of); },
                  [&](atone::error why) { seen.failure = std::move(why); }};
  load.begin();
  io.run();
  seen.figures = load.figures();
  return seen;
}

TEST(load_loop, every_saga_is_driven_to_its_end) {
  daemon_double daemon;
  scripted_server server{[&](auto const& what) { return daemon.answer(what); }};
  auto const seen = drive(server.port(), 50);
  ASSERT_FALSE(seen.failure.has_value()) << seen.failure->message;
  EXPECT_EQ(seen.outcomes.size(), 50U);
  EXPECT_EQ(seen.figures.started, 50U);
  EXPECT_EQ(seen.figures.ended, 50U);
  EXPECT_EQ(seen.figures.by_status.at(atone::saga_status::compensated), 10U);
  EXPECT_LE(daemon.most_under_way, 8);
  std::set<std::size_t> items;
  for (auto const& each : seen.outcomes) items.insert(each.item);
  EXPECT_EQ(items.size(), 50U) << "each item once";
}

TEST(load_loop, a_busy_daemon_is_asked_again) {
  daemon_double daemon;
  daemon.trouble = [](auto const&, int number) -> std::optional<std::optional<response>> {
    if (number % 3 == 0) return std::optional<response>{response{503, "{}"}};
    if (number % 7 == 0) return std::optional<response>{response{429, "{}"}};
    return std::nullopt;
  };
  scripted_server server{[&](auto const& what) { return daemon.answer(what); }};
  auto const seen = drive(server.port(), 40);
  EXPECT_FALSE(seen.failure.has_value());
  EXPECT_EQ(seen.outcomes.size(), 40U);
  EXPECT_GT(seen.figures.retries, 0U);
}

TEST(load_loop, a_lost_reply_to_a_start_starts_no_second_saga) {
  daemon_double daemon;
  daemon.trouble = [&](auto const& what, int number) -> std::optional<std::optional<response>> {
    if (what.method != "POST" || number % 2 == 0) return std::nullopt;
    static_cast<void>(daemon.start(what));
    return std::optional<std::optional<response>>{std::in_place, std::nullopt};  // done, but nobody hears of it
  };
  scripted_server server{[&](auto const& what) { return daemon.answer(what); }};
  auto const seen = drive(server.port(), 20);
  EXPECT_FALSE(seen.failure.has_value());
  EXPECT_EQ(seen.outcomes.size(), 20U);
  EXPECT_EQ(daemon.started(), 20U);
  EXPECT_GT(seen.figures.replayed, 0U);
}

TEST(load_loop, a_daemon_that_is_away_is_waited_for) {
  daemon_double daemon;
  auto first = std::make_unique<scripted_server>([&](auto const& what) { return daemon.answer(what); });
  auto const port = first->port();
  first.reset();  // nobody listens there now
  boost::asio::io_context io;
  demo::load_options options;
  options.daemon.host = "127.0.0.1";
  options.daemon.port = port;
  options.saga = "s";
  options.retry_pause = 1ms;
  std::size_t ended = 0;
  demo::load load{io, options, {demo::work_item{"k", "{}"}}, [&](auto const&) { ++ended; }, [](auto) { FAIL(); }};
  load.begin();
  while (load.figures().retries < 3) io.run_one();
  EXPECT_EQ(ended, 0U);
  EXPECT_EQ(load.figures().started, 0U);
}

TEST(load_loop, a_refused_start_stops_it_with_the_daemons_words) {
  scripted_server server{[](auto const&) { return response{404, R"({"error":"no definition order-placed"})"}; }};
  auto const seen = drive(server.port(), 5);
  ASSERT_TRUE(seen.failure.has_value());
  EXPECT_THAT(seen.failure->message, HasSubstr("no definition order-placed"));
  EXPECT_THAT(seen.failure->message, HasSubstr("404"));
  EXPECT_TRUE(seen.outcomes.empty());
}

TEST(load_loop, an_answer_that_is_none_stops_it) {
  scripted_server server{[](auto const&) { return response{200, "[]"}; }};
  EXPECT_TRUE(drive(server.port(), 1).failure.has_value());
}

TEST(load_loop, no_work_is_over_at_once) {
  daemon_double daemon;
  scripted_server server{[&](auto const& what) { return daemon.answer(what); }};
  EXPECT_TRUE(drive(server.port(), 0).outcomes.empty());
}

TEST(saga_outcome, is_read_from_the_apis_answer) {
  auto const read = demo::read_outcome(R"({"id":")" + saga(3) + R"(","status":"compensated","cause":"features timed out after 5s",)" +
                                       R"("steps":[{"path":"features","fell_back":true},{"path":"order","fell_back":false}]})");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->id.text(), saga(3));
  EXPECT_EQ(read->status, atone::saga_status::compensated);
  EXPECT_EQ(read->cause, "features timed out after 5s");
  EXPECT_THAT(read->fell_back, testing::ElementsAre("features"));
}

TEST(saga_outcome, what_is_missing_is_named) {
  EXPECT_THAT(demo::read_outcome("nonsense").error().message, HasSubstr("no JSON"));
  EXPECT_THAT(demo::read_outcome("[]").error().message, HasSubstr("no object"));
  EXPECT_THAT(demo::read_outcome("{}").error().message, HasSubstr("'id'"));
  EXPECT_THAT(demo::read_outcome(R"({"id":")" + saga(3) + R"(","status":"asleep"})").error().message, HasSubstr("'status'"));
}

}  // namespace
}  // namespace examples_test
