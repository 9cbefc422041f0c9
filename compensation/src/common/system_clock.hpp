// The machine's clock, for stores whose database has none of its own. Thread rules: callable from any thread.
#pragma once

#include <atone/journal.hpp>

namespace atone {

timestamp system_time();

}  // namespace atone
