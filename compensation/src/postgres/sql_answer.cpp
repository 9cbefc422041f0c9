#include "postgres/sql_answer.hpp"

#include <algorithm>
#include <array>

#include <atone/json.hpp>

namespace atone::postgres {
namespace {

constexpr std::array<pqxx::oid, 6> number_types{20, 21, 23, 700, 701, 1700};  // int8, int2, int4, float4, float8, numeric
constexpr pqxx::oid type_boolean = 16;
constexpr std::array<pqxx::oid, 2> json_types{114, 3802};  // json, jsonb

template <std::size_t N>
bool contains(std::array<pqxx::oid, N> const& types, pqxx::oid type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// NaN and Infinity are numbers to PostgreSQL, not to JSON.
bool is_json_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

void write_field(json::writer& out, pqxx::field const& field) {
  std::string_view const text{field.c_str(), field.size()};
  auto const type = field.type();
  if (field.is_null()) {
    out.null();
  } else if (type == type_boolean) {
    out.boolean(text == "t");
  } else if (contains(json_types, type) || (contains(number_types, type) && is_json_number(text))) {
    out.raw(text);
  } else {
    out.string(text);
  }
}

text_parameter value_text(json::value const& value) {
  if (value.is_null()) return std::nullopt;
  if (value.type() == json::kind::string) return value.as_string();
  return std::string{value.raw()};
}

std::string listed(std::vector<std::string> const& names) {
  std::string text;
  for (auto const& name : names) text += (text.empty() ? ":" : ", :") + name;
  return text;
}

}  // namespace

result<std::vector<text_parameter>> parameter_values(std::vector<std::string> const& names, std::string_view json_object) {
  auto const parsed = json::parse(json_object.empty() ? std::string{"{}"} : std::string{json_object});
  if (!parsed) return error{errc::bad_data, "the parameters are not JSON: " + parsed.error().message};
  if (parsed->type() != json::kind::object) {
    return error{errc::bad_data,
                 "the parameters are a JSON " + std::string{json::name(parsed->type())} + "; expected an object with " + listed(names)};
  }
  std::vector<text_parameter> values;
  for (auto const& name : names) {
    auto const value = parsed->find(name);
    if (!value) return error{errc::bad_data, "the statement's parameter :" + name + " has no value; its parameters are " + listed(names)};
    values.push_back(value_text(*value));
  }
  return values;
}

std::string answer_json(pqxx::result const& rows) {
  json::writer out;
  bool const returns_rows = rows.columns() > 0;
  auto const count = returns_rows ? static_cast<std::uint64_t>(rows.size()) : static_cast<std::uint64_t>(rows.affected_rows());
  out.begin_object().key("rows").number(count).key("row");
  if (rows.empty()) {
    out.null();
  } else {
    out.begin_object();
    std::vector<std::string> seen;
    for (auto const& field : rows.front()) {
      std::string const name{field.name()};
      // Two columns of one name would be two keys: the first stands.
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
      seen.push_back(name);
      out.key(name);
      write_field(out, field);
    }
    out.end_object();
  }
  out.end_object();
  return out.take();
}

}  // namespace atone::postgres
