// Bytes that are only passed on, numbers as their schema declares them, and errors that name their place.
#include <gmock/gmock.h>

#include "support.hpp"

namespace atone::expr {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view awkward =
    R"({"id" : 9007199254740993, "big":1E400,"nought":-0, "tenth" : 0.10,"word":"\u0041\/", "items":[ {"n":1.0} , 2e0 ]})";

std::string passed(std::string_view text) {
  return outcome_of(text, R"({"input": )" + std::string{awkward} + "}");
}

TEST(expr_passing, whole_values_keep_their_bytes) {
  EXPECT_EQ(passed("input"), awkward);
  EXPECT_EQ(passed("input.id"), "9007199254740993");
  EXPECT_EQ(passed("input.big"), "1E400");
  EXPECT_EQ(passed("input.nought"), "-0");
  EXPECT_EQ(passed("input.tenth"), "0.10");
  EXPECT_EQ(passed("input.word"), R"("\u0041\/")");
  EXPECT_EQ(passed("input.items"), R"([ {"n":1.0} , 2e0 ])");
  EXPECT_EQ(passed("input.items[0]"), R"({"n":1.0})");
  EXPECT_EQ(passed("input['items'][1]"), "2e0");
}

TEST(expr_passing, inside_what_the_expression_builds) {
  EXPECT_EQ(passed("[input.big, input.items]"), R"([1E400,[ {"n":1.0} , 2e0 ]])");
  EXPECT_EQ(passed("{'a': input.word, 'b': {'c': input.nought}}"), R"({"a":"\u0041\/","b":{"c":-0}})");
  EXPECT_EQ(passed("true ? input.tenth : 1"), "0.10");
  EXPECT_EQ(passed("has(input.none) ? 1 : input.tenth"), "0.10");
  EXPECT_EQ(passed("input.items.filter(i, true)"), R"([{"n":1.0},2e0])");
  EXPECT_EQ(passed("input.items.map(i, [i])"), R"([[{"n":1.0}],[2e0]])");
  EXPECT_EQ(passed("input.items + [input.big]"), R"([{"n":1.0},2e0,1E400])");
  EXPECT_EQ(passed("max(input.tenth, 0)"), "0.10");
  EXPECT_EQ(passed("dyn(input.tenth)"), "0.10");
}

TEST(expr_passing, what_is_calculated_is_ours) {
  EXPECT_EQ(passed("input.id + 1"), "9007199254740994");
  EXPECT_EQ(passed("input.tenth + 0.0"), "0.1");
  EXPECT_EQ(passed("input.items[1] * 1.0"), "2.0");
  EXPECT_EQ(passed("input.word + ''"), "\"A/\"");
  EXPECT_THAT(passed("input.big + 1.0"),
              HasSubstr("the number 1E400 is too large to calculate with; it can only be passed on at character 11 of"));
}

type::field field(std::string name, type_kind kind) {
  return type::field{std::move(name), std::make_shared<type const>(type{kind}), true};
}

// As JSON Schema's `integer` and `number` would declare them.
std::string declared(std::string_view text, std::string_view input) {
  std::vector<type::field> fields{field("whole", type_kind::integer), field("real", type_kind::floating)};
  fields.push_back(type::field{"reals", std::make_shared<type const>(type::list_of(type{type_kind::floating})), false});
  auto const made = program::compile(text, {{"input", type::object_of(std::move(fields), false)}});
  if (!made) return "refused: " + made.error().message;
  bindings values;
  values.emplace("input", read_json(input));
  auto const found = made->evaluate(values);
  return found ? std::string{found->raw()} : "error: " + found.error().message;
}

TEST(expr_declared, numbers_calculate_as_declared_however_they_are_written) {
  EXPECT_EQ(declared("input.real * 2.0", R"({"real": 5})"), "10.0");
  EXPECT_EQ(declared("input.real + input.real", R"({"real": 5})"), "10.0");
  EXPECT_EQ(declared("-input.real", R"({"real": 5})"), "-5.0");
  EXPECT_EQ(declared("string(input.real / 2.0)", R"({"real": 5})"), "\"2.5\"");
  EXPECT_EQ(declared("input.whole + 1", R"({"whole": 41.0})"), "42");
  EXPECT_EQ(declared("input.whole + 1", R"({"whole": 4.1e1})"), "42");
  EXPECT_EQ(declared("string(input.whole)", R"({"whole": 41.0})"), "\"41\"");
  EXPECT_EQ(declared("input['real'] * 2.0", R"({"real": 5})"), "10.0");
  EXPECT_EQ(declared("input.reals.map(r, r * 2.0)", R"({"reals": [1, 1.5]})"), "[2.0,3.0]");
  EXPECT_EQ(declared("input.reals[0] * 2.0", R"({"reals": [1, 1.5]})"), "2.0");
}

TEST(expr_declared, passing_on_still_keeps_the_bytes) {
  EXPECT_EQ(declared("input.real", R"({"real": 5})"), "5");
  EXPECT_EQ(declared("[input.whole]", R"({"whole": 41.0})"), "[41.0]");
}

TEST(expr_declared, comparisons_stay_exact) {
  EXPECT_EQ(declared("input.real == 9007199254740992", R"({"real": 9007199254740993})"), "false");
  EXPECT_EQ(declared("input.whole == 1", R"({"whole": 1.0})"), "true");
}

TEST(expr_declared, what_breaks_its_declaration_is_an_error) {
  EXPECT_THAT(declared("input.whole + 1", R"({"whole": 1.5})"), HasSubstr("'+' can't take double and integer"));
  EXPECT_THAT(declared("input.whole + 1", R"({"whole": 1e17})"), HasSubstr("'+' can't take double and integer"));
  EXPECT_THAT(declared("input.whole + 1", R"({"whole": "1"})"), HasSubstr("'+' can't take string and integer"));
}

TEST(expr_errors, name_the_character) {
  EXPECT_EQ(outcome_of("x.a + x.b", R"({"x": {"a": 1}})"), "error: no such field 'b' at character 9 of `x.a + x.b`");
  EXPECT_EQ(outcome_of("'é' == 'é' && 1 / 0 > 1"), "error: division by zero at character 17 of `'é' == 'é' && 1 / 0 > 1`");
  EXPECT_EQ(outcome_of("[1, 2][7]"), "error: no element 7 in a list of 2 at character 7 of `[1, 2][7]`");
}

TEST(expr_errors, long_texts_are_cut) {
  std::string const text = "'" + std::string(300, 'a') + "' + x";
  auto const found = outcome_of(text, R"({"x": 1})");
  EXPECT_THAT(found, HasSubstr("…`"));
  EXPECT_LT(found.size(), 300U);
}

TEST(expr_errors, have_their_code) {
  auto const made = program::compile("x.a", {{"x", type{}}});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->evaluate(bind(R"({"x": {}})")).error().code, errc::invalid_argument);
  EXPECT_EQ(made->evaluate({}).error().message, "no value was given for 'x' at character 1 of `x.a`");
}

TEST(expr_bool, must_be_boolean) {
  auto const made = program::compile("x.ready", {{"x", type{}}});
  ASSERT_TRUE(made);
  EXPECT_EQ(*made->evaluate_bool(bind(R"({"x": {"ready": true}})")), true);
  EXPECT_EQ(*made->evaluate_bool(bind(R"({"x": {"ready": false}})")), false);
  EXPECT_EQ(made->evaluate_bool(bind(R"({"x": {"ready": 1}})")).error().message, "expected a boolean, found number from `x.ready`");
  EXPECT_THAT(made->evaluate_bool(bind(R"({"x": {}})")).error().message, HasSubstr("no such field 'ready'"));
}

TEST(expr_program, is_a_value) {
  auto made = program::compile("x + 1", {{"x", type{}}});
  ASSERT_TRUE(made);
  auto const copy = *made;
  EXPECT_EQ(copy.text(), "x + 1");
  EXPECT_EQ(copy.evaluate(bind(R"({"x": 1})"))->raw(), "2");
  EXPECT_EQ(copy.evaluate(bind(R"({"x": 2})"))->raw(), "3");
}

TEST(expr_program, ignores_values_it_does_not_name) {
  auto const made = program::compile("1", {});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->evaluate(bind(R"({"x": 1})"))->raw(), "1");
}

}  // namespace
}  // namespace atone::expr
