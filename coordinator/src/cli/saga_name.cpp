#include "cli/saga_name.hpp"

namespace atone::cli {

saga_name split_saga_name(std::string_view typed) {
  saga_name out;
  auto const at = typed.rfind('@');
  out.name = typed.substr(0, at);
  if (at != std::string_view::npos) out.version = typed.substr(at + 1);
  return out;
}

void add_saga_name(target& to, std::string_view typed) {
  auto const split = split_saga_name(typed);
  to.segment(split.name);
  if (!split.version.empty()) to.query("version", split.version);
}

}  // namespace atone::cli
