// A user's order history in three numbers and an age, over the last 7, 30 and 90 days: what a feature service recomputes
// when an order was placed, and what every other engine must equal bit for bit.
//
// The rules, written once:
// - Borders: a window is (as_of - length, as_of], so it holds the events whose age (as_of - at) is at least 0 and less than its
//   length. An event at as_of counts; one exactly `length` old does not: it belongs to nobody twice when windows are laid end to
//   end. Events after as_of don't count. An age is computed exactly, at any time a timestamp can hold.
// - Duplicates: rows with the same event id, time and amount are one event, however often they were delivered. The same id with
//   another time or amount is an error, since either answer would depend on which row came first.
// - Ties: events are totally ordered by (time, id); equal times are no problem, and the order of rows never matters.
// - Empty window: count 0, sum 0, mean and recency are null.
// - Sum is exact; one that does not fit a signed 64-bit integer is an error, but a partial sum that does not fit is not.
// - Mean is sum / count rounded once to the nearest double (ties to even), at any size of sum.
// - Recency is the age of the newest event of the window.
//
// Thread rules: functions are pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <atone/result.hpp>
#include <atone/time.hpp>

namespace atone::features {

// Lengths of the windows in days, shortest first.
inline constexpr std::array<std::int32_t, 3> window_days{7, 30, 90};
// Most rows one computation takes; beyond: errc::exhausted.
inline constexpr std::size_t events_max = 10'000'000;

// One order of the user, as an event store delivers it: possibly twice, in any order.
struct order_event {
  std::string id;           // identifies the event; not empty
  timestamp at;             // when it happened
  std::int64_t amount = 0;  // minor units (cents); negative for a refund

  order_event() = default;
  order_event(std::string event_id, timestamp when, std::int64_t minor_units) : id(std::move(event_id)), at(when), amount(minor_units) {}
  friend bool operator==(order_event const&, order_event const&) = default;
};

// One window's features.
struct window_row {
  std::int32_t days = 0;
  std::int64_t count = 0;
  std::int64_t sum = 0;             // minor units
  std::optional<double> mean;       // minor units; nothing for an empty window
  std::optional<duration> recency;  // nothing for an empty window

  window_row() = default;
  friend bool operator==(window_row const&, window_row const&) = default;
};

// The features of one user as of one moment.
struct feature_row {
  timestamp as_of;
  std::array<window_row, window_days.size()> windows;

  feature_row() = default;
  friend bool operator==(feature_row const&, feature_row const&) = default;
};

// The features of one user from all rows of that user, in any order; the rows are only read. Sorts once: n log n time, one pointer a row.
// Errors: invalid_argument (empty id; one id with two contents; a sum beyond 64 bits, naming the window), exhausted (too many rows).
result<feature_row> window_features(std::span<order_event const> events, timestamp as_of);

// {"as_of":"2026-11-30T00:00:00.000000Z","windows":{"7d":{"count":2,"sum":300,"mean":150,"recency_us":5},"30d":…,"90d":…}}
// Equal rows give equal bytes.
std::string to_json(feature_row const& of);

}  // namespace atone::features
