// Runs conformance.txt: what the CEL language definition says, as far as it belongs to the subset, and where the subset is stricter.
#include <gmock/gmock.h>

#include <fstream>

#include "support.hpp"

namespace atone::expr {
namespace {

struct row {
  int line = 0;
  std::string text, values, expected;
};

constexpr std::string_view separator = " ## ";

std::vector<row> read_rows() {
  std::ifstream file{std::string{ATONE_SOURCE_DIR} + "/tests/unit/expr/conformance.txt"};
  std::vector<row> rows;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    auto const first = line.find(separator);
    auto const second = line.find(separator, first + separator.size());
    EXPECT_NE(second, std::string::npos) << "conformance.txt:" << number;
    if (second == std::string::npos) continue;
    row read;
    read.line = number;
    read.text = line.substr(0, first);
    read.values = line.substr(first + separator.size(), second - first - separator.size());
    read.expected = line.substr(second + separator.size());
    rows.push_back(read);
  }
  return rows;
}

bool is_failure(std::string const& expected) {
  return expected.starts_with("error: ") || expected.starts_with("refused: ");
}

TEST(expr_conformance, every_row) {
  auto const rows = read_rows();
  ASSERT_GE(rows.size(), 250U);
  for (auto const& one : rows) {
    auto const found = outcome_of(one.text, one.values == "-" ? "{}" : one.values);
    if (is_failure(one.expected)) {
      EXPECT_THAT(found, ::testing::StartsWith(one.expected)) << "conformance.txt:" << one.line << ": " << one.text;
    } else {
      EXPECT_EQ(found, one.expected) << "conformance.txt:" << one.line << ": " << one.text;
    }
  }
}

}  // namespace
}  // namespace atone::expr
