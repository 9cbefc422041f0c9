// Rows of a message: each a map from columns to values.
#include <atone/features/events.hpp>
#include <atone/json.hpp>

namespace atone::features {
namespace {

error wrong(std::size_t row, error const& why) {
  return error{why.code, "rows[" + std::to_string(row) + "]: " + why.message};
}

// Numbers are taken as they are written, so that a decimal is exact; only times are integers in JSON too. Texts are kept in `texts`, which
// the cells look into.
result<cell> read_cell(column_spec const& column, json::value const& from, std::string& text) {
  if (from.is_null()) return cell{};
  bool const is_string = from.type() == json::kind::string;
  if (!is_string && from.type() != json::kind::number) {
    return error{errc::invalid_argument, "column '" + column.name + "': found " + std::string{json::name(from.type())} +
                                             "; expected a value of type " + std::string{name(column.type)}};
  }
  if (!is_string && column.type == column_type::text) {
    return error{errc::invalid_argument,
                 "column '" + column.name + "': found " + std::string{from.raw().substr(0, 60)} + "; expected a text"};
  }
  if (auto const number = is_string ? std::nullopt : from.as_int64(); number && column.type != column_type::decimal) return cell{*number};
  text = is_string ? from.as_string() : std::string{from.raw()};
  return cell{std::string_view{text}};
}

result<void> append_row(feature_set const& of, json::value const& from, row_appender& to) {
  if (from.type() != json::kind::object)
    return error{errc::invalid_argument, "found " + std::string{json::name(from.type())} + "; expected a map of columns"};
  std::vector<cell> cells(of.columns.size());
  std::vector<std::string> texts(of.columns.size());
  for (auto const& [key, value] : from.members()) {
    auto const column = of.find_column(key);
    if (!column) return error{errc::invalid_argument, "found '" + key.substr(0, 60) + "'; the set has no such column"};
    auto read = read_cell(of.columns[*column], value, texts[*column]);
    if (!read) return read.error();
    cells[*column] = *read;
  }
  return to.append(cells);
}

}  // namespace

result<event_table> rows_from_json(feature_set const& of, std::string_view json) {
  auto const parsed = json::parse(std::string{json});
  if (!parsed) return parsed.error();
  if (parsed->type() != json::kind::array) {
    return error{errc::invalid_argument, "rows: found " + std::string{json::name(parsed->type())} + "; expected a list of maps"};
  }
  event_table made{of};
  row_appender to{of, made};
  std::size_t row = 0;
  for (auto const& one : parsed->elements()) {
    if (auto done = append_row(of, one, to); !done) return wrong(row, done.error());
    ++row;
  }
  return made;
}

}  // namespace atone::features
