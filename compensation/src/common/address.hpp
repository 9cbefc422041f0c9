// Which database an address names. Thread rules: plain functions.
#pragma once

#include <string>
#include <string_view>

#include <atone/result.hpp>

namespace atone {

enum class address_kind { memory, sqlite, postgresql };

// Reads the scheme; the error names the address (without a password) and the forms that are known.
result<address_kind> kind_of_address(std::string_view address);

// The address with whatever stands between ':' and '@' of the authority, and any password parameter, replaced by "***".
std::string address_without_password(std::string_view address);

// Why PostgreSQL can't be used by this build.
error postgresql_left_out();

}  // namespace atone
