// Definitions from anywhere: never a crash, never an endless load, and what loads once loads again from its own text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <atone/assert.hpp>
#include <atone/load.hpp>

namespace {

void check_diagnostics(atone::loaded const& done) {
  ATONE_ASSERT(done.diagnostics.size() <= atone::load_limits::diagnostics_max);
  bool mistaken = false;
  for (auto const& one : done.diagnostics) {
    ATONE_ASSERT(one.line >= 1 && one.column >= 1 && !one.message.empty());
    ATONE_ASSERT(!atone::format(one, "f").empty());
    mistaken = mistaken || one.severity == atone::diagnostic::severity_kind::mistake;
  }
  ATONE_ASSERT(mistaken != done.ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text{reinterpret_cast<char const*>(data), size};
  auto const done = atone::load_definition(text);
  check_diagnostics(done);
  if (!done.ok()) return 0;
  auto const again = atone::load_definition(done.definition->text);
  ATONE_ASSERT(again.ok() && again.definition->ref == done.definition->ref);
  return 0;
}
