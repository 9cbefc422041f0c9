// Broken definitions: what the loader says of each, word for word. With ATONE_UPDATE_GOLDEN=1 the expectations are
// written anew; read the difference before you commit it.
#include <cstdlib>

#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

std::string all_said(std::filesystem::path const& path) {
  auto const done = load_definition(read_file(path));
  std::string text;
  for (auto const& one : done.diagnostics) text += format(one, path.filename().string()) + "\n";
  return text;
}

std::vector<std::filesystem::path> broken_files() {
  return files_of(source_dir() / "tests/golden/broken", ".yaml");
}

std::string test_name(testing::TestParamInfo<std::filesystem::path> const& info) {
  auto name = info.param.stem().string();
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class broken_definition : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(broken_definition, is_refused_in_these_words) {
  auto expected_path = GetParam();
  expected_path.replace_extension(".expected");
  auto const said = all_said(GetParam());
  if (std::getenv("ATONE_UPDATE_GOLDEN") != nullptr) std::ofstream{expected_path, std::ios::binary} << said;
  EXPECT_EQ(said, read_file(expected_path));
}

TEST_P(broken_definition, has_a_mistake_with_a_place) {
  auto const done = load_definition(read_file(GetParam()));
  EXPECT_FALSE(done.ok());
  ASSERT_GE(mistakes_in(done), 1U);
  for (auto const& one : done.diagnostics) {
    EXPECT_GE(one.line, 1U);
    EXPECT_GE(one.column, 1U);
    EXPECT_FALSE(one.message.empty());
  }
}

TEST_P(broken_definition, is_told_in_the_order_of_the_text) {
  auto const done = load_definition(read_file(GetParam()));
  auto const before = [](diagnostic const& left, diagnostic const& right) {
    return std::tie(left.line, left.column) < std::tie(right.line, right.column);
  };
  EXPECT_TRUE(std::is_sorted(done.diagnostics.begin(), done.diagnostics.end(), before));
  EXPECT_LE(done.diagnostics.size(), load_limits::diagnostics_max);
}

INSTANTIATE_TEST_SUITE_P(golden, broken_definition, testing::ValuesIn(broken_files()), test_name);

TEST(broken_definitions, are_many_and_none_is_left_without_expectation) {
  auto const files = broken_files();
  EXPECT_GE(files.size(), 60U);
  EXPECT_EQ(files.size(), files_of(source_dir() / "tests/golden/broken", ".expected").size());
}

}  // namespace
}  // namespace atone::yaml_test
