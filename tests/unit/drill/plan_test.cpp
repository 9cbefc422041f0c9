// The plan: what is read, what is refused and where, variables, and the input of a saga.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan_support.hpp"

namespace atone::drill {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string changed(std::string const& from, std::string const& to) {
  auto text = whole_plan;
  auto const at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::shared_ptr<drill_plan const> plan_of(std::string const& yaml, variable_lookup const& variables) {
  auto const done = load_plan_text(yaml, variables);
  EXPECT_TRUE(done.ok()) << said_of(yaml);
  return done.plan;
}

TEST(drill_plan, reads_every_key) {
  auto const plan = plan_of(whole_plan, [](auto const&) { return std::nullopt; });
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->name, "whole");
  EXPECT_THAT(plan->coordinators, testing::ElementsAre("http://127.0.0.1:7070", "https://other:7070"));
  EXPECT_EQ(plan->load.rate, 50U);
  EXPECT_EQ(plan->proxies.at(0).to.port, 7001);
  EXPECT_EQ(plan->processes.at(0).ready, "http://127.0.0.1:7070/ready");
  ASSERT_EQ(plan->faults.size(), 15U);
  EXPECT_EQ(plan->faults[0].weight, 5U);
  EXPECT_FALSE(plan->faults[0].lasts);
  EXPECT_EQ(plan->faults[3].text(), "proxy orders delay 500ms ± 100ms for 10s");
  EXPECT_EQ(plan->faults[3].network.where, way::both);
  EXPECT_EQ(plan->faults[3].expect.alert, "fallback");
  EXPECT_EQ(plan->faults[10].network.of, 20ms);
  EXPECT_EQ(plan->faults[13].undo, "rm full");
  EXPECT_EQ(plan->faults[14].off, -1h);
  EXPECT_EQ(plan->faults[14].text(), "clock atoned -1h for 1s");
  EXPECT_EQ(plan->must.back_to, 70U);
  EXPECT_EQ(plan->must.stays, 3s);
  EXPECT_TRUE(plan->drawn);
  EXPECT_EQ(plan->rounds, 2U);
  EXPECT_EQ(plan->must.give_up, 20s);
  EXPECT_EQ(plan->must.parked, 3U);
  EXPECT_EQ(plan->must.ended_by_themselves, 2U);
}

TEST(drill_plan, says_where_a_mistake_is_and_what_was_meant) {
  struct mistake {
    std::string from;
    std::string to;
    std::string said;
  };
  mistake const all[]{
      {"rounds: 2", "round: 2", "plan.yaml:25:1  round   unknown key `round` in the plan; did you mean `rounds`?"},
      {"{kill: atoned, weight: 5}", "{kill: atone}",
       "plan.yaml:10:12  faults[0].kill   the plan has no process `atone`; did you mean `atoned`?"},
      {"proxy: orders, stall: true", "proxy: order, stall: true", "the plan has no proxy `order`; did you mean `orders`?"},
      {"stall: true, for: 1s", "stal: true, for: 1s", "unknown key `stal` in a fault; did you mean `stall`?"},
      {"stall: true, for: 1s", "stall: true, cut: 5, for: 1s", "found `stall` and `cut` in one fault; expected one of them"},
      {"stall: true, for: 1s", "stall: false, for: 1s", "found false; expected true"},
      {"stall: true, for: 1s", "stall: true", "`for` is missing"},
      {"stall: true, for: 1s", "for: 1s", "what the proxy does is missing"},
      {"{pause: atoned, for: 3s}", "{pause: atoned, jitter: 3s, for: 3s}", "`jitter` belongs to `delay`"},
      {"{pause: atoned, for: 3s}", "{for: 3s}", "what goes wrong is missing; expected one of kill, pause, proxy, run, clock"},
      {"{clock: atoned, by: -1h, for: 1s}", "{clock: atoned, for: 1s}", "`by` is missing"},
      {"{clock: atoned, by: -1h, for: 1s}", "{clock: atoned, by: 1h, for: 1s}",
       "found `1h`; expected a time with its sign, as in +1h or -1h"},
      {"{clock: atoned, by: -1h, for: 1s}", "{clock: atoned, by: -0s, for: 1s}", "expected a time with its sign"},
      {"{clock: atoned, by: -1h, for: 1s}", "{clock: atoned, by: -1h}", "`for` is missing"},
      {"{pause: atoned, for: 3s}", "{pause: atoned, by: +3s, for: 3s}", "`by` belongs to `clock`"},
      {"start: atoned --listen 127.0.0.1:7070, pid_file", "pid_file", "process `atoned` has no `start`; expected one"},
      {"back_to: 70", "back_to: 101", "101"},
      {"jitter: 100ms", "jitter: 501ms", "the jitter is more than the delay; expected at most 500ms"},
      {"drip: 10, every: 20ms", "drip: 10", "`every` is missing"},
      {"to: \"127.0.0.1:7001\"", "to: \"127.0.0.1\"", "found `127.0.0.1`; expected an IP address and a port"},
      {"to: \"127.0.0.1:7001\"", "to: \"127.0.0.1:70001\"", "expected an IP address and a port"},
      {"listen: \"127.0.0.1:7101\"", "listen: \"localhost:7101\"",
       "plan.yaml:6:20  proxies.orders.listen   found `localhost:7101`; expected an IP address and a port"},
      {"to: \"127.0.0.1:7001\"", "to: \"127.0.0.1.1:7001\"", "expected an IP address and a port"},
      {"start: atoned", "start: A_B=1 atoned", "plan.yaml:8:19  processes.atoned.start   found `A_B=1` before the program"},
      {"start: atoned", "start: cd there && atoned", "found `&&`; expected one program with its arguments, or sh -c"},
      {"start: atoned", "start: atoned & sleep 1; atoned", "found `&`; expected one program"},
      {"start: atoned", "start: yes | atoned", "found `|`; expected one program"},
      {"\"https://other:7070\"", "\"other:7070\"", "found `other:7070`; expected a URL"},
      {"{n%7}", "{n%0}", "with {n} = 1 it is not JSON"},
      {"rest: 1s", "lasts: 1s", "found `rounds` and `lasts`; expected one of them"},
      {"order: drawn", "order: dawn", "did you mean `drawn`?"},
      {"give_up: 20s", "give_up: 2s", "`give_up` is less than `recover_within`"},
      {"saga: order, ", "", "`saga` is missing"},
      {"drill: whole", "drill: ${NAME}", "the environment variable NAME is not set"},
      {"drill: whole", "drill: ${HOME", "found `${` without its `}`"},
      {"start: atoned --listen 127.0.0.1:7070, pid_file: atoned.pid, ", "", "found neither `start` nor `pid_file`"},
  };
  for (auto const& each : all) EXPECT_THAT(said_of(changed(each.from, each.to)), HasSubstr(each.said)) << each.to;
}

TEST(drill_plan, fills_variables_in) {
  auto const lookup = [](std::string const& name) -> std::optional<std::string> {
    if (name == "PORT") return "7002";
    if (name == "TIME") return "3s";
    return std::nullopt;
  };
  auto text = changed("to: \"127.0.0.1:7001\"", "to: \"127.0.0.1:${PORT}\"");
  text.replace(text.find("rest: 1s"), 8, "rest: ${TIME:-9s}");
  text.replace(text.find("touch full"), 10, "'echo $${PORT} ${NONE:-a ${PORT} b}'");
  auto const plan = plan_of(text, lookup);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->proxies[0].to.port, 7002);
  EXPECT_EQ(plan->rest, 3s);
  EXPECT_EQ(plan->faults[13].run, "echo ${PORT} a 7002 b");
}

TEST(drill_plan, takes_what_only_looks_like_more_than_one_program) {
  for (std::string const line :
       {R"("env A=1 atoned")", R"("atoned --set=1 a=b")", R"("sh -c 'a && b; c'")", R"("atoned > log 2>&1")", R"('atoned a\;b "&"')"}) {
    EXPECT_EQ(said_of(changed("start: atoned --listen 127.0.0.1:7070", "start: " + line)), "") << line;
  }
  EXPECT_EQ(said_of(changed("to: \"127.0.0.1:7001\"", "to: \"[::1]:7001\"")), "");
}

TEST(drill_plan, an_empty_variable_leaves_rounds_or_lasts_out) {
  auto const text = changed("rounds: 2", "rounds: ${ROUNDS:-}\nlasts: ${TIME:-}");
  auto const with = [&](std::string const& given, std::string const& value) {
    return plan_of(text, [=](std::string const& name) { return name == given ? std::optional{value} : std::nullopt; });
  };
  EXPECT_EQ(with("", "")->rounds, 1U);
  EXPECT_EQ(with("ROUNDS", "3")->rounds, 3U);
  EXPECT_FALSE(with("ROUNDS", "3")->lasts);
  EXPECT_EQ(with("TIME", "20m")->lasts, 20min);
}

TEST(drill_plan, any_cut_is_refused_or_whole) {
  for (std::size_t size = 0; size < whole_plan.size(); ++size) {
    auto const done = load_plan_text(whole_plan.substr(0, size), [](auto const&) { return std::nullopt; });
    EXPECT_TRUE(done.ok() || !done.diagnostics.empty()) << size;
  }
}

TEST(drill_plan, input_counts) {
  EXPECT_EQ(input_of(R"({"id": {n}, "user": {n%7}})", 16), R"({"id": 16, "user": 2})");
  EXPECT_EQ(input_of("{n} {n%} {n%0} {n%3 {m}", 4), "4 {n%} {n%0} {n%3 {m}");
}

}  // namespace
}  // namespace atone::drill
