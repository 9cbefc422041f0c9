// Columns of text, as wide as they need to be.
// Thread rules: plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.hpp"

namespace atone::cli {

class table {
 public:
  explicit table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

  // Cells are printed as they are: whoever adds text from outside passes it through printable().
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const noexcept { return rows_.empty(); }

  // Headings dim, two spaces between columns, no space at the end of a line. The last column is cut at the terminal's width
  // when somebody looks on, and never otherwise.
  void print(terminal const& to) const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace atone::cli
