// What Atone adds to a "postgresql://…" address: bounded waits and a name that an administrator recognises.
// Thread rules: plain functions.
#pragma once

#include <string>
#include <string_view>

#include "postgres/limits.hpp"

namespace atone::postgres {

// Whether the connection must be able to write (a read-only server or a standby is passed over), or only be no standby.
enum class session_kind { writer, reader };

// The address with connection parameters added; a parameter that the address sets itself is left alone.
std::string with_connection_parameters(std::string_view address, session_kind kind, session_limits const& limits);

}  // namespace atone::postgres
