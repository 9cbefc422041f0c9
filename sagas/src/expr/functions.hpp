// The functions an expression may call.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "work.hpp"

namespace atone::expr {

using kind_set = unsigned;
constexpr kind_set one(type_kind kind) noexcept {
  return 1U << static_cast<unsigned>(kind);
}
template <class... Kinds>
constexpr kind_set any_of(Kinds... kinds) noexcept {
  return (one(kinds) | ...);
}
std::string list_kinds(kind_set kinds);  // "string, list or map"

struct function_entry {
  using implementation = outcome (*)(work&, expression const& call, std::vector<datum> const& arguments);

  std::string_view name;
  bool global = true;                                // size(x)
  bool member = false;                               // x.size()
  std::size_t arguments_min = 1, arguments_max = 1;  // the receiver of a member call included
  std::array<kind_set, 2> accepts{};                 // the last one also holds for all further arguments
  type_kind result = type_kind::dynamic;
  bool plain_arguments = true;  // false: arguments come as they are
  implementation run = nullptr;

  kind_set accepted(std::size_t argument) const noexcept { return accepts[argument < 1 ? 0 : 1]; }
  std::string wrong_argument(std::size_t argument, std::string_view found) const;
};

function_entry const* find_function(std::string_view name) noexcept;
std::vector<std::string_view> function_names();

// conversions.cpp
outcome to_text(work&, expression const&, std::vector<datum> const&);
outcome to_integer(work&, expression const&, std::vector<datum> const&);
outcome to_unsigned(work&, expression const&, std::vector<datum> const&);
outcome to_floating(work&, expression const&, std::vector<datum> const&);
outcome to_boolean(work&, expression const&, std::vector<datum> const&);

// The shortest text that reads back the same and is a double again: "1.0", "0.1", "1e+22".
std::string double_text(double value);

}  // namespace atone::expr
