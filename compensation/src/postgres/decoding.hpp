// Result rows as Atone's values. Each select list below belongs to the function beside it.
// Thread rules: plain functions.
#pragma once

#include <pqxx/pqxx>
#include <string>
#include <string_view>

#include <atone/journal.hpp>

namespace atone::postgres {

// Columns are read in the order of their list, from `first` on. A value that can't be read is errc::corrupt.
extern std::string const saga_columns;
result<saga_row> decode_saga(pqxx::row const& row);
extern std::string const event_columns;
result<event> decode_event(pqxx::row const& row);
extern std::string const compensation_columns;
result<compensation_entry> decode_compensation(pqxx::row const& row);
extern std::string const alert_columns;
result<alert_row> decode_alert(pqxx::row const& row);
extern std::string const action_columns;
result<operator_action_row> decode_action(pqxx::row const& row);
extern std::string const definition_columns;
result<definition_row> decode_definition(pqxx::row const& row);
extern std::string const output_columns;
result<last_output_row> decode_output(pqxx::row const& row);

// Microseconds since 1970 of a timestamptz expression, as a select item.
std::string microseconds_of(std::string_view expression);
timestamp decode_time(pqxx::field const& field);
saga_id decode_id(pqxx::field const& field);         // a uuid's text
content_hash decode_hash(pqxx::field const& field);  // 32 bytes of bytea
std::string uuid_text(saga_id id);

// All rows of a result through one of the functions above.
template <class Value>
result<std::vector<Value>> decode_all(result<pqxx::result> const& rows, result<Value> (*decode)(pqxx::row const&)) {
  if (!rows) return rows.error();
  std::vector<Value> values;
  values.reserve(rows->size());
  for (auto const& row : *rows) {
    auto value = decode(row);
    if (!value) return value.error();
    values.push_back(std::move(*value));
  }
  return values;
}

// The one row of a result, or nothing.
template <class Value>
result<std::optional<Value>> decode_first(result<pqxx::result> const& rows, result<Value> (*decode)(pqxx::row const&)) {
  auto all = decode_all(rows, decode);
  if (!all) return all.error();
  if (all->empty()) return std::optional<Value>{};
  return std::optional<Value>{std::move(all->front())};
}

}  // namespace atone::postgres
