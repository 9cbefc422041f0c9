// Definitions damaged in every place: an answer each time, never a crash, never a mistake without a place.
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

void expect_an_answer(std::string const& text, std::string const& what) {
  auto const done = load_definition(text);
  EXPECT_EQ(done.ok(), mistakes_in(done) == 0) << what;
  for (auto const& one : done.diagnostics) {
    ASSERT_GE(one.line, 1U) << what;
    ASSERT_FALSE(one.message.empty()) << what;
  }
}

std::string small() {
  return read_file(source_dir() / "examples/sagas/minimal.yaml");
}
std::string large() {
  return read_file(source_dir() / "examples/sagas/order-placed.yaml");
}

TEST(mutations, cut_at_every_byte) {
  auto const text = small();
  for (std::size_t size = 0; size < text.size(); ++size) expect_an_answer(text.substr(0, size), "cut at " + std::to_string(size));
}

TEST(mutations, each_line_taken_out) {
  auto const text = large();
  for (std::size_t begin = 0; begin < text.size();) {
    auto const end = text.find('\n', begin) + 1;
    expect_an_answer(text.substr(0, begin) + text.substr(end), "without the line at " + std::to_string(begin));
    begin = end;
  }
}

TEST(mutations, each_line_doubled) {
  auto const text = large();
  for (std::size_t begin = 0; begin < text.size();) {
    auto const end = text.find('\n', begin) + 1;
    expect_an_answer(text.substr(0, end) + text.substr(begin), "doubled at " + std::to_string(begin));
    begin = end;
  }
}

TEST(mutations, each_byte_replaced_by_what_yaml_cares_about) {
  auto const text = small();
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (char const c : std::string{":{}[],&*#?|-!'\"%\t\n =@"}) {
      auto changed = text;
      changed[at] = c;
      expect_an_answer(changed, std::string{"'"} + c + "' at " + std::to_string(at));
    }
  }
}

TEST(mutations, each_key_misspelt_is_a_mistake) {
  auto const text = large();
  for (auto const* key : {"saga:",     "version:",    "steps:",  "deadline:", "shard_key:", "defaults:", "services:", "retry:",
                          "attempts:", "compensate:", "  - id:", "call:",     "parallel:",  "branches:", "when:",     "fallback:",
                          "max_age:",  "timeout:",    "use:",    "key:",      "alert:",     "out:"}) {
    auto changed = text;
    auto const at = changed.find(key);
    ASSERT_NE(at, std::string::npos) << key;
    changed.insert(at + std::string_view{key}.size() - 1, "x");
    EXPECT_FALSE(load_definition(changed).ok()) << key;
  }
}

}  // namespace
}  // namespace atone::yaml_test
