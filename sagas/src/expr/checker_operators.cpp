#include "checker.hpp"
#include "operators.hpp"

namespace atone::expr {
namespace {

using enum type_kind;

bool is_map(type_kind kind) noexcept {
  return kind == map || kind == object;
}
bool is_numeric(type_kind kind) noexcept {
  return kind == integer || kind == unsigned_integer || kind == floating;
}

// Whether values of both may be equal. null may be anywhere JSON is.
bool comparable(type const& left, type const& right) noexcept {
  auto const a = left.kind(), b = right.kind();
  if (a == type_kind::dynamic || b == type_kind::dynamic || a == null || b == null) return true;
  return a == b || (is_numeric(a) && is_numeric(b)) || (is_map(a) && is_map(b));
}

kind_set operands(binary_kind op) noexcept {
  switch (op) {
    case binary_kind::add: return any_of(integer, unsigned_integer, floating, string, list);
    case binary_kind::remainder: return any_of(integer, unsigned_integer);
    case binary_kind::subtract:
    case binary_kind::multiply:
    case binary_kind::divide: return any_of(integer, unsigned_integer, floating);
    default: return any_of(integer, unsigned_integer, floating, string, boolean);
  }
}

result<type, std::string> in_type(type const& left, type const& right) {
  auto const of = right.kind();
  if (of == type_kind::dynamic) return type{boolean};
  if (is_map(of)) {
    if (left.kind() == type_kind::dynamic || left.kind() == string) return type{boolean};
    return "keys are strings: 'in' can't look for " + left.text() + " in " + right.text();
  }
  if (of != list) return "'in' needs a list or a map on its right, found " + right.text();
  if (comparable(left, right.element())) return type{boolean};
  return "'in' can never find " + left.text() + " in " + right.text();
}

result<type, std::string> arithmetic_type(binary_kind op, type const& left, type const& right) {
  auto const a = left.kind(), b = right.kind();
  auto const accepted = operands(op) | one(type_kind::dynamic);
  bool const fits = (accepted & one(a)) != 0 && (accepted & one(b)) != 0;
  if (!fits || (a != b && a != type_kind::dynamic && b != type_kind::dynamic)) return no_overload(symbol(op), a, b);
  if (a == list && b == list) return type::list_of(common(left.element(), right.element()));
  if (a == list || b == list) return type{list};
  return a == type_kind::dynamic ? right : left;
}

}  // namespace

type common(type const& left, type const& right) {
  if (left.kind() != right.kind()) return type{};
  if (left.kind() == list) return type::list_of(common(left.element(), right.element()));
  if (left.kind() == object) return type{map};
  return left;
}

result<type, std::string> binary_type(binary_kind op, type const& left, type const& right) {
  auto const a = left.kind(), b = right.kind();
  if (op == binary_kind::in) return in_type(left, right);
  if (op < binary_kind::equal) return arithmetic_type(op, left, right);
  if (op == binary_kind::equal || op == binary_kind::not_equal) {
    if (comparable(left, right)) return type{boolean};
    return "'" + std::string{symbol(op)} + "' compares " + left.text() + " with " + right.text() + ", which are never equal";
  }
  auto const accepted = operands(op) | one(type_kind::dynamic);
  bool const fits = (accepted & one(a)) != 0 && (accepted & one(b)) != 0 && comparable(left, right);
  if (!fits) return no_overload(symbol(op), a, b);
  return type{boolean};
}

}  // namespace atone::expr
