#include "books.hpp"

#include <initializer_list>

namespace demo {
namespace {

// A number deep in an object; 0 when something on the way is missing.
std::int64_t number_at(atone::json::value const& of, std::initializer_list<std::string_view> path) {
  auto at = of;
  for (auto const key : path) {
    auto const found = at.type() == atone::json::kind::object ? at.find(key) : std::nullopt;
    if (!found) return 0;
    at = *found;
  }
  return at.type() == atone::json::kind::number ? at.as_int64().value_or(0) : 0;
}

void compare(std::vector<std::string>& out, std::string const& what, std::int64_t found, std::int64_t expected) {
  if (found == expected) return;
  out.push_back(what + ": the service says " + std::to_string(found) + ", the completed sagas say " + std::to_string(expected));
}

}  // namespace

std::vector<std::string> compare_books(expected_books const& expected, atone::json::value const& orders,
                                       atone::json::value const& profiles) {
  std::vector<std::string> found;
  compare(found, "open orders", number_at(orders, {"open", "orders"}), static_cast<std::int64_t>(expected.completed));
  compare(found, "cents of open orders", number_at(orders, {"open", "amount"}), expected.cents);
  compare(found, "cents spent by users", number_at(profiles, {"spending"}), expected.cents);
  compare(found, "cents in the spending ledger", number_at(profiles, {"ledger"}), expected.cents);
  return found;
}

std::uint64_t sum_of(std::vector<atone::json::value> const& stats, std::string_view field) {
  std::uint64_t sum = 0;
  for (auto const& each : stats) sum += static_cast<std::uint64_t>(number_at(each, {field}));
  return sum;
}

std::uint64_t sum_of_faults(std::vector<atone::json::value> const& stats) {
  std::uint64_t sum = 0;
  for (auto const& each : stats) {
    for (auto const kind : {"fail", "hang", "drop", "late", "twice", "refuse"})
      sum += static_cast<std::uint64_t>(number_at(each, {"faults", kind}));
  }
  return sum;
}

}  // namespace demo
