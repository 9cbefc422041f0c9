// ATONE_ASSERT: an invariant that must hold in every build. When it does not, the process says where and aborts:
// going on with a broken invariant could do a step twice, and a restart replays the journal safely.
// Thread rules: from any thread. The expression is evaluated exactly once, in every build.
#pragma once

namespace atone::detail {
// Writes one line to stderr and aborts.
[[noreturn]] void assertion_failed(char const* expression, char const* file, int line) noexcept;
}  // namespace atone::detail

#define ATONE_ASSERT(expression) \
  (static_cast<bool>(expression) ? void(0) : ::atone::detail::assertion_failed(#expression, __FILE__, __LINE__))
