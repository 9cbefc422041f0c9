#include <algorithm>
#include <cmath>

#include "operators.hpp"

namespace atone::expr {
namespace {

using ordering = std::strong_ordering;

// A double against a 64-bit integer, without rounding either.
template <class Whole>
ordering order_mixed(Whole whole, double real) {
  constexpr double below = std::is_signed_v<Whole> ? -9223372036854775808.0 : 0.0;
  constexpr double above = std::is_signed_v<Whole> ? 9223372036854775808.0 : 18446744073709551616.0;
  if (real < below) return ordering::greater;
  if (real >= above) return ordering::less;
  auto const truncated = std::trunc(real);
  auto const nearest = static_cast<Whole>(truncated);
  if (whole != nearest) return whole < nearest ? ordering::less : ordering::greater;
  if (real == truncated) return ordering::equal;
  return truncated < real ? ordering::less : ordering::greater;
}

ordering order_doubles(double left, double right) {
  if (left < right) return ordering::less;
  return left > right ? ordering::greater : ordering::equal;
}

ordering reversed(ordering of) {
  return 0 <=> of;
}

ordering order_signs(std::int64_t left, std::uint64_t right) {
  return left < 0 ? ordering::less : static_cast<std::uint64_t>(left) <=> right;
}

std::optional<ordering> order_numbers(datum const& left, datum const& right) {
  auto const* a = left.get<std::int64_t>();
  auto const* b = left.get<std::uint64_t>();
  auto const* c = left.get<double>();
  auto const* x = right.get<std::int64_t>();
  auto const* y = right.get<std::uint64_t>();
  auto const* z = right.get<double>();
  if ((a == nullptr && b == nullptr && c == nullptr) || (x == nullptr && y == nullptr && z == nullptr)) return std::nullopt;
  if (c != nullptr && z != nullptr) return order_doubles(*c, *z);
  if (c != nullptr) return reversed(x != nullptr ? order_mixed(*x, *c) : order_mixed(*y, *c));
  if (z != nullptr) return a != nullptr ? order_mixed(*a, *z) : order_mixed(*b, *z);
  if (a != nullptr) return x != nullptr ? *a <=> *x : order_signs(*a, *y);
  return x != nullptr ? reversed(order_signs(*x, *b)) : *b <=> *y;
}

// One pair of values still to be compared.
using pairs = std::vector<std::pair<datum, datum>>;

bool equal_scalars(datum const& left, datum const& right) {
  if (left.is_huge() || right.is_huge()) {
    // Larger than every double: equal only to the same number.
    return left.is_huge() && right.is_huge() && json::equal(*left.json(), *right.json());
  }
  if (left.is_number() && right.is_number()) return order(left, right) == ordering::equal;
  if (left.kind() != right.kind()) return false;
  return left.kind() == type_kind::null || order(left, right) == ordering::equal;
}

datum::map sorted_members(datum const& of) {
  datum::map found;
  if (auto const* built = of.members()) found = *built;
  if (auto const* value = of.json()) {
    for (auto& [key, member] : value->members()) found.emplace_back(std::move(key), datum{std::move(member)});
  }
  std::sort(found.begin(), found.end(), [](auto const& left, auto const& right) { return left.first < right.first; });
  return found;
}

// Of two containers from JSON whose texts are of one length; they may be the same. 0: no use comparing.
std::size_t comparable_bytes(datum const& left, datum const& right) {
  auto const *a = left.json(), *b = right.json();
  bool const alike = a != nullptr && b != nullptr && a->raw().size() == b->raw().size();
  return alike ? a->raw().size() : 0;
}

// False: known to differ. Otherwise what is inside has been put on the list.
bool open_containers(pairs& todo, datum const& left, datum const& right) {
  if (left.size() != right.size()) return false;
  if (left.kind() == type_kind::list) {
    auto const a = left.elements(), b = right.elements();
    for (std::size_t at = 0; at < a.size(); ++at) todo.emplace_back(a[at], b[at]);
    return true;
  }
  auto const a = sorted_members(left), b = sorted_members(right);
  for (std::size_t at = 0; at < a.size(); ++at) {
    if (a[at].first != b[at].first) return false;
    todo.emplace_back(a[at].second, b[at].second);
  }
  return true;
}

bool is_container(type_kind kind) noexcept {
  return kind == type_kind::list || kind == type_kind::map;
}

outcome contained(work& budget, expression const& at, datum const& wanted, datum const& in) {
  if (in.kind() == type_kind::map) {
    if (!budget.spend_elements(in.size()) || !budget.spend_bytes(wanted.plain_cost())) return budget.exhausted(at);
    auto const key = wanted.plain(false);
    if (key.kind() != type_kind::string) return datum{false};
    return datum{in.find(*key.text()).has_value()};
  }
  if (in.kind() != type_kind::list) return fault{at, "'in' needs a list or a map on its right, found " + std::string{type_name(in.kind())}};
  if (!budget.spend_elements(in.size())) return budget.exhausted(at);
  for (auto const& element : in.elements()) {
    auto same = equal_data(budget, at, wanted, element);
    if (!same) return std::move(same.error());
    if (*same) return datum{true};
  }
  return datum{false};
}

bool holds(binary_kind op, ordering found) noexcept {
  switch (op) {
    case binary_kind::less: return found < 0;
    case binary_kind::less_equal: return found <= 0;
    case binary_kind::greater: return found > 0;
    default: return found >= 0;
  }
}

}  // namespace

std::optional<ordering> order(datum const& left, datum const& right) {
  if (auto const numbers = order_numbers(left, right)) return numbers;
  if (auto const *a = left.text(), *b = right.text(); a != nullptr && b != nullptr) return *a <=> *b;
  if (auto const *a = left.get<bool>(), *b = right.get<bool>(); a != nullptr && b != nullptr) return *a <=> *b;
  return std::nullopt;
}

// With a list of its own instead of recursion: what came from outside may nest deeply.
result<bool, fault> equal_data(work& budget, expression const& at, datum const& left, datum const& right) {
  pairs todo;
  todo.emplace_back(left, right);
  while (!todo.empty()) {
    auto const [a, b] = std::move(todo.back());
    todo.pop_back();
    if (!budget.spend(1) || !budget.spend_bytes(a.plain_cost() + b.plain_cost())) return budget.exhausted(at);
    if (is_container(a.kind()) && a.kind() == b.kind()) {
      auto const bytes = comparable_bytes(a, b);
      if (!budget.spend_elements(a.size()) || !budget.spend_bytes(bytes)) return budget.exhausted(at);
      bool const same_text = bytes > 0 && a.json()->raw() == b.json()->raw();
      if (!same_text && !open_containers(todo, a, b)) return false;
    } else if (!equal_scalars(a.plain(false), b.plain(false))) {
      return false;
    }
  }
  return true;
}

outcome compare(work& budget, expression const& at, datum const& left, datum const& right) {
  if (at.op == binary_kind::in) return contained(budget, at, left, right);
  if (at.op == binary_kind::equal || at.op == binary_kind::not_equal) {
    auto same = equal_data(budget, at, left, right);
    if (!same) return std::move(same.error());
    return datum{*same == (at.op == binary_kind::equal)};
  }
  if (!budget.spend_bytes(left.plain_cost() + right.plain_cost())) return budget.exhausted(at);
  auto const a = left.plain(false), b = right.plain(false);
  for (auto const* side : {&a, &b}) {
    if (side->is_huge()) return fault{at, too_large(*side)};
  }
  auto const found = order(a, b);
  if (!found) return fault{at, no_overload(symbol(at.op), a.kind(), b.kind())};
  return datum{holds(at.op, *found)};
}

}  // namespace atone::expr
