#include "cli/table.hpp"

#include <algorithm>

namespace atone::cli {
namespace {

constexpr std::size_t gap = 2;

std::string line_of(std::vector<std::string> const& cells, std::vector<std::size_t> const& widths) {
  std::string line;
  for (std::size_t column = 0; column < cells.size(); ++column) {
    if (column != 0) line.append(gap, ' ');
    line += padded(cells[column], widths[column]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::vector<std::size_t> table::widths() const {
  std::vector<std::size_t> out;
  for (auto const& heading : headings_) out.push_back(display_width(heading));
  for (auto const& row : rows_) {
    for (std::size_t column = 0; column < std::min(row.size(), out.size()); ++column) {
      out[column] = std::max(out[column], display_width(row[column]));
    }
  }
  return out;
}

void table::print(terminal const& to) const {
  auto const columns = widths();
  auto const fit = [&](std::string const& line) {
    bool const plain = line.find('\x1b') == std::string::npos;
    return to.traits().interactive && plain ? shortened(line, to.traits().width) : line;
  };
  to.out() << to.paint(style::dim, fit(line_of(headings_, columns))) << '\n';
  for (auto const& row : rows_) to.out() << fit(line_of(row, columns)) << '\n';
}

}  // namespace atone::cli
