#include "datum.hpp"

#include <cmath>

#include <atone/assert.hpp>

namespace atone::expr {
namespace {

// 1.0 and 1e3 are integers to JSON Schema; beyond 2^53 a double no longer says which integer was meant.
constexpr double exact_integer_max = 9007199254740992.0;

datum plain_number(json::value const& of, number_hint hint) {
  if (hint == number_hint::floating) {
    auto const real = of.as_double();
    return real ? datum{*real} : datum{of};
  }
  if (auto const whole = of.as_int64()) return datum{*whole};
  if (auto const whole = of.as_uint64()) return datum{*whole};
  auto const real = of.as_double();
  if (!real) return datum{of};
  bool const integral = std::trunc(*real) == *real && std::abs(*real) <= exact_integer_max;
  if (hint == number_hint::integer && integral) return datum{static_cast<std::int64_t>(*real)};
  return datum{*real};
}

type_kind json_kind(json::value const& of) {
  switch (of.type()) {
    case json::kind::null: return type_kind::null;
    case json::kind::boolean: return type_kind::boolean;
    case json::kind::string: return type_kind::string;
    case json::kind::array: return type_kind::list;
    case json::kind::object: return type_kind::map;
    case json::kind::number: break;
  }
  if (of.as_int64()) return type_kind::integer;
  return of.as_uint64() ? type_kind::unsigned_integer : type_kind::floating;
}

}  // namespace

type_kind datum::kind() const {
  constexpr type_kind kinds[] = {type_kind::null,     type_kind::boolean, type_kind::integer, type_kind::unsigned_integer,
                                 type_kind::floating, type_kind::string,  type_kind::list,    type_kind::map};
  if (auto const* value = json()) return json_kind(*value);
  return kinds[held_.index()];
}

bool datum::is_huge() const {
  auto const* value = json();
  return value != nullptr && value->type() == json::kind::number && !value->as_double();
}

bool datum::is_number() const {
  if (auto const* value = json()) return value->type() == json::kind::number;
  return get<std::int64_t>() != nullptr || get<std::uint64_t>() != nullptr || get<double>() != nullptr;
}

std::string const* datum::text() const noexcept {
  auto const* held = get<std::shared_ptr<std::string const>>();
  return held == nullptr ? nullptr : held->get();
}

datum::list const* datum::items() const noexcept {
  auto const* held = get<std::shared_ptr<list const>>();
  return held == nullptr ? nullptr : held->get();
}

datum::map const* datum::members() const noexcept {
  auto const* held = get<std::shared_ptr<map const>>();
  return held == nullptr ? nullptr : held->get();
}

json::value const* datum::json() const noexcept {
  auto const* held = get<carried>();
  return held == nullptr ? nullptr : &held->value;
}

number_hint datum::hint() const noexcept {
  auto const* held = get<carried>();
  return held == nullptr ? number_hint::by_text : held->hint;
}

std::size_t datum::size() const {
  if (auto const* value = json()) return value->size();
  if (auto const* built = items()) return built->size();
  auto const* built = members();
  return built == nullptr ? 0 : built->size();
}

std::size_t datum::plain_cost() const noexcept {
  auto const* value = json();
  if (value == nullptr || value->type() == json::kind::array || value->type() == json::kind::object) return 0;
  return value->raw().size();
}

datum datum::plain(bool use_hint) const {
  auto const* value = json();
  if (value == nullptr) return *this;
  switch (value->type()) {
    case json::kind::null: return datum{};
    case json::kind::boolean: return datum{value->as_bool()};
    case json::kind::string: return datum{value->as_string()};
    case json::kind::number: return plain_number(*value, use_hint ? hint() : number_hint::by_text);
    default: return *this;
  }
}

datum datum::at(std::size_t index) const {
  ATONE_ASSERT(index < size());
  if (auto const* value = json()) return datum{*value->at(index)};
  return (*items())[index];
}

std::optional<datum> datum::find(std::string_view key) const {
  if (auto const* value = json()) {
    auto found = value->find(key);
    return found ? std::optional{datum{std::move(*found)}} : std::nullopt;
  }
  auto const* built = members();
  ATONE_ASSERT(built != nullptr);
  for (auto const& [known, member] : *built) {
    if (known == key) return member;
  }
  return std::nullopt;
}

std::vector<datum> datum::elements() const {
  if (auto const* built = items()) return *built;
  std::vector<datum> found;
  if (auto const* value = json()) {
    for (auto& element : value->elements()) found.emplace_back(std::move(element));
  }
  return found;
}

std::vector<std::string> datum::keys() const {
  std::vector<std::string> found;
  if (auto const* value = json()) {
    for (auto& [key, member] : value->members()) found.push_back(std::move(key));
  } else if (auto const* built = members()) {
    for (auto const& [key, member] : *built) found.push_back(key);
  }
  return found;
}

std::string_view type_name(type_kind kind) noexcept {
  switch (kind) {
    case type_kind::dynamic: return "dynamic";
    case type_kind::null: return "null";
    case type_kind::boolean: return "boolean";
    case type_kind::integer: return "integer";
    case type_kind::unsigned_integer: return "unsigned integer";
    case type_kind::floating: return "double";
    case type_kind::string: return "string";
    case type_kind::list: return "list";
    case type_kind::map: return "map";
    case type_kind::object: return "object";
  }
  return "unknown";
}

}  // namespace atone::expr
