// Who does the parts of one job. What is computed never depends on it.
#pragma once

#include <cstddef>
#include <functional>

namespace atone::features {

// Calls `part(0)` … `part(parts - 1)`, each once, in any order, on any threads, and returns when all have returned. What one of them throws
// is thrown on to the caller when the others have returned; parts that had not begun by then are left out.
using parallel = std::function<void(std::size_t parts, std::function<void(std::size_t)> const& part)>;

// One after the other, on the caller's thread.
void one_by_one(std::size_t parts, std::function<void(std::size_t)> const& part);

// On the caller's thread and up to `threads` - 1 others, which end with the job. Where a thread can't be had, fewer do the work.
parallel on_threads(std::size_t threads);

}  // namespace atone::features
