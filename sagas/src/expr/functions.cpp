#include "functions.hpp"

#include <algorithm>

#include <atone/utf8.hpp>

#include "operators.hpp"
#include "pattern.hpp"

namespace atone::expr {
namespace {

using arguments = std::vector<datum>;

constexpr std::size_t matched_bytes_per_step = 16;
constexpr std::uint64_t pattern_steps = 100;  // of compiling one that is not constant

outcome size(work& budget, expression const& call, arguments const& given) {
  auto const* text = given[0].text();
  if (text == nullptr) return datum{static_cast<std::int64_t>(given[0].size())};
  if (!budget.spend_bytes(text->size())) return budget.exhausted(call);
  auto const continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; };
  return datum{static_cast<std::int64_t>(text->size()) - std::count_if(text->begin(), text->end(), continues)};
}

outcome starts_with(work&, expression const&, arguments const& given) {
  return datum{given[0].text()->starts_with(*given[1].text())};
}

outcome ends_with(work&, expression const&, arguments const& given) {
  return datum{given[0].text()->ends_with(*given[1].text())};
}

outcome contains(work& budget, expression const& call, arguments const& given) {
  auto const &text = *given[0].text(), &wanted = *given[1].text();
  // std::string::find may look at every pair of bytes; charged so.
  auto const pairs = text.size() / bytes_per_step * std::max<std::size_t>(1, wanted.size() / bytes_per_step);
  if (!budget.spend_bytes(text.size()) || !budget.spend(pairs)) return budget.exhausted(call);
  return datum{text.find(wanted) != std::string::npos};
}

outcome matches(work& budget, expression const& call, arguments const& given) {
  if (!budget.spend(given[0].text()->size() / matched_bytes_per_step)) return budget.exhausted(call);
  if (call.regex) return datum{call.regex->found_in(*given[0].text())};
  if (!budget.spend(pattern_steps + given[1].text()->size())) return budget.exhausted(call);
  auto const made = pattern::compile(*given[1].text());
  if (!made) return fault{call, "not a regular expression: " + made.error().message};
  return datum{(*made)->found_in(*given[0].text())};
}

outcome pass_on(work&, expression const&, arguments const& given) {
  return given[0];
}

// The least (sign -1) or the greatest (sign 1) of several arguments or of one list.
outcome extreme(work& budget, expression const& call, arguments const& given, int sign) {
  auto const all = given.size() == 1 && given[0].kind() == type_kind::list ? given[0].elements() : given;
  if (!budget.spend_elements(all.size())) return budget.exhausted(call);
  if (all.empty()) return fault{call, call.text + "() of an empty list"};
  std::size_t best = 0;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (!budget.spend(1) || !budget.spend_bytes(all[at].plain_cost() + all[best].plain_cost())) return budget.exhausted(call);
    auto const a = all[at].plain(false), b = all[best].plain(false);
    if (a.is_huge()) return fault{call, too_large(a)};
    auto const found = order(a, b);
    if (!found) {
      return fault{call, call.text + "() can't compare " + std::string{type_name(a.kind())} + " and " + std::string{type_name(b.kind())}};
    }
    if (sign < 0 ? *found < 0 : *found > 0) best = at;
  }
  return all[best];
}

outcome least(work& budget, expression const& call, arguments const& given) {
  return extreme(budget, call, given, -1);
}
outcome greatest(work& budget, expression const& call, arguments const& given) {
  return extreme(budget, call, given, 1);
}

using enum type_kind;
constexpr kind_set numbers = any_of(integer, unsigned_integer, floating);
constexpr kind_set scalars = numbers | any_of(string, boolean);
constexpr kind_set everything = scalars | any_of(null, list, map);
constexpr std::size_t many = 32;

constexpr std::array functions{
    function_entry{"size", true, true, 1, 1, {any_of(string, list, map)}, integer, true, size},
    function_entry{"string", true, false, 1, 1, {scalars}, string, true, to_text},
    function_entry{"int", true, false, 1, 1, {numbers | one(string)}, integer, true, to_integer},
    function_entry{"uint", true, false, 1, 1, {numbers | one(string)}, unsigned_integer, true, to_unsigned},
    function_entry{"double", true, false, 1, 1, {numbers | one(string)}, floating, true, to_floating},
    function_entry{"bool", true, false, 1, 1, {any_of(string, boolean)}, boolean, true, to_boolean},
    function_entry{"dyn", true, false, 1, 1, {everything}, type_kind::dynamic, false, pass_on},
    function_entry{"startsWith", false, true, 2, 2, {one(string), one(string)}, boolean, true, starts_with},
    function_entry{"endsWith", false, true, 2, 2, {one(string), one(string)}, boolean, true, ends_with},
    function_entry{"contains", false, true, 2, 2, {one(string), one(string)}, boolean, true, contains},
    function_entry{"matches", true, true, 2, 2, {one(string), one(string)}, boolean, true, matches},
    function_entry{"min", true, false, 1, many, {scalars | one(list), scalars}, type_kind::dynamic, false, least},
    function_entry{"max", true, false, 1, many, {scalars | one(list), scalars}, type_kind::dynamic, false, greatest},
};

}  // namespace

std::string list_kinds(kind_set kinds) {
  std::vector<std::string_view> names;
  for (auto kind = type_kind::dynamic; kind <= type_kind::object; kind = static_cast<type_kind>(static_cast<int>(kind) + 1)) {
    if ((kinds & one(kind)) != 0) names.push_back(type_name(kind));
  }
  std::string out;
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (at > 0) out += at + 1 == names.size() ? " or " : ", ";
    out += names[at];
  }
  return out;
}

std::string function_entry::wrong_argument(std::size_t argument, std::string_view found) const {
  auto message = std::string{name} + "() needs " + list_kinds(accepted(argument));
  if (member && !global && argument > 0) message += " between its brackets";
  return message + ", found " + std::string{found};
}

function_entry const* find_function(std::string_view name) noexcept {
  auto const found = std::find_if(functions.begin(), functions.end(), [&](auto const& known) { return known.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

std::vector<std::string_view> function_names() {
  std::vector<std::string_view> names{"has", "all", "exists", "exists_one", "filter", "map"};
  for (auto const& known : functions) names.push_back(known.name);
  return names;
}

}  // namespace atone::expr
