// What a step sees of the steps around it.
#include "yaml/scope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

using testing::HasSubstr;

std::string read_only(std::string const& id, std::string const& more = "", std::string const& indent = "  ") {
  return indent + "- {id: " + id + ", call: shop x, read_only: true" + more + "}\n";
}
std::string using_(std::string const& id, std::string const& expression, std::string const& indent = "  ") {
  return indent + "- {id: " + id + ", call: shop x, read_only: true, in: {v: \"=" + expression + "\"}}\n";
}
std::string said(std::string const& steps, std::string const& tail = "") {
  return told(load_definition(saga_with(steps, tail)));
}

std::string const fan =
    "  - id: fan\n    parallel: {}\n    branches:\n"
    "      left:\n        - {id: a, call: shop x, read_only: true}\n        - {id: b, call: shop x, read_only: true, when: =input.id > 5}\n"
    "      right:\n        - {id: a, call: shop x, read_only: true}\n";

TEST(scope, earlier_steps_are_seen) {
  EXPECT_EQ(said(read_only("first") + using_("second", "steps.first.out.x")), "");
  EXPECT_EQ(said(read_only("a-b") + using_("second", "steps['a-b'].out.x")), "");
  EXPECT_THAT(said(using_("first", "steps.second.out.x") + read_only("second")), HasSubstr("step `second` (line 13) comes after this one"));
  EXPECT_THAT(said(using_("first", "steps.first.out.x")), HasSubstr("a step can't use its own output"));
  EXPECT_THAT(said(read_only("first") + using_("second", "steps.frist.out.x")),
              HasSubstr("there is no step `frist`; did you mean `first`?"));
}

TEST(scope, only_out_is_seen_of_a_step) {
  EXPECT_THAT(said(read_only("first") + using_("second", "steps.first.output")), HasSubstr("a step has `out` only"));
  EXPECT_THAT(said(read_only("first") + using_("second", "steps.first")), HasSubstr("its output is steps.first.out"));
  EXPECT_THAT(said(read_only("first") + using_("second", "steps")), HasSubstr("can't be used as a whole"));
  EXPECT_THAT(said(read_only("first") + using_("second", "steps[saga.key].out")), HasSubstr("can't be used as a whole"));
}

TEST(scope, a_branch_sees_what_stands_before_the_parallel_step) {
  EXPECT_EQ(said(read_only("first") + "  - id: fan\n    parallel: {}\n    branches:\n      left:\n" +
                 using_("a", "steps.first.out.x", "        ") + using_("b", "steps.a.out.x + steps.first.out.x", "        ")),
            "");
}

TEST(scope, a_branch_does_not_see_its_siblings) {
  auto const steps = "  - id: fan\n    parallel: {}\n    branches:\n      left:\n" + read_only("a", "", "        ") + "      right:\n" +
                     using_("b", "steps.a.out.x", "        ");
  EXPECT_THAT(said(steps), HasSubstr("step `a` (line 16) runs in another branch, side by side with this one"));
  auto const through = "  - id: fan\n    parallel: {}\n    branches:\n      left:\n" + read_only("a", "", "        ") + "      right:\n" +
                       using_("b", "steps.fan.left.a.out.x", "        ");
  EXPECT_THAT(said(through), HasSubstr("step `fan` (line 12) has not ended here"));
}

TEST(scope, a_finished_parallel_step_offers_its_branches) {
  EXPECT_EQ(said(fan + using_("after", "steps.fan.left.a.out.x + steps.fan.right.a.out.x")), "");
  EXPECT_THAT(said(fan + using_("after", "steps.a.out.x")), HasSubstr("once that has ended, write steps.fan.left.a.out"));
  EXPECT_THAT(said(fan + using_("after", "steps.fan.middle.a.out.x")), HasSubstr("has no branch `middle`"));
  EXPECT_THAT(said(fan + using_("after", "steps.fan.lefft.a.out.x")), HasSubstr("did you mean `left`?"));
  EXPECT_THAT(said(fan + using_("after", "steps.fan.left.z.out.x")), HasSubstr("branch `left` has no step `z`"));
  EXPECT_THAT(said(fan + using_("after", "steps.fan.out.x")), HasSubstr("has no branch `out`"));
  EXPECT_THAT(said(fan + using_("after", "steps.fan.left")), HasSubstr("is a branch"));
  EXPECT_THAT(said(fan + using_("after", "steps.fan")), HasSubstr("is a parallel step"));
}

TEST(scope, output_sees_all_of_the_root) {
  EXPECT_EQ(said(read_only("first") + fan, "output: {a: =steps.first.out.x, b: =steps.fan.left.a.out}\n"), "");
  EXPECT_THAT(said(fan, "output: =steps.a.out\n"), HasSubstr("stands inside a parallel step"));
}

TEST(scope, skipped_steps_need_has) {
  auto const maybe = read_only("maybe", ", when: =input.id > 5");
  EXPECT_THAT(said(maybe + using_("next", "steps.maybe.out.x")),
              HasSubstr("`steps.maybe.out` may be missing: step `maybe` has a `when` and may be skipped"));
  EXPECT_EQ(said(maybe + using_("next", "has(steps.maybe.out) ? steps.maybe.out : 0")), "");
  EXPECT_THAT(said(maybe + using_("next", "has(steps.maybe.out.x)")), HasSubstr("`steps.maybe.out` may be missing"));
  EXPECT_EQ(said(maybe + using_("next", "has(steps.maybe.out) && has(steps.maybe.out.x) ? steps.maybe.out.x : 0")), "");
  EXPECT_THAT(said(fan + using_("after", "steps.fan.left.b.out.x")), HasSubstr("`steps.fan.left.b.out` may be missing"));
}

TEST(scope, a_parallel_step_that_may_be_skipped_needs_has_of_its_branch) {
  auto skipped = fan;
  skipped.insert(skipped.find("    parallel"), "    when: =input.id > 5\n");
  EXPECT_THAT(said(skipped + using_("after", "steps.fan.left.a.out.x")), HasSubstr("`steps.fan.left` may be missing"));
  EXPECT_EQ(said(skipped + using_("after", "has(steps.fan.left) ? steps.fan.left.a.out.x : 0")), "");
}

TEST(scope, out_schemas_give_types) {
  auto const typed =
      read_only("price", ", out: {type: object, required: [total], properties: {total: {type: integer}, rebate: {type: integer}}}");
  EXPECT_EQ(said(typed + using_("next", "steps.price.out.total + 1")), "");
  EXPECT_NE(said(typed + using_("next", "steps.price.out.total + 'x'")), "");
  EXPECT_THAT(said(typed + using_("next", "steps.price.out.rebate")), HasSubstr("the `out` schema of step `price` does not require it"));
  EXPECT_THAT(said(typed + using_("next", "steps.price.out.totl")), HasSubstr("did you mean `total`?"));
}

TEST(scope, a_fallback_that_may_give_anything_loosens_the_type) {
  std::string const schema = ", out: {type: object, required: [total], properties: {total: {type: integer}}}";
  EXPECT_EQ(
      said(read_only("price", schema + ", fallback: {on: [timeout], use: {value: =input}}") + using_("next", "steps.price.out.other")), "");
  EXPECT_NE(
      said(read_only("price", schema + ", fallback: {on: [timeout], use: {value: {total: 5}}}") + using_("next", "steps.price.out.other")),
      "");
}

TEST(scope, ids_differ_along_what_is_seen) {
  EXPECT_THAT(said(read_only("a") + read_only("a")), HasSubstr("the id `a` is taken by the step on line 12"));
  EXPECT_EQ(said(fan + read_only("a")), "");
  EXPECT_THAT(said(read_only("a") + fan), HasSubstr("steps[1].branches.left[0].id   the id `a` is taken"));
  EXPECT_THAT(said("  - id: fan\n    parallel: {}\n    branches:\n      left:\n" + read_only("fan", "", "        ")),
              HasSubstr("the id `fan` is taken"));
}

TEST(scope, a_compensation_sees_what_its_step_sees_and_the_answer_guarded) {
  auto const undo = [](std::string const& value) {
    return "  - id: pay\n    call: shop pay\n    in: {amount: =input.id}\n    compensate: {call: shop refund, in: {v: \"=" + value +
           "\"}}\n";
  };
  EXPECT_EQ(said(read_only("first") + undo("steps.first.out.x")), "");
  EXPECT_EQ(said(undo("saga.id + saga.key")), "");
  EXPECT_EQ(said(undo("has(out.id) ? out.id : 0")), "");
  EXPECT_EQ(said(undo("has(out.id) && out.id > 5")), "");
  EXPECT_EQ(said(undo("-in.amount")), "");
  EXPECT_EQ(said(undo("in")), "");
  EXPECT_NE(said(undo("in.amuont")), "");
  EXPECT_NE(said(using_("first", "in.v")), "");
  EXPECT_THAT(said(undo("out.id")), HasSubstr("`out.id` may be missing: the outcome of `pay` can stay unknown"));
  EXPECT_THAT(said(undo("out")), HasSubstr("`out` may be missing"));
  EXPECT_THAT(said(undo("has(out.a.b)")), HasSubstr("`out.a.b` may be missing"));
  EXPECT_THAT(said(undo("steps.pay.out.id")), HasSubstr("in `compensate`, use in or out"));
}

TEST(scope, steps_are_listed_wherever_they_stand) {
  auto const tree = read(saga_with(read_only("first") + fan));
  auto const all = yaml::list_steps(yaml::spot{tree.root.value(), ""});
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[2].path, "steps[1].branches.left[0]");
  EXPECT_THAT(all[2].chain, testing::ElementsAre("fan", "left", "a"));
  EXPECT_EQ(all[4].line, 20U);
}

TEST(scope, a_nested_scope_is_taken_off_again) {
  yaml::scope names{{}};
  yaml::visible_step one;
  one.id = "one";
  names.add(one);
  auto const mark = names.mark();
  one.id = "two";
  names.add(one);
  EXPECT_TRUE(names.taken("two"));
  EXPECT_EQ(names.take_since(mark).size(), 1U);
  EXPECT_FALSE(names.taken("two"));
  EXPECT_TRUE(names.taken("one"));
  EXPECT_EQ(names.names().at("steps").fields().size(), 1U);
}

}  // namespace
}  // namespace atone::yaml_test
