// The events of one entity, packed: a row is a few integers side by side, rows stand in the order of the engine. Each row that ever came
// is there, corrections among them; only what says exactly the same again is not kept.
//
// Thread rules: one thread at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <atone/features/events.hpp>

namespace atone::features {

// Each text once, by a number that never changes.
class dictionary {
 public:
  std::int64_t number_of(std::string_view word);
  std::optional<std::int64_t> find(std::string_view word) const;
  std::string const& word(std::int64_t number) const { return *words_.at(static_cast<std::size_t>(number)); }
  std::size_t size() const noexcept { return words_.size(); }

 private:
  struct by_text {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::int64_t, by_text, std::equal_to<>> numbers_;
  std::vector<std::string const*> words_;  // keys of numbers_: they stay where they are
};

// Where a row keeps what: [0] bits of the columns that are null, [1] the event's time, then when it became known where the set has that,
// then the other columns but the entity. A text stands as its number in the column's dictionary; a null as 0.
struct row_layout {
  static constexpr std::size_t nulls = 0;
  static constexpr std::size_t time = 1;
  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

  explicit row_layout(feature_set const& of);

  std::size_t width = 2;
  std::size_t known = nowhere;
  std::size_t id = nowhere;
  bool id_is_text = false;
  std::uint32_t id_column = 0;
  std::vector<std::size_t> slots;  // of each column; nowhere: the entity's
};

using packed_row = std::span<std::int64_t const>;

class entity_rows {
 public:
  std::size_t size() const noexcept { return count_; }
  packed_row row(row_layout const& of, std::size_t at) const noexcept { return {cells_.data() + at * of.width, of.width}; }
  // The row of the same event that became known at the same time; nothing when there is none.
  std::optional<packed_row> same(row_layout const& of, packed_row as) const;
  // In its place. `ids`: of the id's column.
  void insert(row_layout const& of, dictionary const& ids, packed_row row);

 private:
  std::size_t place_of(row_layout const& of, dictionary const& ids, packed_row row) const;

  std::vector<std::int64_t> cells_;
  std::size_t count_ = 0;
  // From a size on: at which times rows of an id stand.
  std::unique_ptr<std::unordered_multimap<std::int64_t, std::int64_t>> times_;
};

}  // namespace atone::features
