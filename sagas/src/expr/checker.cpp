#include "checker.hpp"

#include <algorithm>
#include <array>

#include "pattern.hpp"
#include "suggestion.hpp"

namespace atone::expr {
namespace {

// What CEL has and this language leaves out, so that the message can say so.
constexpr std::array<std::string_view, 7> left_out{"timestamp", "duration", "bytes", "type", "getFullYear", "getHours", "getDate"};

mistake at(expression const& of, std::string message) {
  return mistake{of.offset, of.length, std::move(message)};
}

number_hint hint_of(type const& declared) noexcept {
  if (declared.kind() == type_kind::floating) return number_hint::floating;
  return declared.kind() == type_kind::integer ? number_hint::integer : number_hint::by_text;
}

std::optional<std::string> constant_text(expression const& of) {
  if (of.kind != node_kind::literal || of.literal.text() == nullptr) return std::nullopt;
  return *of.literal.text();
}

type literal_type(datum const& literal) {
  return type{literal.kind()};
}

}  // namespace

result<type, mistake> checker::check(expression& of) {
  switch (of.kind) {
    case node_kind::literal: return literal_type(of.literal);
    case node_kind::name: return name(of);
    case node_kind::select: {
      auto from = check(*of.children[0]);
      if (!from) return from;
      auto found = field_of(of, *from, of.text);
      if (found) of.hint = hint_of(*found);
      return found;
    }
    case node_kind::has: {
      auto from = check(*of.children[0]);
      if (!from) return from;
      auto found = field_of(of, *from, of.text);
      return found ? checked{type{type_kind::boolean}} : found;
    }
    case node_kind::index: return index(of);
    case node_kind::negate: return negate(of);
    case node_kind::logical_not:
    case node_kind::all_of:
    case node_kind::any_of: return logical(of);
    case node_kind::binary: return binary(of);
    case node_kind::conditional: return conditional(of);
    case node_kind::call: return call(of);
    case node_kind::list: return list(of);
    case node_kind::map: return map(of);
    case node_kind::macro: return macro(of);
  }
  return at(of, "unknown node");
}

result<type, mistake> checker::name(expression& of) {
  auto const local = std::find_if(locals_.rbegin(), locals_.rend(), [&](auto const& one) { return one.first == of.text; });
  if (local != locals_.rend()) {
    of.local = true;
    of.hint = hint_of(local->second);
    return local->second;
  }
  auto const declared = names_.find(of.text);
  if (declared != names_.end()) {
    of.hint = hint_of(declared->second);
    return declared->second;
  }
  std::vector<std::string_view> known;
  for (auto const& [word, type] : names_) known.push_back(word);
  for (auto const& [word, type] : locals_) known.push_back(word);
  return at(of, "unknown name '" + of.text + "'" + did_you_mean(of.text, known));
}

result<type, mistake> checker::field_of(expression const& of, type const& from, std::string_view field) {
  if (from.kind() == type_kind::dynamic || from.kind() == type_kind::map) return type{};
  if (from.kind() != type_kind::object) return at(of, "a value of type " + from.text() + " has no field '" + std::string{field} + "'");
  if (auto const* known = from.find(field)) return known->of ? *known->of : type{};
  if (from.open()) return type{};
  std::vector<std::string_view> names;
  for (auto const& one : from.fields()) names.push_back(one.name);
  return at(of, "unknown field '" + std::string{field} + "'" + did_you_mean(field, names));
}

result<type, mistake> checker::index(expression& of) {
  auto from = check(*of.children[0]);
  if (!from) return from;
  auto key = check(*of.children[1]);
  if (!key) return key;
  constexpr auto numbers = any_of(type_kind::dynamic, type_kind::integer, type_kind::unsigned_integer, type_kind::floating);
  constexpr auto words = any_of(type_kind::dynamic, type_kind::string);
  auto const kind = from->kind();
  if (kind == type_kind::dynamic) return type{};
  if (kind == type_kind::list) {
    if ((numbers & one(key->kind())) == 0) return at(of, "a list is indexed by a number, found " + key->text());
    of.hint = hint_of(from->element());
    return from->element();
  }
  if (kind != type_kind::map && kind != type_kind::object) return at(of, "a value of type " + from->text() + " can't be indexed");
  if ((words & one(key->kind())) == 0) return at(of, "keys are strings, found " + key->text());
  auto const constant = constant_text(*of.children[1]);
  if (!constant) return type{};
  auto found = field_of(*of.children[1], *from, *constant);
  if (found) of.hint = hint_of(*found);
  return found;
}

std::optional<mistake> checker::must_be_boolean(expression& of) {
  auto found = check(of);
  if (!found) return std::move(found.error());
  if (found->kind() == type_kind::dynamic || found->kind() == type_kind::boolean) return std::nullopt;
  return at(of, "expected a boolean, found " + found->text());
}

result<type, mistake> checker::logical(expression& of) {
  for (auto& operand : of.children) {
    if (auto wrong = must_be_boolean(*operand)) return std::move(*wrong);
  }
  return type{type_kind::boolean};
}

result<type, mistake> checker::conditional(expression& of) {
  if (auto wrong = must_be_boolean(*of.children[0])) return std::move(*wrong);
  auto chosen = check(*of.children[1]);
  if (!chosen) return chosen;
  auto otherwise = check(*of.children[2]);
  if (!otherwise) return otherwise;
  return common(*chosen, *otherwise);
}

result<type, mistake> checker::binary(expression& of) {
  auto left = check(*of.children[0]);
  if (!left) return left;
  auto right = check(*of.children[1]);
  if (!right) return right;
  auto found = binary_type(of.op, *left, *right);
  if (!found) return at(of, std::move(found.error()));
  return *found;
}

result<type, mistake> checker::negate(expression& of) {
  auto found = check(*of.children[0]);
  if (!found) return found;
  constexpr auto accepted = any_of(type_kind::dynamic, type_kind::integer, type_kind::floating);
  if ((accepted & one(found->kind())) == 0) return at(of, "'-' needs an integer or a double, found " + found->text());
  return found;
}

// Finds the function and counts arguments.
result<type, mistake> checker::resolve(expression& of) {
  of.function = find_function(of.text);
  if (of.function == nullptr) {
    bool const known_elsewhere = std::find(left_out.begin(), left_out.end(), of.text) != left_out.end();
    if (known_elsewhere) return at(of, "'" + of.text + "' is not part of this language");
    return at(of, "unknown function '" + of.text + "'" + did_you_mean(of.text, function_names()));
  }
  auto const& function = *of.function;
  if (of.member && !function.member) return at(of, "'" + of.text + "' is called as " + of.text + "(x)");
  if (!of.member && !function.global) return at(of, "'" + of.text + "' is called as x." + of.text + "(y)");
  auto const given = of.children.size();
  if (given >= function.arguments_min && given <= function.arguments_max) return type{};
  auto const own = of.member ? 1U : 0U;
  auto expected = std::to_string(function.arguments_min - own);
  if (function.arguments_max != function.arguments_min) expected += " to " + std::to_string(function.arguments_max - own);
  return at(of, of.text + "() takes " + expected + " argument" + (expected == "1" ? "" : "s") + ", found " + std::to_string(given - own));
}

result<type, mistake> checker::call(expression& of) {
  auto resolved = resolve(of);
  if (!resolved) return resolved;
  auto const& function = *of.function;
  std::optional<type> all;
  for (std::size_t argument = 0; argument < of.children.size(); ++argument) {
    auto found = check(*of.children[argument]);
    if (!found) return found;
    auto const kind = found->kind() == type_kind::object ? type_kind::map : found->kind();
    bool const accepted = kind == type_kind::dynamic || (function.accepted(argument) & one(kind)) != 0;
    if (!accepted) return at(of, function.wrong_argument(argument, found->text()));
    all = all ? common(*all, *found) : *found;
  }
  if (of.text == "matches") return constant_pattern(of);
  bool const picks_one = of.text == "min" || of.text == "max";
  if (!picks_one) return type{function.result};
  return of.children.size() == 1 && all->kind() == type_kind::list ? all->element() : *all;
}

// A constant pattern is compiled once, and refused here when it is wrong.
result<type, mistake> checker::constant_pattern(expression& of) {
  if (auto const constant = constant_text(*of.children[1])) {
    auto made = pattern::compile(*constant);
    if (!made) return at(*of.children[1], "not a regular expression: " + made.error().message);
    of.regex = std::move(*made);
  }
  return type{type_kind::boolean};
}

result<type, mistake> checker::list(expression& of) {
  std::optional<type> all;
  for (auto& item : of.children) {
    auto found = check(*item);
    if (!found) return found;
    all = all ? common(*all, *found) : *found;
  }
  return type::list_of(all.value_or(type{}));
}

// Constant keys make an object whose fields are known, though others may be asked for.
result<type, mistake> checker::map(expression& of) {
  std::vector<type::field> fields;
  for (std::size_t entry = 0; entry + 1 < of.children.size(); entry += 2) {
    auto& key = *of.children[entry];
    auto found = check(key);
    if (!found) return found;
    if (found->kind() != type_kind::dynamic && found->kind() != type_kind::string)
      return at(key, "keys are strings, found " + found->text());
    auto value = check(*of.children[entry + 1]);
    if (!value) return value;
    auto const constant = constant_text(key);
    if (!constant) continue;
    bool const twice = std::any_of(fields.begin(), fields.end(), [&](auto const& known) { return known.name == *constant; });
    if (twice) return at(key, "the key '" + *constant + "' is given twice");
    fields.push_back(type::field{*constant, std::make_shared<type const>(std::move(*value)), true});
  }
  return type::object_of(std::move(fields), true);
}

result<type, mistake> checker::macro(expression& of) {
  auto range = check(*of.children[0]);
  if (!range) return range;
  constexpr auto accepted = any_of(type_kind::dynamic, type_kind::list, type_kind::map, type_kind::object);
  if ((accepted & one(range->kind())) == 0) return at(of, "a macro needs a list or a map before it, found " + range->text());
  bool const keys = range->kind() == type_kind::map || range->kind() == type_kind::object;
  auto const variable = keys ? type{type_kind::string} : range->element();
  locals_.emplace_back(of.text, variable);
  bool const maps = of.macro == macro_kind::map;
  std::optional<mistake> wrong;
  if (!maps || of.children.size() == 3) wrong = must_be_boolean(*of.children[1]);
  checked made = wrong || !maps ? checked{type{type_kind::boolean}} : check(*of.children.back());
  locals_.pop_back();
  if (wrong) return std::move(*wrong);
  if (!made) return made;
  if (maps) return type::list_of(std::move(*made));
  if (of.macro == macro_kind::filter) return type::list_of(variable);
  return type{type_kind::boolean};
}

}  // namespace atone::expr
