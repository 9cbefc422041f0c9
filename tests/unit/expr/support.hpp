// Short forms the tests of expressions share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <atone/expression.hpp>

namespace atone::expr {

inline json::value read_json(std::string_view text) {
  auto parsed = json::parse(std::string{text});
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : json::value{};
}

// {"a": 1, "b": …} -> each member is a declared name.
inline bindings bind(std::string_view object) {
  bindings values;
  for (auto& [name, value] : read_json(object).members()) values.emplace(name, value);
  return values;
}

inline declarations dynamic_names(bindings const& values) {
  declarations names;
  for (auto const& [name, value] : values) names.emplace(name, type{});
  return names;
}

// The result's exact text, "refused: …" from the check, or "error: …" from the run.
inline std::string outcome_of(std::string_view text, std::string_view values = "{}", bounds const& limits = {}) {
  auto const bound = bind(values);
  auto const made = program::compile(text, dynamic_names(bound));
  if (!made) return "refused: " + made.error().message;
  auto const found = made->evaluate(bound, limits);
  return found ? std::string{found->raw()} : "error: " + found.error().message;
}

// The mistake's message, or "accepted".
inline std::string refusal_of(std::string_view text, declarations const& names = {}) {
  auto const made = program::compile(text, names);
  return made ? "accepted" : made.error().message;
}

}  // namespace atone::expr
