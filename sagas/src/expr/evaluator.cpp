#include "evaluator.hpp"

#include <algorithm>
#include <cmath>

#include "functions.hpp"
#include "operators.hpp"

namespace atone::expr {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  json::append_string(out, text.substr(0, 80));
  return out;
}

// 2, 2u and 2.0 all name the third element, as CEL has it.
std::optional<std::size_t> position(datum const& key, std::size_t size) {
  if (auto const* whole = key.get<std::int64_t>()) {
    return *whole >= 0 && static_cast<std::uint64_t>(*whole) < size ? std::optional{static_cast<std::size_t>(*whole)} : std::nullopt;
  }
  if (auto const* whole = key.get<std::uint64_t>()) return *whole < size ? std::optional{static_cast<std::size_t>(*whole)} : std::nullopt;
  auto const real = *key.get<double>();
  bool const inside = real >= 0 && real < static_cast<double>(size) && std::trunc(real) == real;
  return inside ? std::optional{static_cast<std::size_t>(real)} : std::nullopt;
}

std::string number_shown(datum const& key) {
  if (auto const* whole = key.get<std::int64_t>()) return std::to_string(*whole);
  if (auto const* whole = key.get<std::uint64_t>()) return std::to_string(*whole);
  return double_text(*key.get<double>());
}

}  // namespace

outcome evaluator::run(expression const& of) {
  if (!budget_.spend(1)) return budget_.exhausted(of);
  switch (of.kind) {
    case node_kind::literal: return of.literal;
    case node_kind::name: return name(of);
    case node_kind::select: return select(of);
    case node_kind::has: return has(of);
    case node_kind::index: return index(of);
    case node_kind::negate: {
      auto operand = run(*of.children[0]);
      return operand ? negate(of, *operand) : operand;
    }
    case node_kind::logical_not: return logical_not(of);
    case node_kind::binary: return binary(of);
    case node_kind::all_of:
    case node_kind::any_of: return chain(of);
    case node_kind::conditional: return conditional(of);
    case node_kind::call: return call(of);
    case node_kind::list: return list(of);
    case node_kind::map: return map(of);
    case node_kind::macro: return macro(of);
  }
  return fault{of, "unknown node", errc::internal};
}

datum evaluator::hinted(expression const& of, datum value) const {
  if (of.hint == number_hint::by_text || value.json() == nullptr) return value;
  return datum{*value.json(), of.hint};
}

outcome evaluator::name(expression const& of) {
  if (of.local) {
    auto const found = std::find_if(locals_.rbegin(), locals_.rend(), [&](auto const& one) { return one.first == of.text; });
    ATONE_ASSERT(found != locals_.rend());
    return hinted(of, found->second);
  }
  auto const found = values_.find(of.text);
  if (found == values_.end()) return fault{of, "no value was given for '" + of.text + "'"};
  return hinted(of, datum{found->second});
}

outcome evaluator::select(expression const& of) {
  auto from = run(*of.children[0]);
  if (!from) return from;
  if (from->kind() != type_kind::map) {
    return fault{of, "no field '" + of.text + "' in a value of type " + std::string{type_name(from->kind())}};
  }
  if (!budget_.spend_elements(from->size())) return budget_.exhausted(of);
  auto found = from->find(of.text);
  if (!found) return fault{of, "no such field '" + of.text + "'"};
  return hinted(of, std::move(*found));
}

outcome evaluator::has(expression const& of) {
  auto from = run(*of.children[0]);
  if (!from) return from;
  if (from->kind() != type_kind::map) {
    return fault{of, "has() of '" + of.text + "' in a value of type " + std::string{type_name(from->kind())}};
  }
  if (!budget_.spend_elements(from->size())) return budget_.exhausted(of);
  return datum{from->find(of.text).has_value()};
}

outcome evaluator::index(expression const& of) {
  auto from = run(*of.children[0]);
  if (!from) return from;
  auto key = run(*of.children[1]);
  if (!key) return key;
  if (!budget_.spend_elements(from->size()) || !budget_.spend_bytes(key->plain_cost())) return budget_.exhausted(of);
  auto const plain = key->plain(false);
  if (plain.is_huge()) return fault{of, too_large(plain)};
  if (from->kind() == type_kind::list) return element(of, *from, plain);
  if (from->kind() == type_kind::map) return member(of, *from, plain);
  return fault{of, "a value of type " + std::string{type_name(from->kind())} + " can't be indexed"};
}

outcome evaluator::element(expression const& of, datum const& list, datum const& key) {
  if (!key.is_number()) return fault{of, "a list is indexed by a number, found " + std::string{type_name(key.kind())}};
  auto const at = position(key, list.size());
  if (!at) return fault{of, "no element " + number_shown(key) + " in a list of " + std::to_string(list.size())};
  return hinted(of, list.at(*at));
}

outcome evaluator::member(expression const& of, datum const& map, datum const& key) {
  if (key.kind() != type_kind::string) return fault{of, "keys are strings, found " + std::string{type_name(key.kind())}};
  auto found = map.find(*key.text());
  if (!found) return fault{of, "no such key " + quoted(*key.text())};
  return hinted(of, std::move(*found));
}

outcome evaluator::binary(expression const& of) {
  auto left = run(*of.children[0]);
  if (!left) return left;
  auto right = run(*of.children[1]);
  if (!right) return right;
  if (of.op >= binary_kind::equal) return compare(budget_, of, *left, *right);
  return calculate(budget_, of, *left, *right);
}

result<bool, fault> as_truth(expression const& of, outcome value) {
  if (!value) return std::move(value.error());
  auto const plain = value->plain(false);
  if (auto const* held = plain.get<bool>()) return *held;
  return fault{of, "expected a boolean, found " + std::string{type_name(plain.kind())}};
}

outcome evaluator::logical_not(expression const& of) {
  auto value = truth(*of.children[0]);
  if (!value) return std::move(value.error());
  return datum{!*value};
}

// One false decides &&, one true decides ||, whatever else failed; exhaustion alone is never absorbed.
outcome evaluator::chain(expression const& of) {
  bool const deciding = of.kind == node_kind::any_of;
  std::optional<fault> failed;
  for (auto const& operand : of.children) {
    auto value = truth(*operand);
    if (value && *value == deciding) return datum{deciding};
    if (value) continue;
    if (value.error().fatal()) return std::move(value.error());
    if (!failed) failed = std::move(value.error());
  }
  if (failed) return std::move(*failed);
  return datum{!deciding};
}

outcome evaluator::conditional(expression const& of) {
  auto test = truth(*of.children[0]);
  if (!test) return std::move(test.error());
  return run(*of.children[*test ? 1 : 2]);
}

outcome evaluator::call(expression const& of) {
  auto const& function = *of.function;
  std::vector<datum> arguments;
  arguments.reserve(of.children.size());
  for (auto const& child : of.children) {
    auto value = run(*child);
    if (!value) return value;
    if (!budget_.spend_bytes(value->plain_cost())) return budget_.exhausted(of);
    auto const plain = value->plain(true);
    bool const accepted = (function.accepted(arguments.size()) & one(plain.kind())) != 0;
    if (!accepted) return fault{of, function.wrong_argument(arguments.size(), type_name(plain.kind()))};
    if (function.plain_arguments && plain.is_huge()) return fault{of, too_large(plain)};
    arguments.push_back(function.plain_arguments ? plain : std::move(*value));
  }
  return function.run(budget_, of, arguments);
}

outcome evaluator::list(expression const& of) {
  datum::list items;
  items.reserve(of.children.size());
  for (auto const& child : of.children) {
    auto value = run(*child);
    if (!value) return value;
    items.push_back(std::move(*value));
  }
  return datum{std::move(items)};
}

outcome evaluator::map(expression const& of) {
  datum::map members;
  members.reserve(of.children.size() / 2);
  for (std::size_t at = 0; at + 1 < of.children.size(); at += 2) {
    auto key = run(*of.children[at]);
    if (!key) return key;
    if (!budget_.spend_bytes(key->plain_cost()) || !budget_.spend_elements(members.size())) return budget_.exhausted(of);
    auto const plain = key->plain(false);
    if (plain.kind() != type_kind::string) {
      return fault{*of.children[at], "keys are strings, found " + std::string{type_name(plain.kind())}};
    }
    bool const twice = std::any_of(members.begin(), members.end(), [&](auto const& known) { return known.first == *plain.text(); });
    if (twice) return fault{*of.children[at], "the key " + quoted(*plain.text()) + " is given twice"};
    auto value = run(*of.children[at + 1]);
    if (!value) return value;
    members.emplace_back(*plain.text(), std::move(*value));
  }
  return datum{std::move(members)};
}

}  // namespace atone::expr
