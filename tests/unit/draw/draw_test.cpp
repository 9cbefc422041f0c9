// The drawings of the order saga, held by golden files, and the rules behind them.
#include <atone/draw.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "order_saga.hpp"

namespace {

using namespace atone;
using namespace atone::draw_test;
using testing::HasSubstr;
using testing::Not;

std::filesystem::path golden(std::string_view name) {
  return std::filesystem::path{ATONE_SOURCE_DIR} / "tests" / "unit" / "draw" / "golden" / name;
}

// To accept a changed drawing: run once with ATONE_WRITE_GOLDEN set, look at the picture, and commit the file.
void equals_golden(std::string const& drawn, std::string_view name) {
  if (std::getenv("ATONE_WRITE_GOLDEN") != nullptr) std::ofstream{golden(name)} << drawn;
  std::ifstream in{golden(name)};
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(drawn, text.str()) << name;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

step plain(std::string id) {
  return undone_by(make_step(std::move(id), atomicity::compensable, call("s", local("act"))), call("s", local("undo")));
}

TEST(draw_golden, order_saga_as_dot) {
  equals_golden(draw_dot(order_saga()), "order.dot");
}
TEST(draw_golden, order_saga_as_mermaid) {
  equals_golden(draw_mermaid(order_saga()), "order.mmd");
}

TEST(draw_rules, a_saga_without_steps_goes_from_start_to_completed) {
  auto const dot = draw_dot(named("empty", {}));
  EXPECT_THAT(dot, HasSubstr("\"start\" -> \"completed\""));
  EXPECT_THAT(dot, Not(HasSubstr("compensated")));
  EXPECT_THAT(draw_mermaid(named("empty", {})), HasSubstr("n0 --> n1\n"));
}

TEST(draw_rules, steps_follow_each_other_and_are_undone_in_reverse) {
  auto const mermaid = draw_mermaid(named("two", {plain("a"), plain("b")}));
  EXPECT_THAT(mermaid, HasSubstr("  n0 --> n2\n"
                                 "  n2 -.->|\"undo: s<br/>undo\"| n1\n"
                                 "  n2 --> n3\n"
                                 "  n3 -.->|\"undo: s<br/>undo\"| n2\n"
                                 "  n3 --> n4\n"));
}

TEST(draw_rules, no_way_back_leads_out_of_what_follows_the_pivot) {
  auto const pivot = make_step("pay", atomicity::pivot, call("s", local("pay")));
  auto const after = make_step("mail", atomicity::retriable, call("s", local("mail")));
  auto const mermaid = draw_mermaid(named("pivot", {plain("a"), pivot, after}));
  EXPECT_EQ(count(mermaid, "-.->"), 2U);
  EXPECT_THAT(mermaid, HasSubstr("n3 -.->|\"if refused\"| n2"));
  EXPECT_THAT(mermaid, HasSubstr("n3[[\"<b>pay</b><br/>s pay<br/><i>pivot: no way back after it</i>\"]]:::pivot"));
  EXPECT_THAT(mermaid, HasSubstr("<i>repeated until done</i>\"]:::retriable"));
  EXPECT_EQ(count(draw_dot(named("pivot", {plain("a"), pivot, after})), "peripheries=2"), 1U);
}

TEST(draw_rules, branches_fork_join_and_are_left_backwards_one_by_one) {
  auto const fan = make_parallel("fan", {make_branch("left", {plain("a"), plain("b")}), make_branch("right", {plain("a")})});
  auto const dot = draw_dot(named("fan", {fan}));
  EXPECT_THAT(dot, HasSubstr("\"fan fork\" -> \"fan/left/a\" [weight"));
  EXPECT_THAT(dot, HasSubstr("\"fan fork\" -> \"fan/right/a\" [weight"));
  EXPECT_THAT(dot, HasSubstr("\"fan/left/b\" -> \"fan join\" [weight"));
  EXPECT_THAT(dot, HasSubstr("\"fan/left/b\" -> \"fan join\" [dir=back"));
  EXPECT_THAT(dot, HasSubstr("\"fan/right/a\" -> \"fan join\" [dir=back"));
  EXPECT_THAT(dot, HasSubstr("\"start\" -> \"fan fork\" [weight"));
  EXPECT_THAT(dot, HasSubstr("\"compensated\" -> \"fan fork\" [dir=back"));
  EXPECT_EQ(count(dot, "subgraph"), 3U);
}

TEST(draw_rules, parallel_within_parallel) {
  auto const inner = make_parallel("inner", {make_branch("x", {plain("a")}), make_branch("y", {plain("a")})});
  auto const outer = make_parallel("outer", {make_branch("one", {inner}), make_branch("two", {plain("b")})});
  auto const dot = draw_dot(named("nested", {outer}));
  EXPECT_THAT(dot, HasSubstr("\"outer fork\" -> \"outer/one/inner fork\""));
  EXPECT_THAT(dot, HasSubstr("\"outer/one/inner join\" -> \"outer join\""));
  EXPECT_EQ(count(dot, "subgraph"), 6U);
}

TEST(draw_rules, an_empty_branch_goes_straight_on) {
  auto const dot = draw_dot(named("gap", {make_parallel("fan", {make_branch("none", {}), make_branch("one", {plain("a")})})}));
  EXPECT_THAT(dot, HasSubstr("\"fan fork\" -> \"fan join\" [weight"));
}

TEST(draw_rules, a_step_that_always_fails_ends_the_way_forward) {
  step stop;
  stop.id = "stop";
  fail_verb verb;
  verb.reason = value_template::literal("\"no\"");
  stop.verb = verb;
  auto const dot = draw_dot(named("fails", {plain("a"), stop}));
  EXPECT_THAT(dot, HasSubstr("fail &quot;no&quot;"));
  EXPECT_THAT(dot, HasSubstr("\"a\" -> \"stop\" [weight"));
  EXPECT_THAT(dot, Not(HasSubstr("-> \"completed\"")));
  EXPECT_THAT(dot, Not(HasSubstr("pivot")));

  stop.when = program("input.amount > 5");
  EXPECT_THAT(draw_dot(named("may fail", {stop})), HasSubstr("\"stop\" -> \"completed\""));
}

TEST(draw_rules, conditions_stand_on_the_arrow_into_their_step) {
  auto one = plain("a");
  one.when = program("input.amount >= 50");
  EXPECT_THAT(draw_dot(named("when", {one})),
              HasSubstr("\"start\" -> \"a\" [weight=4 label=<&#160;&#160;when input.amount &gt;= 50<br align=\"left\"/>>]"));
  EXPECT_THAT(draw_mermaid(named("when", {one})), HasSubstr("n0 -->|\"when input.amount #gt;= 50\"| n2"));
}

TEST(draw_rules, each_kind_of_fallback_stands_beside_its_step) {
  auto const constant = draw_dot(named("f", {with_fallback(plain("a"), constant_fallback("{\"v\":1}"))}));
  EXPECT_THAT(constant, HasSubstr("<b>a fixed value</b><br/><font point-size=\"10\">{&quot;v&quot;:1}</font>"));
  EXPECT_THAT(constant, HasSubstr("on timeout, unavailable"));
  EXPECT_THAT(constant, HasSubstr("alert: page"));

  fallback::call other;
  other.what = call("backup", http("GET", {"/v/", "{user}"}));
  auto const called = draw_dot(named("f", {with_fallback(plain("a"), fallback{4, std::move(other)})}));
  EXPECT_THAT(called, HasSubstr("<b>another call</b><br/><font point-size=\"10\">backup GET /v/{user}</font>"));
  EXPECT_THAT(called, HasSubstr("on refused"));

  EXPECT_THAT(draw_dot(order_saga()), HasSubstr("<b>last good output</b><br/><font point-size=\"10\">at most 1d old</font>"));
}

TEST(draw_rules, the_legend_names_only_what_is_there) {
  EXPECT_THAT(draw_dot(named("plain", {plain("a")})),
              HasSubstr("label=\"\ndashed: the way back after a failure, each call undoing its step\"\n"));
  EXPECT_THAT(draw_dot(order_saga()), HasSubstr("double border: pivot"));
}

TEST(draw_rules, sql_is_drawn_in_one_line) {
  sql_target sql;
  sql.text = "insert into audit(order_id)\n  values (:order_id)";
  EXPECT_THAT(draw_dot(named("sql", {make_step("log", atomicity::read_only, sql)})),
              HasSubstr("sql insert into audit(order_id)   values (:order_id)"));
}

TEST(draw_rules, drawing_twice_gives_the_same_text) {
  EXPECT_EQ(draw_dot(order_saga()), draw_dot(order_saga()));
  EXPECT_EQ(draw_mermaid(order_saga()), draw_mermaid(order_saga()));
}

}  // namespace
