// Every event of a feature store, by entity: what is appended is checked against what is there, what is computed from is gathered.
//
// Thread rules: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <atone/features/events.hpp>

#include "service/bytes.hpp"
#include "service/entity_rows.hpp"

namespace atone::features {

// An entity by its number: an integer itself, a text by its place in the dictionary.
using entity_number = std::int64_t;

class event_memory {
 public:
  explicit event_memory(feature_set_ptr set);

  // The entity that a person or a message names; nothing where it isn't one: no integer, or a text that nobody has named before.
  std::optional<entity_number> find(std::string_view name) const;
  // The same, a new text becomes known. Errors: invalid_argument (no integer).
  result<entity_number> number_of(std::string_view name);
  std::string name_of(entity_number of) const;

  // Whether rows may come in: what sort_events refuses of them alone, and of them with what is here. No row is taken.
  result<event_store> check(event_table const& rows);
  // Takes what check() gave and writes what is new, as bytes that read() takes, a call of `wrote` a row; gives how many were.
  std::size_t take(event_store const& checked, std::function<void(entity_number, std::string const& bytes)> const& wrote);
  // A row that take() has written. Errors: corrupt.
  result<entity_number> read(byte_reader& from);

  // About how many bytes take() will write.
  std::size_t bytes_of(event_store const& checked) const;

  // Rows of these entities as the engine takes them; where each stands comes in `places`, nothing where it has no event.
  result<event_store> gather(std::span<entity_number const> entities, std::vector<std::optional<std::uint32_t>>& places) const;
  std::size_t rows_of(entity_number entity) const;
  // When the entity's newest event happened, up to `until`.
  std::optional<timestamp> newest_of(entity_number entity, timestamp until = timestamp::max()) const;
  std::size_t rows() const noexcept { return rows_; }
  std::size_t entities() const noexcept { return by_entity_.size(); }

 private:
  void gather_columns(std::vector<entity_number> const& order, event_store& into) const;
  void rank_words(std::size_t column, event_store& into) const;
  std::string bytes_of(entity_number entity, packed_row row) const;

  feature_set_ptr set_;
  row_layout layout_;
  std::vector<dictionary> words_;  // of each text column
  std::unordered_map<entity_number, entity_rows> by_entity_;
  std::size_t rows_ = 0;
};

}  // namespace atone::features
