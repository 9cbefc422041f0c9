// Classes of ASCII characters, whatever the locale says.
#pragma once

#include <string_view>

namespace atone::schema_detail {

constexpr bool is_digit(char of) {
  return of >= '0' && of <= '9';
}
constexpr bool is_letter(char of) {
  return (of >= 'a' && of <= 'z') || (of >= 'A' && of <= 'Z');
}
constexpr bool is_hex(char of) {
  return is_digit(of) || (of >= 'a' && of <= 'f') || (of >= 'A' && of <= 'F');
}
constexpr bool is_one_of(char of, std::string_view set) {
  return set.find(of) != std::string_view::npos;
}

}  // namespace atone::schema_detail
