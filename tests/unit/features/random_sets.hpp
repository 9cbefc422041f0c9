// Random feature sets, as YAML, and random events for them: small grids of times and values, so that ties, borders, duplicates,
// corrections, nulls and overflows are common.
#pragma once

#include <random>

#include "support.hpp"

namespace atone::features_test {

// What is drawn for one round.
struct random_case {
  std::string yaml;
  features::feature_set_ptr set;
  raw_rows rows;

  random_case() = default;
};

random_case draw_case(std::mt19937_64& random, std::size_t rows_most);

// A moment about when the events happen.
std::int64_t draw_time(std::mt19937_64& random);

}  // namespace atone::features_test
