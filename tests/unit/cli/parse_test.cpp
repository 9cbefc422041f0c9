#include "cli/parse.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace atone::cli {
namespace {

struct parsed_with_text {
  parsed_line line;
  std::string out, err;
};

parsed_with_text parse(std::vector<std::string> words) {
  std::ostringstream out;
  std::ostringstream err;
  parsed_with_text result;
  result.line = parse_line(std::move(words), out, err);
  result.out = out.str();
  result.err = err.str();
  return result;
}

// The least that each command can be called with.
std::vector<std::string> minimal_words(command_spec const& of) {
  std::vector<std::string> words{std::string{of.name}};
  for (auto const& argument : of.arguments) {
    if (argument.required) words.emplace_back("x");
  }
  return words;
}

TEST(parse, every_command_with_all_its_options) {
  for (auto const& one : command_table()) {
    auto words = minimal_words(one);
    for (auto const& option : one.options) {
      words.push_back("--" + std::string{option.name});
      if (!option.value.empty()) words.emplace_back("value");
    }
    auto const came = parse(words);
    ASSERT_EQ(came.line.command, &one) << one.name << came.err;
    for (auto const& option : one.options) {
      EXPECT_EQ(came.line.typed.get(option.name), option.value.empty() ? "yes" : "value") << one.name;
    }
  }
}

TEST(parse, letters_mean_the_same_as_names) {
  for (auto const& one : command_table()) {
    for (auto const& option : one.options) {
      if (option.letter == '\0' || option.value.empty()) continue;
      auto words = minimal_words(one);
      words.insert(words.end(), {"-" + std::string(1, option.letter), "value"});
      EXPECT_EQ(parse(words).line.typed.get(option.name), "value") << one.name << ' ' << option.name;
    }
  }
}

TEST(parse, a_missing_argument_is_a_mistake) {
  for (auto const& one : command_table()) {
    bool const needs_one = !one.arguments.empty() && one.arguments.front().required;
    auto const came = parse({std::string{one.name}});
    EXPECT_EQ(came.line.command == nullptr, needs_one) << one.name;
    if (needs_one) {
      EXPECT_EQ(came.line.code, exit_code::usage);
      EXPECT_NE(came.err.find(one.arguments.front().name), std::string::npos) << came.err;
    }
  }
}

TEST(parse, several_files) {
  auto const came = parse({"lint", "a.yaml", "b.yaml", "-o", "json"});
  ASSERT_NE(came.line.command, nullptr) << came.err;
  EXPECT_EQ(came.line.typed.all("FILE"), (std::vector<std::string>{"a.yaml", "b.yaml"}));
  EXPECT_EQ(came.line.typed.get("output"), "json");
}

TEST(parse, what_is_not_known_is_a_mistake) {
  for (auto const& words :
       std::vector<std::vector<std::string>>{{}, {"strat"}, {"list", "--colour"}, {"show", "a", "b"}, {"list", "extra"}}) {
    auto const came = parse(words);
    EXPECT_EQ(came.line.command, nullptr);
    EXPECT_EQ(came.line.code, exit_code::usage);
    EXPECT_FALSE(came.err.empty());
  }
}

TEST(parse, help_is_no_mistake) {
  auto const all = parse({"--help"});
  EXPECT_EQ(all.line.code, exit_code::done);
  for (auto const& one : command_table()) EXPECT_NE(all.out.find(one.name), std::string::npos) << one.name;
  auto const one = parse({"start", "--help"});
  EXPECT_EQ(one.line.code, exit_code::done);
  EXPECT_NE(one.out.find("business key"), std::string::npos) << one.out;
}

TEST(parse, values_may_look_like_anything) {
  auto const came = parse({"start", "order-placed", "-i", R"({"a": [-1]})", "--key", "-5", "--no-color"});
  ASSERT_NE(came.line.command, nullptr) << came.err;
  EXPECT_EQ(came.line.typed.get("input"), R"({"a": [-1]})");
  EXPECT_EQ(came.line.typed.get("key"), "-5");
  EXPECT_TRUE(came.line.no_colour);
}

}  // namespace
}  // namespace atone::cli
