// Which rows pass which filter: conditions bound to one store, and the mask of an entity's rows.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan.hpp"

namespace atone::features {

// The values of a column of the store, those included that the store keeps elsewhere.
std::int64_t const* values_of(feature_set const& set, event_store const& store, std::uint32_t column);

// What a condition asks for, ascending; words as their codes in the column. A word that the store has not seen is met by no row.
std::vector<std::int64_t> codes_of(condition const& of, event_column const& column);

// A condition whose words are codes of the store at hand.
struct bound_condition {
  std::int64_t const* values = nullptr;
  std::uint8_t const* nulls = nullptr;  // null: none is
  bool is_range = false;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::vector<std::int64_t> numbers;
};

// The filters of a plan, bound to a store. Bit f of a row's mask: it is visible and passes filter f.
class bound_filters {
 public:
  bound_filters(feature_set const& set, feature_plan const& plan, event_store const& store);

  // Whether masks are needed at all: without them every row passes.
  bool any() const noexcept { return filters_.size() > 1 || known_from_ != nullptr; }
  // Appends the masks of rows begin … end with what was known at `known_at`.
  void append(std::uint32_t begin, std::uint32_t end, std::int64_t known_at, std::vector<std::uint64_t>& masks) const;

 private:
  std::vector<std::vector<bound_condition>> filters_;
  std::int64_t const* known_from_ = nullptr;
  std::int64_t const* known_until_ = nullptr;
};

}  // namespace atone::features
