// The text form of PostgreSQL's COPY, as pg_dump writes rows: one line a row, fields between tabs, `\N` for null, a backslash before
// what would be taken for something else. And the values that fields of our tables have.
// Thread rules: pure functions.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/ids.hpp>
#include <atone/result.hpp>
#include <atone/time.hpp>

namespace atone::dump {

using copy_fields = std::vector<std::optional<std::string>>;  // nothing: null

// A line without its end, of `width` fields, each of them UTF-8 without zero bytes. They are counted before any is read: a damaged line
// may have millions. Errors (corrupt) say what was found and expected; whoever calls knows the line's number.
result<copy_fields> split_copy_line(std::string_view line, std::size_t width);
// The same backwards: what COPY would write. For tests, and so that the two stand beside each other.
std::string copy_line(copy_fields const& fields);

// Nothing: it is no such value.
std::optional<std::string> parse_bytea(std::string_view text);      // "\x6869", or the older form with octal escapes
std::optional<saga_id> parse_uuid(std::string_view text);           // "018f3c2a-…"
std::optional<timestamp> parse_timestamptz(std::string_view text);  // "2026-01-01 00:00:00.123456+00", in any zone

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  auto const* const end = text.data() + text.size();
  auto const [stopped, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stopped != end || text.empty()) return std::nullopt;
  return value;
}

}  // namespace atone::dump
