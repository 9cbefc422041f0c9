// Events as the engine takes them: columns, in any order, possibly twice; and the sorted store that is made of them once.
//
// The rules, written once (docs/features.md):
// - The identity of an event is its entity and its id. Rows with the same id, known at the same time, must have the same content: they are
// one
//   event. With another content it is an error, since either answer would depend on which row came first.
// - Rows with the same id that became known later are corrections: from then on the event is what the newer row says.
// - Events of an entity are totally ordered by (event time, event id).
// - Rows whose entity, id or time is null are set aside and counted.
// - NaN and infinities are refused where they come in; -0 is 0.
//
// Thread rules: plain values; a const store may be read by any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include <atone/features/feature_set.hpp>
#include <atone/features/parallel.hpp>
#include <atone/result.hpp>

namespace atone::features {

// Most rows of one table; beyond: errc::exhausted.
inline constexpr std::size_t rows_max = 4'000'000'000;
// Furthest time from 1970, in microseconds, either way (about 73,000 years): ages never overflow.
inline constexpr std::int64_t time_max = std::int64_t{1} << 61;

// The values of one column.
struct event_column {
  std::vector<std::int64_t> values;  // as column_type says; of a text: its index in `words`
  std::vector<std::uint8_t> nulls;   // 1: null; empty: none is
  std::vector<std::string> words;    // of a text column; in a store ascending, each once

  event_column() = default;
  bool is_null(std::size_t row) const noexcept { return !nulls.empty() && nulls[row] != 0; }
};

// One value as a message or a file brings it. Nothing is null. A decimal may come as text ("12.50"), as whole units, or as a double, which
// is taken at the nearest value of the column's scale; a timestamp as text or as microseconds.
using cell = std::variant<std::monostate, std::int64_t, double, std::string_view>;

// Rows in any order. Who has columns already may fill `columns` directly.
struct event_table {
  std::vector<event_column> columns;  // as the feature set lists them, all of one length

  explicit event_table(feature_set const& of) : columns(of.columns.size()) {}
  std::size_t rows() const noexcept { return columns.empty() ? 0 : columns[0].values.size(); }
};

// Appends rows to a table; keeps what it needs to find words again. The set and the table must live longer.
class row_appender {
 public:
  row_appender(feature_set const& of, event_table& into);

  // One row, as many cells as columns. Errors (invalid_argument) name column, value and what was expected; nothing is appended then.
  result<void> append(std::span<cell const> cells);

 private:
  result<std::int64_t> read(std::size_t column, cell const& from);
  std::int64_t word(std::size_t column, std::string_view text);

  feature_set const& set_;
  event_table& into_;
  std::vector<std::unordered_map<std::string, std::int64_t>> words_;  // of each text column
  std::vector<std::int64_t> row_;
  std::vector<std::uint8_t> null_;
};

// Rows of a message: a list of maps from a column's name to its value; a column that is left out is null, numbers are taken exactly as they
// are written. Errors (invalid_argument) name row, column, what was found and what was expected; as json::parse() what is no JSON.
result<event_table> rows_from_json(feature_set const& of, std::string_view json);

// What was left out of a store, and why.
struct set_aside {
  std::size_t without_entity = 0;
  std::size_t without_id = 0;
  std::size_t without_time = 0;
  std::size_t late = 0;        // by the set's `late`
  std::size_t duplicates = 0;  // rows that said again what was known

  set_aside() = default;
  friend bool operator==(set_aside const&, set_aside const&) = default;
};

// Events sorted by (entity, event time, event id), duplicates gone.
struct event_store {
  std::vector<std::int64_t> entities;     // ascending; of a text: index in words of the entity's column
  std::vector<std::uint32_t> offsets;     // of each entity's first row, and the number of rows
  std::vector<std::int64_t> times;        // microseconds
  std::vector<std::int64_t> known_from;   // empty without `known_at`; otherwise a row is what is known from then
  std::vector<std::int64_t> known_until;  // to here, exclusive
  std::vector<event_column> columns;      // of the set; entity, event_time and known_at have only their words
  set_aside left_out;

  event_store() = default;
  std::size_t rows() const noexcept { return times.size(); }
  // Where the entity stands; nothing when there is no event of it.
  std::optional<std::uint32_t> find(std::int64_t entity) const noexcept;
  std::optional<std::uint32_t> find(std::string_view entity, feature_set const& of) const noexcept;
};

// Sorts and unites. Errors: invalid_argument (one id with two contents; a null, a late event where the set refuses them; a time out of
// bounds; columns that don't fit the set), exhausted (too many rows). Which one is told does not depend on the order of rows.
result<event_store> sort_events(feature_set const& of, event_table const& table);

}  // namespace atone::features
