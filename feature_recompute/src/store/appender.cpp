// Rows from messages and files: each cell as the integer that its column holds.
#include <atone/features/events.hpp>

#include "spec/values.hpp"

namespace atone::features {
namespace {

error wrong(column_spec const& column, std::string const& found, std::string_view expected) {
  return error{errc::invalid_argument, "column '" + column.name + "': found " + found + "; expected " + std::string{expected}};
}

std::string shown(cell const& of) {
  if (auto const* text = std::get_if<std::string_view>(&of)) return "'" + std::string{text->substr(0, 60)} + "'";
  if (auto const* number = std::get_if<std::int64_t>(&of)) return std::to_string(*number);
  if (auto const* real = std::get_if<double>(&of)) return std::to_string(*real);
  return "null";
}

result<std::int64_t> read_decimal(column_spec const& column, cell const& from) {
  auto const expected = "a decimal number with at most " + std::to_string(column.scale) + " places that fits 64 bits";
  if (auto const* real = std::get_if<double>(&from)) {
    auto scaled = scale_real(*real, column.scale);
    if (!scaled) return error{errc::invalid_argument, "column '" + column.name + "': " + scaled.error().message};
    return *scaled;
  }
  auto const text = std::holds_alternative<std::int64_t>(from) ? std::to_string(std::get<std::int64_t>(from))
                                                               : std::string{std::get<std::string_view>(from)};
  if (auto const scaled = parse_scaled(text, column.scale)) return *scaled;
  return wrong(column, shown(from), expected);
}

result<std::int64_t> read_time(column_spec const& column, cell const& from) {
  if (auto const* number = std::get_if<std::int64_t>(&from)) return *number;
  if (auto const* text = std::get_if<std::string_view>(&from)) {
    if (auto const at = parse_timestamp(*text)) return at->time_since_epoch().count();
  }
  return wrong(column, shown(from), "a time as 2026-11-30T13:37:00Z, or microseconds since 1970");
}

// A double that is a whole number stands for it: JSON from elsewhere knows no integers.
result<std::int64_t> read_integer(column_spec const& column, cell const& from) {
  if (auto const* number = std::get_if<std::int64_t>(&from)) return *number;
  if (auto const* text = std::get_if<std::string_view>(&from)) {
    if (auto const whole = parse_scaled(*text, 0)) return *whole;
  }
  if (auto const* real = std::get_if<double>(&from)) {
    auto const whole = scale_real(*real, 0);
    if (!whole) return error{errc::invalid_argument, "column '" + column.name + "': " + whole.error().message};
    if (static_cast<double>(*whole) == *real) return *whole;
  }
  return wrong(column, shown(from), "a whole number that fits 64 bits");
}

}  // namespace

row_appender::row_appender(feature_set const& of, event_table& into) : set_(of), into_(into), words_(of.columns.size()) {
  for (std::size_t column = 0; column < into.columns.size(); ++column) {
    auto const& words = into.columns[column].words;
    for (std::size_t at = 0; at < words.size(); ++at) words_[column].emplace(words[at], static_cast<std::int64_t>(at));
  }
}

std::int64_t row_appender::word(std::size_t column, std::string_view text) {
  auto& words = into_.columns[column].words;
  auto const [found, fresh] = words_[column].emplace(std::string{text}, static_cast<std::int64_t>(words.size()));
  if (fresh) words.emplace_back(text);
  return found->second;
}

result<std::int64_t> row_appender::read(std::size_t column, cell const& from) {
  auto const& about = set_.columns[column];
  switch (about.type) {
    case column_type::integer: return read_integer(about, from);
    case column_type::decimal: return read_decimal(about, from);
    case column_type::timestamp: return read_time(about, from);
    case column_type::text: break;
  }
  auto const* text = std::get_if<std::string_view>(&from);
  if (text == nullptr) return wrong(about, shown(from), "a text");
  return word(column, *text);
}

result<void> row_appender::append(std::span<cell const> cells) {
  if (cells.size() != set_.columns.size()) {
    return error{errc::invalid_argument,
                 "found a row of " + std::to_string(cells.size()) + " cells; expected " + std::to_string(set_.columns.size())};
  }
  row_.assign(cells.size(), 0);
  null_.assign(cells.size(), 0);
  for (std::size_t column = 0; column < cells.size(); ++column) {
    if (std::holds_alternative<std::monostate>(cells[column])) {
      null_[column] = 1;
      continue;
    }
    auto const value = read(column, cells[column]);
    if (!value) return value.error();
    row_[column] = *value;
  }
  for (std::size_t column = 0; column < cells.size(); ++column) {
    auto& into = into_.columns[column];
    bool const is_null = null_[column] != 0;
    if (is_null && into.nulls.empty()) into.nulls.assign(into.values.size(), 0);
    if (is_null || !into.nulls.empty()) into.nulls.push_back(null_[column]);
    into.values.push_back(row_[column]);
  }
  return {};
}

}  // namespace atone::features
