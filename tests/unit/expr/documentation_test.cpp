// Runs docs/expressions.md: each table headed "expression | result", with the JSON block marked "input".
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "support.hpp"

namespace atone::expr {
namespace {

std::string read_document() {
  std::ifstream file{std::string{ATONE_SOURCE_DIR} + "/docs/expressions.md"};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string input_block(std::string const& document) {
  constexpr std::string_view opening = "```json input\n";
  auto const begin = document.find(opening);
  EXPECT_NE(begin, std::string::npos);
  if (begin == std::string::npos) return "null";
  auto const from = begin + opening.size();
  return document.substr(from, document.find("```", from) - from);
}

// "| a | b |" -> {a, b}; a written \| does not end a cell.
std::vector<std::string> cells_of(std::string const& line) {
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t at = 1; at < line.size(); ++at) {
    if (line[at] == '\\' && at + 1 < line.size() && line[at + 1] == '|') {
      cell += line[++at];
    } else if (line[at] == '|') {
      cells.push_back(cell.substr(1, cell.size() - 2));
      cell.clear();
    } else {
      cell += line[at];
    }
  }
  return cells;
}

std::string unquoted(std::string const& cell) {
  return cell.size() > 1 && cell.front() == '`' && cell.back() == '`' ? cell.substr(1, cell.size() - 2) : cell;
}

void run(std::string const& expression, std::string const& expected, std::string const& input) {
  auto found = outcome_of(expression, R"({"input": )" + input + "}");
  if (!expected.starts_with("error: ")) {
    EXPECT_EQ(found, expected) << expression;
    return;
  }
  if (found.starts_with("refused: ")) found.replace(0, std::string_view{"refused"}.size(), "error");
  EXPECT_THAT(found, ::testing::StartsWith(expected)) << expression;
}

TEST(expr_documentation, every_example_gives_what_it_says) {
  auto const document = read_document();
  auto const input = input_block(document);
  std::istringstream lines{document};
  std::size_t examples = 0;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "| expression | result |") {
      inside = true;
    } else if (!line.starts_with("|")) {
      inside = false;
    } else if (inside && !line.starts_with("|---")) {
      auto const cells = cells_of(line);
      ASSERT_EQ(cells.size(), 2U) << line;
      run(unquoted(cells[0]), unquoted(cells[1]), input);
      ++examples;
    }
  }
  EXPECT_GE(examples, 50U);
}

}  // namespace
}  // namespace atone::expr
