// No expression and no data makes an evaluation long, large or deep.
#include <gmock/gmock.h>

#include "support.hpp"

namespace atone::expr {
namespace {

using ::testing::HasSubstr;

bounds steps(std::uint64_t most) {
  bounds limits;
  limits.steps_max = most;
  return limits;
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t at = 0; at < count; ++at) out += text;
  return out;
}

errc code_of(std::string_view text, std::string_view values, bounds const& limits = {}) {
  auto const bound = bind(values);
  auto const made = program::compile(text, dynamic_names(bound));
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  auto const found = made->evaluate(bound, limits);
  EXPECT_FALSE(found);
  return found ? errc::internal : found.error().code;
}

TEST(expr_bounds, each_node_is_a_step) {
  EXPECT_EQ(outcome_of("1 + 2", "{}", steps(3)), "3");
  EXPECT_EQ(outcome_of("1 + 2", "{}", steps(2)), "error: needs more than 2 steps at character 5 of `1 + 2`");
  EXPECT_EQ(code_of("1 + 2", "{}", steps(2)), errc::exhausted);
}

TEST(expr_bounds, macros_multiply_steps) {
  std::string const text = "[1,2,3,4,5,6,7,8,9,10]";
  auto const nested = text + ".all(a, " + text + ".all(b, " + text + ".all(c, " + text + ".all(d, " + text + ".all(e, a+b+c+d+e > 0)))))";
  EXPECT_THAT(outcome_of(nested), HasSubstr("needs more than 100000 steps"));
}

TEST(expr_bounds, exhaustion_is_never_absorbed) {
  std::string const loop = "x.all(a, x.all(b, true))";
  std::string const values = R"({"x": [)" + repeated("1,", 500) + "1]}";
  EXPECT_EQ(code_of(loop + " || true", values, steps(1000)), errc::exhausted);
  EXPECT_EQ(code_of(loop + " && false", values, steps(1000)), errc::exhausted);
  EXPECT_EQ(code_of("x.exists(y, " + loop + ")", values, steps(1000)), errc::exhausted);
}

TEST(expr_bounds, doubling_strings_end_early) {
  auto const text = "['ab']" + repeated(".map(s, s + s)", 200);
  EXPECT_EQ(code_of(text, "{}", steps(20'000)), errc::exhausted);
}

TEST(expr_bounds, doubling_lists_end_early) {
  auto const text = "[[1]]" + repeated(".map(l, l + l)", 200);
  auto limits = steps(20'000);
  EXPECT_EQ(code_of(text, "{}", limits), errc::exhausted);
  limits.result_bytes_max = 100'000;
  EXPECT_EQ(code_of("[1]" + repeated(".map(l, [l, l])", 60), "{}", limits), errc::exhausted);
}

TEST(expr_bounds, long_strings_cost_steps) {
  std::string const values = R"({"s": ")" + std::string(1'000'000, 'a') + R"(", "l": [1,2,3,4,5,6,7,8,9,10]})";
  EXPECT_EQ(outcome_of("s.contains('b')", values), "false");
  EXPECT_EQ(code_of("l.all(i, s.contains('b') || true)", values), errc::exhausted);
  EXPECT_EQ(code_of("l.all(i, s == 'b' || true)", values), errc::exhausted);
  EXPECT_EQ(code_of("l.all(i, s < 'b' || true)", values), errc::exhausted);
  EXPECT_EQ(code_of("l.all(i, size(s) > 0)", values), errc::exhausted);
  EXPECT_EQ(code_of("l.all(i, s.matches('b') || true)", values), errc::exhausted);
  EXPECT_EQ(code_of("l.map(i, s + 'b')", values), errc::exhausted);
}

TEST(expr_bounds, long_lists_cost_steps) {
  std::string const values = R"({"l": [)" + repeated("[1],", 4000) + "[1]]}";
  EXPECT_EQ(outcome_of("l[4000]", values), "[1]");
  EXPECT_EQ(code_of("l.all(i, l[4000] == [1])", values, steps(20'000)), errc::exhausted);
  EXPECT_EQ(code_of("l.all(i, i in l)", values, steps(20'000)), errc::exhausted);
  EXPECT_EQ(code_of("l.all(i, l + [i] == l || true)", values, steps(20'000)), errc::exhausted);
}

TEST(expr_bounds, patterns_made_at_run_time_cost_steps) {
  std::string const values = R"({"l": [)" + repeated("1,", 3000) + R"(1], "p": "a{100}b{100}"})";
  EXPECT_EQ(code_of("l.all(i, 'x'.matches(p) || true)", values), errc::exhausted);
  EXPECT_EQ(outcome_of("l.all(i, 'x'.matches('^x$'))", values), "true");
}

TEST(expr_bounds, patterns_are_bounded) {
  EXPECT_THAT(outcome_of("'a'.matches('" + std::string(2000, 'a') + "')"),
              HasSubstr("refused: not a regular expression: a pattern of 2000 bytes"));
  EXPECT_THAT(outcome_of("'a'.matches('((a{100}){100}){100}')"), HasSubstr("refused: not a regular expression"));
  EXPECT_EQ(outcome_of("s.matches('(a*)*b')", R"({"s": ")" + std::string(10'000, 'a') + "\"}"), "false");
}

TEST(expr_bounds, results_are_bounded) {
  bounds small;
  small.result_bytes_max = 10;
  EXPECT_EQ(outcome_of("[1, 2, 3]", "{}", small), "[1,2,3]");
  EXPECT_EQ(outcome_of("[1, 2, 3, 4, 5]", "{}", small), "error: the result is longer than 10 bytes (`[1, 2, 3, 4, 5]`)");
  EXPECT_THAT(outcome_of("x", R"({"x": "0123456789"})", small), HasSubstr("longer than 10 bytes"));
  EXPECT_THAT(outcome_of("{'a': 'bcdefghi'}", "{}", small), HasSubstr("longer than 10 bytes"));
  EXPECT_THAT(outcome_of("'abcdef' + 'ghijkl' == ''", "{}", small), HasSubstr("makes a string longer than 10 bytes"));
}

TEST(expr_bounds, deep_data_costs_no_stack) {
  constexpr std::size_t deep = 20'000;
  json::limits wide;
  wide.depth_max = deep;
  auto const parsed = json::parse(repeated("[", deep) + repeated("]", deep), wide);
  auto const other = json::parse(repeated("[", deep) + " " + repeated("]", deep), wide);
  ASSERT_TRUE(parsed && other);
  bindings values;
  values.emplace("x", *parsed);
  values.emplace("y", *other);
  auto const made = program::compile("x == y", dynamic_names(values));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->evaluate(values, steps(1000)).error().code, errc::exhausted);
  EXPECT_EQ(made->evaluate(values, steps(1'000'000'000))->raw(), "true");
}

TEST(expr_bounds, a_built_result_is_no_deeper_than_json_is_accepted) {
  constexpr std::size_t deep = 1024;
  bindings values;
  values.emplace("x", read_json(repeated("[", deep) + repeated("]", deep)));
  EXPECT_TRUE(program::compile("x", dynamic_names(values))->evaluate(values));
  auto const wrapped = program::compile("[x]", dynamic_names(values))->evaluate(values);
  ASSERT_FALSE(wrapped);
  EXPECT_EQ(wrapped.error().code, errc::exhausted);
  EXPECT_THAT(wrapped.error().message, HasSubstr("nested deeper than 1024"));
}

}  // namespace
}  // namespace atone::expr
