// Each step says what happens to its effect, and the pivot stands where it can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string step(std::string const& id, std::string const& declared, std::string const& indent = "  ") {
  return indent + "- {id: " + id + ", call: shop x" + (declared.empty() ? "" : ", " + declared) + "}\n";
}
std::string const undo = "compensate: {call: shop y}";
std::string const pivot = "pivot: true, " + undo;
std::string const retriable = "retriable: true";
std::string const reads = "read_only: true";
std::string said(std::string const& steps) {
  return told(load_definition(saga_with(steps)));
}
std::string parallel(std::string const& id, std::string const& inside) {
  return "  - id: " + id + "\n    parallel: {}\n    branches:\n      left:\n" + inside;
}

TEST(atomicity, is_declared_by_every_step) {
  EXPECT_THAT(said(step("a", "")), HasSubstr("step `a` does not say what happens to its effect when the saga fails"));
  EXPECT_THAT(said(step("a", "pivot: false, retriable: false, read_only: false")), HasSubstr("does not say"));
  EXPECT_THAT(said(parallel("fan", step("a", "", "        "))), HasSubstr("steps[0].branches.left[0]   step `a` does not say"));
  for (auto const& one : {undo, pivot, reads}) EXPECT_EQ(said(step("a", one)), "") << one;
}

TEST(atomicity, a_get_is_not_taken_for_read_only) {
  EXPECT_THAT(told(load_definition(saga_with("  - {id: a, call: orders GET /x}\n"))), HasSubstr("does not say"));
}

TEST(atomicity, declarations_that_exclude_each_other) {
  EXPECT_THAT(said(step("a", reads + ", " + undo)), HasSubstr("`compensate` and `read_only` exclude each other"));
  EXPECT_THAT(said(step("p", pivot) + step("a", retriable + ", " + undo)), HasSubstr("`compensate` and `retriable` exclude each other"));
  EXPECT_THAT(said(step("p", "pivot: true, " + retriable)), HasSubstr("`pivot` and `retriable` exclude each other"));
  EXPECT_THAT(said(step("p", "pivot: true, " + reads)), HasSubstr("`pivot` and `read_only` exclude each other"));
  EXPECT_THAT(said(step("p", pivot) + step("a", retriable + ", " + reads)), HasSubstr("`retriable` and `read_only` exclude each other"));
}

TEST(atomicity, a_whole_saga_in_the_right_order) {
  EXPECT_EQ(
      said(step("a", undo) + step("b", reads) + parallel("fan", step("c", undo, "        ")) + step("p", pivot) + step("d", retriable) +
           parallel("fan2", step("e", retriable, "        ") + step("f", reads, "        ")) + step("g", reads)),
      "");
}

TEST(atomicity, one_pivot_at_most) {
  EXPECT_THAT(said(step("p", pivot) + step("q", pivot)), HasSubstr("steps[1].pivot   a saga has one pivot at most; `p` (line 12)"));
}

TEST(atomicity, no_pivot_inside_parallel) {
  EXPECT_THAT(said(parallel("fan", step("p", pivot, "        "))), HasSubstr("a pivot can't stand inside a parallel step"));
}

TEST(atomicity, before_the_pivot_everything_is_undone) {
  EXPECT_THAT(said(step("a", retriable) + step("p", pivot)), HasSubstr("step `a` is retriable, but stands before the pivot `p` (line 13)"));
  EXPECT_THAT(said(parallel("fan", step("a", retriable, "        ")) + step("p", pivot)), HasSubstr("stands before the pivot `p`"));
}

TEST(atomicity, without_a_pivot_everything_is_undone) {
  EXPECT_THAT(said(step("a", retriable)), HasSubstr("is retriable, but no step is the pivot"));
}

TEST(atomicity, after_the_pivot_nothing_is_undone) {
  EXPECT_THAT(said(step("p", pivot) + step("a", undo)),
              HasSubstr("step `a` stands after the pivot `p` (line 12), where nothing is undone any more"));
  EXPECT_THAT(said(step("p", pivot) + parallel("fan", step("a", undo, "        "))), HasSubstr("step `a` stands after the pivot"));
}

TEST(atomicity, fail_stands_before_the_pivot) {
  EXPECT_EQ(said(step("a", undo) + "  - {id: stop, when: =input.id > 5, fail: too much}\n" + step("p", pivot)), "");
  EXPECT_THAT(said(step("p", pivot) + "  - {id: stop, fail: too late}\n"), HasSubstr("`fail` after the pivot"));
  EXPECT_THAT(said(step("p", pivot) + parallel("fan", "        - {id: stop, fail: too late}\n")), HasSubstr("`fail` after the pivot"));
}

TEST(atomicity, a_pivot_without_compensation_is_a_warning) {
  auto const done = load_definition(saga_with(step("p", "pivot: true")));
  EXPECT_TRUE(done.ok());
  EXPECT_THAT(told(done), HasSubstr("warning: pivot step `p` has no compensation"));
}

TEST(atomicity, fallbacks_stand_beside_what_may_stay_undone) {
  std::string const fallback = ", fallback: {on: [timeout], use: {value: 1}}";
  EXPECT_EQ(said(step("a", undo + fallback)), "");
  EXPECT_EQ(said(step("a", reads + fallback)), "");
  EXPECT_THAT(said(step("p", pivot + fallback)), HasSubstr("a pivot can't have a fallback"));
  EXPECT_THAT(said(step("p", pivot) + step("a", retriable + fallback)), HasSubstr("a retriable step can't have a fallback"));
}

TEST(atomicity, promises_are_in_the_definition) {
  auto const done = load_definition(saga_with(step("a", undo) + step("b", reads) + step("p", pivot) + step("c", retriable) +
                                              parallel("fan", step("d", retriable, "        ") + step("e", reads, "        ")) +
                                              parallel("fan2", step("f", reads, "        "))));
  ASSERT_TRUE(done.ok()) << told(done);
  std::vector<atomicity> promises;
  for (auto const& one : done.definition->steps) promises.push_back(one.promise);
  EXPECT_THAT(promises, testing::ElementsAre(atomicity::compensable, atomicity::read_only, atomicity::pivot, atomicity::retriable,
                                             atomicity::retriable, atomicity::read_only));
}

}  // namespace
}  // namespace atone::yaml_test
