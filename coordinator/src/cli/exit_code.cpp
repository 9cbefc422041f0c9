#include "cli/exit_code.hpp"

namespace atone::cli {

std::vector<exit_code_text> const& exit_code_table() {
  static std::vector<exit_code_text> const table{
      {exit_code::done, "done"},
      {exit_code::negative, "it worked and the answer is no: lint found mistakes, doctor found faults, the saga ended compensated"},
      {exit_code::usage, "the command line, or a file named in it, is wrong"},
      {exit_code::unavailable, "the daemon or the store can't be reached now: try again"},
      {exit_code::not_found, "no such saga, definition or step"},
      {exit_code::conflict, "the state does not allow it, or the key was used with another input"},
      {exit_code::timed_out, "the saga has not ended within the given time; it goes on"},
      {exit_code::parked, "the saga is parked: it waits for a person"},
      {exit_code::internal, "a fault of atone, or an answer that can't be read"},
  };
  return table;
}

exit_code exit_code_of(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument: return exit_code::usage;
    case errc::not_found: return exit_code::not_found;
    case errc::conflict: return exit_code::conflict;
    case errc::unavailable:
    case errc::outcome_unknown:
    case errc::exhausted:
    case errc::fenced:
    case errc::statement_failed:
    case errc::elsewhere:
    case errc::serialization: return exit_code::unavailable;
    case errc::unsupported: return exit_code::usage;
    case errc::bad_data:
    case errc::corrupt:
    case errc::internal: break;
  }
  return exit_code::internal;
}

}  // namespace atone::cli
