// A terminal that keeps what was printed.
// Thread rules: for one test each.
#pragma once

#include <sstream>
#include <string>

#include "cli/terminal.hpp"

namespace atone::cli {

class captured {
 public:
  explicit captured(terminal_traits traits = {}) : terminal_(out_, err_, traits) {}

  terminal const& screen() const noexcept { return terminal_; }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

 private:
  std::ostringstream out_;
  std::ostringstream err_;
  terminal terminal_;
};

}  // namespace atone::cli
