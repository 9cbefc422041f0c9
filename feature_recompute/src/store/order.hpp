// Which row comes where: the permutation that sorts a table by (entity, event time, event id).
#pragma once

#include <cstdint>
#include <vector>

#include <atone/features/events.hpp>

namespace atone::features {

// The key columns of a table, texts by their rank.
struct sort_keys {
  std::vector<std::int64_t> const* entity = nullptr;
  std::vector<std::int64_t> const* id = nullptr;
  std::vector<std::int64_t> const* time = nullptr;
  std::vector<std::int64_t> const* known = nullptr;  // null: there is no known_at
};

// Rows in order, with their entities and times: the sort has them at hand, looking them up again would cost as much as the sort.
struct sorted_order {
  std::vector<std::uint32_t> rows;
  std::vector<std::int64_t> entities;
  std::vector<std::int64_t> times;

  sorted_order() = default;
};

// `rows` in order; corrections of one event by when they became known. Rows equal in all of it keep no particular order: they must be the
// same.
sorted_order sorted_rows(sort_keys const& keys, std::vector<std::uint32_t> const& rows);

// Values in the order of the rows.
std::vector<std::int64_t> gathered(std::vector<std::int64_t> const& values, std::vector<std::uint32_t> const& rows);

}  // namespace atone::features
