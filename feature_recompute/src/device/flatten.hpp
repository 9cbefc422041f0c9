// A compiled plan and a store as flat arrays, and the features that a plug-in does not compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/flat.hpp"
#include "engine/plan.hpp"

namespace atone::features {

// A plan bound to one store. Points into `plan`, which must live longer.
class flat_plan_arrays {
 public:
  flat_plan_arrays(feature_set const& set, feature_plan const& plan, event_store const& store);
  flat_plan view() const;

 private:
  feature_plan const& plan_;
  std::vector<std::int64_t> numbers_;
  std::vector<flat_condition> conditions_;
  std::vector<flat_filter> filters_;
  std::vector<flat_frame> frames_;
};

// What the plan reads of a store. Points into the store.
class flat_store_columns {
 public:
  flat_store_columns(feature_set const& set, feature_plan const& plan, event_store const& store);
  flat_store view() const;

 private:
  flat_store store_;
  std::vector<flat_column> columns_;
};

// The first feature whose kind is not among `computed` (a bit each), as a person reads it; empty: all are.
std::string not_computed(feature_set const& set, std::uint64_t computed);

// The bit of a kind of feature.
constexpr std::uint64_t bit_of(aggregation what) {
  return std::uint64_t{1} << static_cast<unsigned>(what);
}

}  // namespace atone::features
