// Where text goes and what may be done to it: colour, width, characters. Everything that came from outside passes
// printable() before it reaches a terminal.
// Thread rules: a terminal belongs to one thread.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

namespace atone::cli {

// How a piece of text stands out, where colour is on.
enum class style { plain, bold, dim, good, bad, warn };

// How the streams behave; found out once, in main.
struct terminal_traits {
  bool colour = false;
  bool interactive = false;  // somebody looks on: redraw in place
  bool utf8 = true;
  std::size_t width = 100;

  terminal_traits() = default;
};

class terminal {
 public:
  terminal(std::ostream& out, std::ostream& err, terminal_traits traits) : out_(out), err_(err), traits_(traits) {}

  std::ostream& out() const noexcept { return out_; }
  std::ostream& err() const noexcept { return err_; }
  terminal_traits const& traits() const noexcept { return traits_; }
  // The text in this style, or unchanged where colour is off.
  std::string paint(style how, std::string_view text) const;

 private:
  std::ostream& out_;
  std::ostream& err_;
  terminal_traits traits_;
};

// Control characters (escape sequences of a terminal among them) and bytes that are not UTF-8 become visible: "\x1b".
std::string printable(std::string_view text);

// The same for text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

// Columns a terminal needs for the text; escape sequences of paint() count nothing.
std::size_t display_width(std::string_view text) noexcept;
// Padded with spaces to that many columns.
std::string padded(std::string_view text, std::size_t columns);
// At most that many columns; what is cut ends in "…".
std::string shortened(std::string_view text, std::size_t columns);

}  // namespace atone::cli
