// The SQL of schemas/sql/postgresql, as built in. Thread rules: constant.
#pragma once

#include <string_view>
#include <vector>

namespace atone::postgres {

// One numbered step of the schema; its number is its place in the list, from 1.
struct migration {
  std::string_view name;  // "0001_tables"
  std::string_view text;
};

std::vector<migration> const& migrations();

}  // namespace atone::postgres
