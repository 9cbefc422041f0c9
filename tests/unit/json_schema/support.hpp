// Schemas and values from JSON text, for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <atone/json.hpp>
#include <atone/json_schema.hpp>

namespace atone::schema_test {

inline json::value value(std::string_view text) {
  auto parsed = json::parse(std::string{text});
  EXPECT_TRUE(parsed) << text << ": " << parsed.error().message;
  return parsed ? *parsed : json::value{};
}

inline json_schema schema(std::string_view text) {
  auto compiled = json_schema::compile(value(text));
  EXPECT_TRUE(compiled) << text << ": " << compiled.error().at << ": " << compiled.error().message;
  return compiled ? *compiled : *json_schema::compile(value("true"));
}

// What is wrong with the schema, as "pointer: message"; empty: nothing.
inline std::string mistake(std::string_view text) {
  auto const compiled = json_schema::compile(value(text));
  return compiled ? std::string{} : compiled.error().at + ": " + compiled.error().message;
}

inline bool valid(std::string_view with, std::string_view text) {
  return schema(with).validate(value(text)).empty();
}

// Each violation as "pointer: message".
inline std::vector<std::string> violations(std::string_view with, std::string_view text) {
  std::vector<std::string> out;
  for (auto const& one : schema(with).validate(value(text))) out.push_back(one.at + ": " + one.message);
  return out;
}

}  // namespace atone::schema_test
