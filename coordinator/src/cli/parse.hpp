// From argv to a command with its arguments. CLI11 stays behind this.
// Thread rules: called once, in the main thread.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace atone::cli {

struct parsed_line {
  command_spec const* command = nullptr;  // null: help or a mistake was printed, `code` is the answer
  arguments typed;
  bool no_colour = false;
  exit_code code = exit_code::done;

  parsed_line() = default;
};

// `words` without the program's name.
parsed_line parse_line(std::vector<std::string> words, std::ostream& out, std::ostream& err);

}  // namespace atone::cli
