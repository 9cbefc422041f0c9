// Every command that speaks to the daemon, against the daemon's real API on a store in memory: what one side writes the other reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "../daemon/api_harness.hpp"
#include "cli/command.hpp"
#include "cli/parse.hpp"

namespace atone::api {
namespace {

using cli::exit_code;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct typed_result {
  exit_code code = exit_code::internal;
  std::string out, err;
};

class cli_api : public api_test {
 protected:
  typed_result type(std::vector<std::string> words) {
    std::ostringstream out;
    std::ostringstream err;
    auto const line = cli::parse_line(std::move(words), out, err);
    typed_result result;
    result.code = line.code;
    if (line.command != nullptr) {
      cli::terminal const screen{out, err, cli::terminal_traits{}};
      std::istringstream nothing;
      cli::surroundings const with{screen,
                                   nothing,
                                   [this](cli::api_request what) { return pass_on(std::move(what)); },
                                   [](duration) {},
                                   [] { return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now()); },
                                   "tester",
                                   "http://127.0.0.1:7070",
                                   "",
                                   "memory:"};
      result.code = line.command->run(line.typed, with);
    }
    result.out = out.str();
    result.err = err.str();
    return result;
  }

  // A saga whose undoing is refused, so that a person must decide.
  std::string park() {
    ship = [] { return refused("no truck"); };
    refund = [] { return refused("books are closed"); };
    return start("parked-one");
  }

 private:
  cli::api_answer pass_on(cli::api_request what) {
    fields headers;
    for (auto const& [name, value] : what.headers) headers.emplace_back(name, value);
    auto const origin = std::string_view{"http://127.0.0.1:7070"}.size();
    auto came = ask(std::move(what.method), what.url.substr(origin), std::move(what.body), headers);
    cli::api_answer answer;
    answer.status = came.status;
    answer.body = std::move(came.body);
    return answer;
  }
};

TEST_F(cli_api, starts_and_waits) {
  auto const came = type({"start", "two", "-i", R"({"amount": 990})", "--key", "order-1", "--wait"});
  EXPECT_EQ(came.code, exit_code::done) << came.err;
  EXPECT_THAT(came.out, StartsWith("started "));
  EXPECT_THAT(came.out, HasSubstr("completed in"));
  EXPECT_THAT(came.out, HasSubstr("9007199254740993"));
  EXPECT_THAT(type({"start", "two", "-i", R"({"amount": 990})", "--key", "order-1"}).out, StartsWith("already started "));
  EXPECT_EQ(type({"start", "two", "-i", R"({"amount": 7})", "--key", "order-1"}).code, exit_code::conflict);
}

TEST_F(cli_api, refusals_have_their_exit_status) {
  EXPECT_EQ(type({"start", "none"}).code, exit_code::not_found);
  EXPECT_EQ(type({"start", "two", "-i", R"({"amount": 0})"}).code, exit_code::usage);
  EXPECT_EQ(type({"start", "two@9", "-i", R"({"amount": 1})"}).code, exit_code::not_found);
  EXPECT_EQ(type({"wait", "01JDZ4M6GQ5V7Y8N2W3X4R5T6K"}).code, exit_code::not_found);
  EXPECT_EQ(type({"list", "--status", "broken"}).code, exit_code::usage);
}

TEST_F(cli_api, shows_a_compensated_saga_as_a_timeline) {
  ship = [] { return refused("no truck"); };
  auto const id = start("order-2");
  EXPECT_EQ(type({"wait", id}).code, exit_code::negative);
  auto const shown = type({"show", "--last-compensated"});
  EXPECT_EQ(shown.code, exit_code::done) << shown.err;
  EXPECT_THAT(shown.out, StartsWith("two@1  " + id + "  key order-2  compensated in "));
  EXPECT_THAT(shown.out, HasSubstr("no truck"));
  EXPECT_THAT(shown.out, HasSubstr("done, compensated"));
  EXPECT_THAT(shown.out, HasSubstr("~charge"));
  EXPECT_THAT(shown.out, HasSubstr("refused"));
  EXPECT_THAT(shown.out, Not(HasSubstr("~ship")));
}

TEST_F(cli_api, tells_a_sagas_history) {
  auto const id = start("order-3");
  auto const told = type({"history", id, "-v"});
  EXPECT_EQ(told.code, exit_code::done) << told.err;
  EXPECT_THAT(told.out, HasSubstr("started"));
  EXPECT_THAT(told.out, HasSubstr("step_succeeded"));
  EXPECT_THAT(told.out, HasSubstr(R"({"receipt": 9007199254740993})"));
  EXPECT_THAT(told.out, HasSubstr("<- 1"));
  EXPECT_EQ(type({"watch", id}).code, exit_code::done);
}

TEST_F(cli_api, lists_with_filters) {
  start("order-4");
  start("other-5");
  auto const listed = type({"list", "--key-prefix", "order-", "--status", "completed", "-s", "two"});
  EXPECT_EQ(listed.code, exit_code::done) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("order-4"));
  EXPECT_THAT(listed.out, Not(HasSubstr("other-5")));
  auto const page = json::parse(type({"list", "-o", "json", "-n", "1"}).out);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->find("sagas")->size(), 1U);
}

TEST_F(cli_api, an_operator_skips_a_parked_compensation) {
  auto const id = park();
  EXPECT_EQ(type({"wait", id}).code, exit_code::parked);
  auto const shown = type({"show", "--last-parked"});
  EXPECT_THAT(shown.out, HasSubstr("atone retry " + id + " --step charge"));
  EXPECT_THAT(type({"alerts"}).out, HasSubstr(id));
  EXPECT_THAT(type({"doctor"}).out, HasSubstr("1 wait for a person"));
  EXPECT_EQ(type({"skip", id}).code, exit_code::usage);
  EXPECT_EQ(type({"skip", id, "--note", "refunded by hand"}).code, exit_code::done);
  EXPECT_EQ(type({"wait", id}).code, exit_code::negative);
  EXPECT_THAT(type({"history", id}).out, HasSubstr("by tester"));
}

TEST_F(cli_api, an_operator_retries) {
  auto const id = park();
  refund = [] { return done(); };
  auto const retried = type({"retry", id, "--step", "charge"});
  EXPECT_EQ(retried.code, exit_code::done) << retried.err;
  EXPECT_EQ(type({"wait", id}).code, exit_code::negative);
  EXPECT_EQ(type({"retry", id}).code, exit_code::conflict) << "it has ended";
}

TEST_F(cli_api, pause_resume_and_cancel) {
  hold_ship();
  auto const made = read(ask("POST", "/v1/sagas/two", R"({"amount": 5})"));
  auto const id = text(made, "id");
  EXPECT_THAT(type({"pause", id}).out, HasSubstr("paused"));
  EXPECT_EQ(type({"resume", id}).code, exit_code::done);
  EXPECT_EQ(type({"cancel", id, "--note", "changed their mind"}).code, exit_code::done);
  EXPECT_EQ(type({"wait", id, "--timeout", "0s"}).code, exit_code::timed_out);
}

TEST_F(cli_api, publishes_and_prints_definitions) {
  auto const path = testing::TempDir() + "cli_api.yaml";
  std::ofstream{path}
      << "saga: other\nversion: 3\nservices: {shop: {local: shop}}\nsteps:\n  - {id: a, call: shop charge, read_only: true}\n";
  auto const published = type({"publish", path});
  EXPECT_EQ(published.code, exit_code::done) << published.err;
  EXPECT_THAT(published.out, StartsWith("published other@3  "));
  EXPECT_THAT(type({"definitions"}).out, HasSubstr("other  3"));
  EXPECT_THAT(type({"definitions", "other@3"}).out, StartsWith("saga: other\nversion: 3\n"));
  std::ofstream{path}
      << "saga: other\nversion: 3\nservices: {shop: {local: shop}}\nsteps:\n  - {id: b, call: shop charge, read_only: true}\n";
  EXPECT_EQ(type({"publish", path}).code, exit_code::conflict);
}

TEST_F(cli_api, lists_the_one_node_of_a_store_in_memory) {
  auto const listed = type({"nodes"});
  EXPECT_EQ(listed.code, exit_code::done) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("  alive, asked  1 "));
  EXPECT_THAT(type({"doctor"}).out, HasSubstr(" drives every saga of the store"));
}

TEST_F(cli_api, figures_and_health) {
  start("order-6");
  EXPECT_THAT(type({"watch", "--count", "1"}).out, HasSubstr("completed 1"));
  auto const found = type({"doctor"});
  EXPECT_EQ(found.code, exit_code::done) << found.out;
  EXPECT_THAT(found.out, HasSubstr("writes to its store"));
}

}  // namespace
}  // namespace atone::api
