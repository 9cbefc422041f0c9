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
  auto least = values[rows.front()];
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

// The value that `of` has made small.
std::int64_t value_of(compact const& by, std::uint64_t small) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(by.least) + small * by.unit);
}

// Both keys fit one number: one sort, and the keys say entity and time.
sorted_order sort_together(sort_keys const& keys, std::vector<std::uint32_t> const& rows, compact const& entity, compact const& time) {
  std::vector<keyed_row> sorted;
  std::vector<keyed_row> spare;
  sorted.reserve(rows.size());
  auto const shift = time.bits == 64 ? 63 : time.bits;  // 64 bits of time leave no place: then there is one entity
  for (auto const row : rows) {
    auto const high = entity.of((*keys.entity)[row]);
    sorted.push_back(keyed_row{(high << shift) | time.of((*keys.time)[row]), row});
  }
  radix_sort(sorted, spare);
  sorted_order made;
  made.rows.reserve(rows.size());
  made.entities.reserve(rows.size());
  made.times.reserve(rows.size());
  auto const mask = time.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << time.bits) - 1;
  for (auto const& one : sorted) {
    made.rows.push_back(one.row);
    made.entities.push_back(value_of(entity, entity.bits == 0 ? 0 : one.key >> shift));
    made.times.push_back(value_of(time, one.key & mask));
  }
  return made;
}

// By time, then by entity: the second sort keeps what the first one made.
sorted_order sort_apart(sort_keys const& keys, std::vector<std::uint32_t> const& rows, compact const& entity, compact const& time) {
  std::vector<keyed_row> sorted;
  std::vector<keyed_row> spare;
  sorted.reserve(rows.size());
  for (auto const row : rows) sorted.push_back(keyed_row{time.of((*keys.time)[row]), row});
  radix_sort(sorted, spare);
  for (auto& one : sorted) one.key = entity.of((*keys.entity)[one.row]);
  radix_sort(sorted, spare);
  sorted_order made;
  made.rows.reserve(rows.size());
  for (auto const& one : sorted) made.rows.push_back(one.row);
  made.entities = gathered(*keys.entity, made.rows);
  made.times = gathered(*keys.time, made.rows);
  return made;
}

void settle_ties(sort_keys const& keys, sorted_order& order) {
  auto const before = [&](std::uint32_t left, std::uint32_t right) {
    if ((*keys.id)[left] != (*keys.id)[right]) return (*keys.id)[left] < (*keys.id)[right];
    return keys.known != nullptr && (*keys.known)[left] < (*keys.known)[right];
  };
  for (std::size_t begin = 0; begin < order.rows.size();) {
    auto end = begin + 1;
    while (end < order.rows.size() && order.times[end] == order.times[begin] && order.entities[end] == order.entities[begin]) ++end;
    if (end - begin > 1) {
      std::sort(order.rows.begin() + static_cast<std::ptrdiff_t>(begin), order.rows.begin() + static_cast<std::ptrdiff_t>(end), before);
    }
    begin = end;
  }
}

}  // namespace

std::vector<std::int64_t> gathered(std::vector<std::int64_t> const& values, std::vector<std::uint32_t> const& rows) {
  constexpr std::size_t ahead = 24;  // rows whose values are asked for before they are needed
  std::vector<std::int64_t> out;
  out.reserve(rows.size());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (at + ahead < rows.size()) __builtin_prefetch(values.data() + rows.at(at + ahead));
    auto const row = rows[at];
    out.push_back(values[row]);
  }
  return out;
}

sorted_order sorted_rows(sort_keys const& keys, std::vector<std::uint32_t> const& rows) {
  if (rows.empty()) return {};
  auto const entity = compact_of(*keys.entity, rows, false);
  auto const time = compact_of(*keys.time, rows, true);
  auto order = entity.bits + time.bits <= 64 ? sort_together(keys, rows, entity, time) : sort_apart(keys, rows, entity, time);
  settle_ties(keys, order);
  return order;
}

}  // namespace atone::features
