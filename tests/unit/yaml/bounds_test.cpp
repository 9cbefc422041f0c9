// What comes from outside is bounded: size, depth, values, steps, and the time it takes to say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

TEST(bounds, a_document_of_one_mebibyte_loads_and_one_byte_more_does_not) {
  auto text = saga_of_step("    call: shop pay\n");
  text += "# ";
  text.append(load_limits::bytes_max - text.size(), 'x');
  EXPECT_TRUE(load_definition(text).ok());
  text += 'x';
  auto const done = load_definition(text);
  EXPECT_FALSE(done.ok());
  EXPECT_EQ(told(done), "f:1:1  the document has 1048577 bytes; the most is 1048576\n");
}

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + "1" + std::string(levels, ']');
}

TEST(bounds, nesting_ends_at_the_limit) {
  // `steps`, its list, the step, `in`: three collections around the value (map, list, map).
  auto const around = 3U;
  EXPECT_TRUE(load_definition(saga_of_step("    call: shop pay\n    in: " + nested(load_limits::depth_max - around) + "\n")).ok());
  auto const done = load_definition(saga_of_step("    call: shop pay\n    in: " + nested(load_limits::depth_max - around + 1) + "\n"));
  EXPECT_THAT(told(done), testing::HasSubstr("nested deeper than 64"));
}

TEST(bounds, half_a_mebibyte_of_brackets_is_refused_quickly) {
  for (auto const& text : {std::string(512 * 1024, '['), std::string(512 * 1024, '{'), std::string(256 * 1024, '-')}) {
    EXPECT_FALSE(load_definition("a: " + text).ok());
  }
}

TEST(bounds, aliases_count_with_what_they_repeat) {
  std::string text = "saga: bomb\nversion: 1\ninput:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    text += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += (k > 0 ? ", *a" : "*a") + std::to_string(i - 1);
    text += "]\n";
  }
  EXPECT_THAT(told(load_definition(text)), testing::HasSubstr("grows beyond 100000 values"));
}

TEST(bounds, aliases_that_nest_too_deep_are_refused) {
  std::string text = "a0: &a0 " + nested(20) + "\n";
  for (int i = 1; i < 5; ++i)
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " " + std::string(12, '[') + "*a" + std::to_string(i - 1) +
            std::string(12, ']') + "\n";
  EXPECT_THAT(first(read(text).said), testing::HasSubstr("nested deeper than 64"));
}

std::string with_steps(std::size_t count) {
  std::string steps;
  for (std::size_t i = 0; i < count; ++i)
    steps += "  - {id: s" + std::to_string(i) + ", call: shop x, in: {v: =input.id}, read_only: true}\n";
  return saga_with(steps);
}

TEST(bounds, a_thousand_steps_load_and_one_more_does_not) {
  EXPECT_EQ(load_definition(with_steps(definition::steps_max)).definition->steps.size(), definition::steps_max);
  EXPECT_THAT(told(load_definition(with_steps(definition::steps_max + 1))), testing::HasSubstr("more than 1000 steps"));
}

std::string with_branches(std::size_t count) {
  std::string text = "  - id: fan\n    parallel: {}\n    branches:\n";
  for (std::size_t i = 0; i < count; ++i) text += "      b" + std::to_string(i) + ": [{id: x, call: shop x, read_only: true}]\n";
  return saga_with(text);
}

TEST(bounds, a_hundred_branches_load_and_one_more_does_not) {
  EXPECT_TRUE(load_definition(with_branches(100)).ok());
  EXPECT_THAT(told(load_definition(with_branches(101))), testing::HasSubstr("101 branches; expected 1 to 100"));
}

TEST(bounds, at_most_fifty_diagnostics_the_first_of_the_text) {
  std::string steps;
  for (int i = 0; i < 200; ++i) steps += "  - {id: s" + std::to_string(i) + ", call: shop x}\n";
  auto const done = load_definition(saga_with(steps));
  ASSERT_EQ(done.diagnostics.size(), load_limits::diagnostics_max);
  EXPECT_EQ(done.diagnostics.front().path, "steps[0]");
  EXPECT_EQ(done.diagnostics.back().path, "steps[49]");
}

TEST(bounds, mistakes_are_not_crowded_out_by_warnings) {
  std::string steps;
  for (int i = 0; i < 80; ++i) steps += "  - {id: s" + std::to_string(i) + ", call: shop x, read_only: true}\n";
  steps += "  - {id: last, call: nowhere x, read_only: true}\n";
  auto text = saga_with(steps);
  text.erase(text.find("deadline: 1m\n"), 13);
  auto const done = load_definition(text);
  ASSERT_EQ(done.diagnostics.size(), load_limits::diagnostics_max);
  EXPECT_EQ(done.diagnostics.back().path, "steps[80].call");
}

TEST(bounds, a_name_has_sixty_four_characters_at_most) {
  EXPECT_TRUE(load_definition(saga_with("  - {id: " + std::string(64, 'a') + ", call: shop x, read_only: true}\n")).ok());
  EXPECT_THAT(told(load_definition(saga_with("  - {id: " + std::string(65, 'a') + ", call: shop x, read_only: true}\n"))),
              testing::HasSubstr("the name has 65 characters; the most is 64"));
}

}  // namespace
}  // namespace atone::yaml_test
