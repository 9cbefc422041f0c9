// Operators on values. Operands come as they are; what an operator needs plain it makes plain itself, and pays for.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "work.hpp"

namespace atone::expr {

// "'+' can't take integer and string; convert …"
std::string no_overload(std::string_view symbol, type_kind left, type_kind right);
std::string too_large(datum const& huge);

// + - * / %
outcome calculate(work& budget, expression const& at, datum const& left, datum const& right);
outcome negate(expression const& at, datum const& of);

// == != < <= > >= in
outcome compare(work& budget, expression const& at, datum const& left, datum const& right);

// Of two numbers (by value, across the three types, without rounding), strings or booleans, both plain; else nothing.
std::optional<std::strong_ordering> order(datum const& left, datum const& right);
result<bool, fault> equal_data(work& budget, expression const& at, datum const& left, datum const& right);

}  // namespace atone::expr
