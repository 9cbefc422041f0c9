// What is found before anything runs: names, fields, functions and types, each with the nearest known word.
#include <gmock/gmock.h>

#include "expr/suggestion.hpp"
#include "support.hpp"

namespace atone::expr {
namespace {

using ::testing::HasSubstr;

type::field field(std::string name, type of, bool required = true) {
  return type::field{std::move(name), std::make_shared<type const>(std::move(of)), required};
}

type kind(type_kind of) {
  return type{of};
}

// An order as a schema would describe it: closed, one list of objects, one optional field.
declarations order_names() {
  auto const line = type::object_of({field("sku", kind(type_kind::string)), field("quantity", kind(type_kind::integer))}, false);
  auto const order = type::object_of(
      {field("order_id", kind(type_kind::integer)), field("amount", kind(type_kind::integer)), field("price", kind(type_kind::floating)),
       field("note", kind(type_kind::string), false), field("items", type::list_of(line)), field("extra", type{})},
      false);
  auto const open = type::object_of({field("known", kind(type_kind::boolean))}, true);
  return {{"input", order}, {"saga", open}, {"anything", type{}}};
}

std::string refusal(std::string_view text) {
  return refusal_of(text, order_names());
}

std::string type_of(std::string_view text) {
  auto const made = program::compile(text, order_names());
  return made ? made->result_type().text() : "refused: " + made.error().message;
}

TEST(expr_check, unknown_names_suggest_the_nearest) {
  EXPECT_EQ(refusal("inptu.amount"), "unknown name 'inptu'; did you mean 'input'?");
  EXPECT_EQ(refusal("sage.id"), "unknown name 'sage'; did you mean 'saga'?");
  EXPECT_EQ(refusal("customer.id"), "unknown name 'customer'");
  EXPECT_EQ(refusal("input.items.all(item, itme.quantity > 0)"), "unknown name 'itme'; did you mean 'item'?");
}

TEST(expr_check, unknown_fields_of_closed_objects) {
  EXPECT_EQ(refusal("input.amuont"), "unknown field 'amuont'; did you mean 'amount'?");
  EXPECT_EQ(refusal("input['ammount']"), "unknown field 'ammount'; did you mean 'amount'?");
  EXPECT_EQ(refusal("has(input.notes)"), "unknown field 'notes'; did you mean 'note'?");
  EXPECT_EQ(refusal("input.items[0].qty"), "unknown field 'qty'");
  EXPECT_EQ(refusal("input.items.map(i, i.skuu)"), "unknown field 'skuu'; did you mean 'sku'?");
  EXPECT_EQ(refusal("saga.whatever"), "accepted");
  EXPECT_EQ(refusal("input.extra.whatever[3].more"), "accepted");
  EXPECT_EQ(refusal("anything.goes.here"), "accepted");
}

TEST(expr_check, fields_of_what_has_none) {
  EXPECT_EQ(refusal("input.amount.value"), "a value of type integer has no field 'value'");
  EXPECT_EQ(refusal("input.items.sku"), "a value of type list of object has no field 'sku'");
  EXPECT_EQ(refusal("input.amount[0]"), "a value of type integer can't be indexed");
  EXPECT_EQ(refusal("input.items['a']"), "a list is indexed by a number, found string");
  EXPECT_EQ(refusal("input[0]"), "keys are strings, found integer");
}

TEST(expr_check, operators_know_their_types) {
  EXPECT_THAT(refusal("input.amount + 'x'"), HasSubstr("'+' can't take integer and string"));
  EXPECT_THAT(refusal("input.price * 2"), HasSubstr("'*' can't take double and integer; convert one side"));
  EXPECT_THAT(refusal("input.note - 1"), HasSubstr("'-' can't take string and integer"));
  EXPECT_THAT(refusal("-input.note"), HasSubstr("'-' needs an integer or a double, found string"));
  EXPECT_THAT(refusal("input.amount && true"), HasSubstr("expected a boolean, found integer"));
  EXPECT_THAT(refusal("!input.items"), HasSubstr("expected a boolean, found list of object"));
  EXPECT_THAT(refusal("input.amount == 'x'"), HasSubstr("never equal"));
  EXPECT_THAT(refusal("input.amount in ['a']"), HasSubstr("'in' can never find integer in list of string"));
  EXPECT_THAT(refusal("1 in input"), HasSubstr("keys are strings"));
  EXPECT_THAT(refusal("input.items.all(i, i.quantity)"), HasSubstr("expected a boolean, found integer"));
  EXPECT_THAT(refusal("input.amount.all(i, true)"), HasSubstr("a macro needs a list or a map"));
  EXPECT_THAT(refusal("[1].map(x, x, x)"), HasSubstr("expected a boolean, found integer"));
  EXPECT_EQ(refusal("input.amount == null"), "accepted");
  EXPECT_EQ(refusal("input.price > 1"), "accepted");
  EXPECT_EQ(refusal("input.price == 1"), "accepted");
  EXPECT_EQ(refusal("anything.x + 'x'"), "accepted");
  EXPECT_THAT(refusal("anything.x + true"), HasSubstr("'+' can't take dynamic and boolean"));
}

TEST(expr_check, functions_know_their_arguments) {
  EXPECT_EQ(refusal("sise(input.items)"), "unknown function 'sise'; did you mean 'size'?");
  EXPECT_EQ(refusal("input.note.beginsWith('a')"), "unknown function 'beginsWith'");
  EXPECT_EQ(refusal("input.items.exist(i, true)"), "unknown function 'exist'; did you mean 'exists'?");
  EXPECT_EQ(refusal("input.amount.contains('a')"), "contains() needs string, found integer");
  EXPECT_EQ(refusal("input.note.contains(1)"), "contains() needs string between its brackets, found integer");
  EXPECT_EQ(refusal("size(1, 2)"), "size() takes 1 argument, found 2");
  EXPECT_EQ(refusal("input.note.startsWith()"), "startsWith() takes 1 argument, found 0");
  EXPECT_EQ(refusal("min()"), "min() takes 1 to 32 arguments, found 0");
  EXPECT_EQ(refusal("min(input)"), "min() needs boolean, integer, unsigned integer, double, string or list, found object");
}

TEST(expr_check, result_types) {
  EXPECT_EQ(type_of("input.amount + 1"), "integer");
  EXPECT_EQ(type_of("input.amount + anything.x"), "integer");
  EXPECT_EQ(type_of("anything.x + anything.y"), "dynamic");
  EXPECT_EQ(type_of("input.items.map(i, i.sku)"), "list of string");
  EXPECT_EQ(type_of("input.items.filter(i, i.quantity > 1)"), "list of object");
  EXPECT_EQ(type_of("input.items[0].quantity"), "integer");
  EXPECT_EQ(type_of("[1, 2]"), "list of integer");
  EXPECT_EQ(type_of("[1, 'a']"), "list");
  EXPECT_EQ(type_of("[]"), "list");
  EXPECT_EQ(type_of("[[1], [2]]"), "list of list of integer");
  EXPECT_EQ(type_of("{'a': 1}"), "object");
  EXPECT_EQ(type_of("{'a': 1}.a"), "integer");
  EXPECT_EQ(type_of("true ? 1 : 2"), "integer");
  EXPECT_EQ(type_of("true ? 1 : null"), "dynamic");
  EXPECT_EQ(type_of("has(input.note)"), "boolean");
  EXPECT_EQ(type_of("max(input.amount, 5)"), "integer");
  EXPECT_EQ(type_of("max([1.5])"), "double");
  EXPECT_EQ(type_of("dyn(1)"), "dynamic");
  EXPECT_EQ(type_of("1u"), "unsigned integer");
  EXPECT_EQ(type_of("null"), "null");
  EXPECT_EQ(type_of("input"), "object");
  EXPECT_EQ(type_of("string(1)"), "string");
  EXPECT_EQ(type_of("{'k': 1}.map(k, k)"), "list of string");
}

TEST(expr_check, a_macro_variable_hides_a_declared_name) {
  EXPECT_EQ(refusal("input.items.all(input, input.quantity > 0)"), "accepted");
  EXPECT_EQ(refusal("input.items.all(input, input.amount > 0)"), "unknown field 'amount'");
}

TEST(expr_check, types_describe_themselves) {
  auto const object = type::object_of({field("a", kind(type_kind::string))}, false);
  EXPECT_EQ(type::list_of(type::list_of(object)).text(), "list of list of object");
  EXPECT_NE(object.find("a"), nullptr);
  EXPECT_EQ(object.find("b"), nullptr);
  EXPECT_FALSE(object.open());
  EXPECT_TRUE(type{}.open());
  EXPECT_TRUE(type{}.fields().empty());
  EXPECT_EQ(type{}.element().kind(), type_kind::dynamic);
}

TEST(expr_check, edit_distance) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("abc", "abc"), 0U);
  EXPECT_EQ(edit_distance("abc", "acb"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

}  // namespace
}  // namespace atone::expr
