// A participant that keeps books: what each operation of each saga did is remembered and told (docs/audit.md), an operation that comes
// twice is answered as before, and an action that comes after its compensation is refused. In memory, so that the coordinator is what is
// measured. Thread rules: keep_books() is the whole life of a process of its own.
#pragma once

#include <cstdint>

namespace bench {

// Serves on the loopback port until the process is ended; returns only when it can't listen. A request whose body has `"refuse":true` is
// refused.
int keep_books(std::uint16_t port);

}  // namespace bench
