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

// `rows` in order; corrections of one event by when they became known. Rows equal in all of it keep no particular order: they must be the
// same.
std::vector<std::uint32_t> sorted_rows(sort_keys const& keys, std::vector<std::uint32_t> const& rows);

}  // namespace atone::features
