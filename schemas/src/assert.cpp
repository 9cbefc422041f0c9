#include <atone/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace atone::detail {

void assertion_failed(char const* expression, char const* file, int line) noexcept {
  std::fprintf(stderr, "atone: broken invariant at %s:%d: %s\n", file, line, expression);
  std::abort();
}

}  // namespace atone::detail
