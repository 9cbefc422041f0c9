// A job of the CPU's engine, whoever asks.
#pragma once

#include <algorithm>

#include "engine/requests.hpp"
#include "engine/visible.hpp"
#include "engine/walker.hpp"

namespace atone::features {

// `request_of(row)` says what a row is made from.
template <class RequestOf>
feature_table compute(feature_set const& set, feature_plan const& plan, event_store const& store, std::size_t rows, parallel const& how,
                      RequestOf const& request_of) {
  constexpr std::size_t part_rows = 4096;  // rows of results that one part computes
  auto table = empty_table(plan, rows);
  bound_filters const filters{set, plan, store};
  how((rows + part_rows - 1) / part_rows, [&](std::size_t part) {
    walker one{set, plan, store, filters, table};
    auto const end = std::min(rows, (part + 1) * part_rows);
    one.begin(part * part_rows);
    for (auto row = part * part_rows; row < end; ++row) one.add(request_of(row));
    one.finish();
  });
  return table;
}

}  // namespace atone::features
