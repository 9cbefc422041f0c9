// atone poke against participants that hold, and against one naive in each of the ways people are.
#include <atomic>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "cli/parse.hpp"
#include "cli/poke_command.hpp"
#include "demo_support.hpp"
#include "orders/orders.hpp"
#include "process.hpp"
#include "services_support.hpp"

namespace examples_test {
namespace {

using atone::cli::poke_finding;
using testing::HasSubstr;

std::string const body = R"({"order_id":{n},"user":1,"amount":100,"quantity":1,"placed_at":"1997-01-01T00:00:00Z"})";

atone::cli::poke_plan plan_for(std::string const& url) {
  atone::cli::poke_plan plan;
  plan.url = url;
  plan.act = *atone::cli::parse_poke_call("do", "POST /orders", body);
  plan.undo = *atone::cli::parse_poke_call("compensate", "DELETE /orders/{n}", "");
  plan.run = 4711;
  return plan;
}

std::map<std::string, poke_finding> poke_all(std::string const& url) {
  world around;
  auto const found = atone::cli::poke(plan_for(url), around.with());
  EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().message);
  std::map<std::string, poke_finding> by_name;
  if (!found) return by_name;
  for (auto const& each : *found) by_name[each.sequence] = each;
  EXPECT_EQ(by_name.size(), 5U);
  return by_name;
}

TEST(poke_holds, the_order_service) {
  service_under_test orders{orders::define()};
  for (auto const& [name, found] : poke_all(orders.url())) EXPECT_TRUE(found.holds) << name << ": " << found.text;
  EXPECT_EQ(orders.json("/totals").find("open"), std::nullopt) << "everything was undone";
}

TEST(poke_holds, the_order_service_with_transient_faults) {
  service_under_test orders{orders::define(), {"--faults", "fail=0.2,drop=0.2,twice=0.2", "--seed", "3"}};
  for (auto const& [name, found] : poke_all(orders.url())) EXPECT_TRUE(found.holds) << name << ": " << found.text;
}

TEST(poke_holds, a_participant_in_python) {
  temporary_folder folder;
  std::string const source = ATONE_SOURCE_DIR;
  auto started = demo::process::start(
      PYTHON,
      {source + "/examples/participants/order_service_sqlite.py", source + "/schemas/sql/sqlite/barrier.sql", folder.file("orders.db")},
      folder.file("log"));
  ASSERT_TRUE(started.has_value()) << started.error().message;
  auto const port = demo::wait_for_port(*started, folder.file("log"), 0, std::chrono::seconds{60});
  ASSERT_TRUE(port.has_value()) << port.error().message;
  for (auto const& [name, found] : poke_all("http://127.0.0.1:" + std::to_string(*port)))
    EXPECT_TRUE(found.holds) << name << ": " << found.text;
}

// A participant without a barrier: counts its orders and answers.
class naive_participant {
 public:
  using behaviour = std::function<atone::http::response(naive_participant&, atone::http::request const&)>;

  explicit naive_participant(behaviour how)
      : how_(std::move(how)), server_([this](atone::http::request const& what) {
          std::lock_guard const held{guard_};
          return how_(*this, what);
        }) {}
  std::string url() const { return server_.url(); }

  int orders = 0;

 private:
  std::mutex guard_;
  behaviour how_;
  scripted_server server_;
};

atone::http::response ok(std::string text) {
  return atone::http::response{200, std::move(text)};
}

TEST(poke_breaks, a_participant_that_counts_twice) {
  naive_participant naive{[](auto& self, auto const& what) {
    if (what.method == "POST") ++self.orders;
    return ok("{\"orders\":" + std::to_string(self.orders) + "}");
  }};
  auto const found = poke_all(naive.url());
  EXPECT_FALSE(found.at("twice").holds);
  EXPECT_THAT(found.at("twice").text, HasSubstr("expected the first answer again"));
  EXPECT_FALSE(found.at("late action").holds);
  EXPECT_THAT(found.at("late action").text, HasSubstr("expected a final no"));
  EXPECT_FALSE(found.at("concurrent pair").holds);
}

TEST(poke_breaks, a_participant_that_calls_a_repetition_a_conflict) {
  std::map<std::string, int> known;
  naive_participant naive{[&known](auto&, auto const& what) {
    if (what.method == "POST" && ++known[std::string{what.headers.get("Atone-Saga")}] > 1) return atone::http::response{409, "{}"};
    return ok("{}");
  }};
  auto const found = poke_all(naive.url());
  EXPECT_FALSE(found.at("twice").holds);
  EXPECT_FALSE(found.at("lost reply").holds);
  EXPECT_FALSE(found.at("concurrent pair").holds);
}

TEST(poke_breaks, a_participant_that_misses_what_it_should_undo) {
  naive_participant naive{[](auto&, auto const& what) {
    if (what.method == "DELETE") return atone::http::response{404, R"({"error":"no such order"})"};
    return ok("{}");
  }};
  auto const found = poke_all(naive.url());
  EXPECT_FALSE(found.at("compensation first").holds);
  EXPECT_THAT(found.at("compensation first").text, HasSubstr("404"));
  EXPECT_FALSE(found.at("late action").holds);
  EXPECT_FALSE(found.at("twice").holds) << "the compensation afterwards failed";
}

TEST(poke_breaks, right_answers_over_wrong_tables) {
  naive_participant naive{[](auto&, auto const& what) {
    if (what.target.starts_with("/atone/effects")) return ok(R"({"effects":[],"next":null})");
    auto const tombstone = what.headers.get("Atone-Op") == "do" && what.headers.get("Atone-Saga").ends_with('3');
    return tombstone ? atone::http::response{409, "{}"} : ok("{}");
  }};
  auto const found = poke_all(naive.url());
  EXPECT_FALSE(found.at("twice").holds) << "its tables show nothing at all";
  EXPECT_THAT(found.at("twice").text, HasSubstr("its tables show the action 0 times"));
  EXPECT_TRUE(found.at("compensation first").holds);
  EXPECT_TRUE(found.at("late action").holds);
}

TEST(poke_command, prints_and_exits_by_what_it_found) {
  service_under_test orders{orders::define()};
  world good;
  EXPECT_EQ(good.run({"poke", orders.url(), "--do", "POST /orders", "--body", body, "--compensate", "DELETE /orders/{n}"}),
            atone::cli::exit_code::done)
      << good.err();
  EXPECT_THAT(good.out(), HasSubstr("concurrent pair"));
  naive_participant naive{[](auto& self, auto const&) { return ok("{\"n\":" + std::to_string(++self.orders) + "}"); }};
  world bad;
  EXPECT_EQ(bad.run({"poke", naive.url(), "--do", "POST /orders", "--compensate", "DELETE /orders/{n}"}), atone::cli::exit_code::negative);
  EXPECT_THAT(bad.out(), HasSubstr("BREAKS"));
}

TEST(poke_command, mistakes_are_named) {
  world first;
  EXPECT_EQ(first.run({"poke", "127.0.0.1:1", "--do", "POST /o", "--compensate", "DELETE /o"}), atone::cli::exit_code::usage);
  world second;
  EXPECT_EQ(second.run({"poke", "http://127.0.0.1:1", "--do", "POST", "--compensate", "DELETE /o"}), atone::cli::exit_code::usage);
  EXPECT_THAT(second.err(), HasSubstr("--do: found 'POST'"));
  scripted_server gone{[](auto const&) { return ok("{}"); }};
  auto const url = gone.url();
  gone.stop();
  world third;
  EXPECT_EQ(third.run({"poke", url, "--do", "POST /o", "--compensate", "DELETE /o"}), atone::cli::exit_code::unavailable);
  EXPECT_THAT(third.err(), HasSubstr("no participant at"));
}

}  // namespace
}  // namespace examples_test
