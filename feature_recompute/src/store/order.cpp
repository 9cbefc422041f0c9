#include "store/order.hpp"

#include <algorithm>
#include <array>

#include <atone/features/arithmetic.hpp>

#include "store/radix.hpp"

namespace atone::features {
namespace {

// Values of a column as small numbers with the same order: (value - least) / unit.
struct compact {
  std::int64_t least = 0;
  std::uint64_t unit = 1;
  int bits = 0;

  std::uint64_t of(std::int64_t value) const { return (static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(least)) / unit; }
};

// Times are often whole seconds or days: then far fewer bits need sorting.
std::uint64_t unit_of(std::vector<std::int64_t> const& values, std::vector<std::uint32_t> const& rows, std::int64_t least) {
  constexpr std::array<std::uint64_t, 5> units{86'400'000'000, 3'600'000'000, 60'000'000, 1'000'000, 1'000};
  for (auto const unit : units) {
    auto const whole = [&](std::uint32_t row) {
      return (static_cast<std::uint64_t>(values[row]) - static_cast<std::uint64_t>(least)) % unit == 0;
    };
    if (std::all_of(rows.begin(), rows.end(), whole)) return unit;
  }
  return 1;
}

compact compact_of(std::vector<std::int64_t> const& values, std::vector<std::uint32_t> const& rows, bool is_time) {
  compact made;
  auto least = values[rows[0]];
  auto most = least;
  for (auto const row : rows) {
    least = std::min(least, values[row]);
    most = std::max(most, values[row]);
  }
  made.least = least;
  if (is_time) made.unit = unit_of(values, rows, least);
  made.bits = bit_length(made.of(most));
  return made;
}

std::vector<keyed_row> by_entity_and_time(sort_keys const& keys, std::vector<std::uint32_t> const& rows) {
  auto const entity = compact_of(*keys.entity, rows, false);
  auto const time = compact_of(*keys.time, rows, true);
  std::vector<keyed_row> sorted(rows.size());
  std::vector<keyed_row> spare;
  bool const together = entity.bits + time.bits <= 64;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    auto const high = together && time.bits < 64 ? entity.of((*keys.entity)[rows[at]]) << time.bits : 0;
    sorted[at] = keyed_row{high | time.of((*keys.time)[rows[at]]), rows[at]};
  }
  radix_sort(sorted, spare);
  if (together) return sorted;
  for (auto& one : sorted) one.key = entity.of((*keys.entity)[one.row]);
  radix_sort(sorted, spare);
  return sorted;
}

}  // namespace

std::vector<std::uint32_t> sorted_rows(sort_keys const& keys, std::vector<std::uint32_t> const& rows) {
  if (rows.empty()) return {};
  auto const sorted = by_entity_and_time(keys, rows);
  std::vector<std::uint32_t> order(rows.size());
  for (std::size_t at = 0; at < rows.size(); ++at) order[at] = sorted[at].row;
  auto const same = [&](std::uint32_t left, std::uint32_t right) {
    return (*keys.time)[left] == (*keys.time)[right] && (*keys.entity)[left] == (*keys.entity)[right];
  };
  // Equal keys of one sort are ties in time and entity; of two sorts, in the entity only.
  for (std::size_t begin = 0; begin < order.size();) {
    auto end = begin + 1;
    while (end < order.size() && sorted[begin].key == sorted[end].key && same(order[begin], order[end])) ++end;
    if (end - begin > 1) {
      auto const from = order.begin() + static_cast<std::ptrdiff_t>(begin);
      auto const to = order.begin() + static_cast<std::ptrdiff_t>(end);
      std::sort(from, to, [&](std::uint32_t left, std::uint32_t right) {
        if ((*keys.id)[left] != (*keys.id)[right]) return (*keys.id)[left] < (*keys.id)[right];
        return keys.known != nullptr && (*keys.known)[left] < (*keys.known)[right];
      });
    }
    begin = end;
  }
  return order;
}

}  // namespace atone::features
