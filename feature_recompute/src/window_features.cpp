#include <atone/features/window_features.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <atone/json.hpp>

namespace atone::features {
namespace {

// Wide enough for any sum of 64-bit amounts and any difference of timestamps.
__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

constexpr std::int64_t day_us = 86'400'000'000;

std::int64_t count_of(timestamp at) {
  return at.time_since_epoch().count();
}

error invalid(std::string message) {
  return error{errc::invalid_argument, std::move(message)};
}

// The distinct events; views of the caller's rows.
result<std::vector<order_event const*>> distinct(std::span<order_event const> rows) {
  std::vector<order_event const*> events;
  events.reserve(rows.size());
  for (auto const& row : rows) {
    if (row.id.empty()) return invalid("an event has an empty id; expected the id it was stored under");
    events.push_back(&row);
  }
  std::sort(events.begin(), events.end(), [](auto const* left, auto const* right) { return left->id < right->id; });
  for (std::size_t at = 1; at < events.size(); ++at) {
    if (events[at - 1]->id == events[at]->id && *events[at - 1] != *events[at]) {
      return invalid("event '" + events[at]->id + "' came with two contents; expected the same time and amount each time");
    }
  }
  auto const same = [](auto const* left, auto const* right) { return left->id == right->id; };
  events.erase(std::unique(events.begin(), events.end(), same), events.end());
  return events;
}

// sum / count, rounded once. Where both are exact as doubles the division itself is that rounding; beyond, the whole quotient gets
// 64 binary places, enough to show any remainder of a 63-bit divisor, and the conversion to double is the one rounding.
double exact_mean(std::int64_t sum, std::int64_t count) {
  constexpr std::int64_t exact_max = std::int64_t{1} << 53;
  if (sum >= -exact_max && sum <= exact_max) return static_cast<double>(sum) / static_cast<double>(count);
  constexpr int binary_places = 64;
  uint128 const magnitude = sum < 0 ? uint128{0} - static_cast<uint128>(static_cast<int128>(sum)) : static_cast<uint128>(sum);
  uint128 const scaled = magnitude << binary_places;
  double const rounded = std::ldexp(static_cast<double>(scaled / static_cast<uint128>(count)), -binary_places);
  return sum < 0 ? -rounded : rounded;
}

result<window_row> one_window(std::vector<order_event const*> const& events, timestamp as_of, std::int32_t days) {
  window_row row;
  row.days = days;
  int128 sum = 0;
  int128 const length = static_cast<int128>(days) * day_us;
  for (auto const* event : events) {
    int128 const age = static_cast<int128>(count_of(as_of)) - count_of(event->at);
    if (age < 0 || age >= length) continue;
    ++row.count;
    sum += event->amount;
    duration const seen{static_cast<std::int64_t>(age)};
    if (!row.recency || seen < *row.recency) row.recency = seen;
  }
  using limits = std::numeric_limits<std::int64_t>;
  if (sum < limits::min() || sum > limits::max()) {
    return invalid("the sum over " + std::to_string(days) + " days does not fit a signed 64-bit integer");
  }
  row.sum = static_cast<std::int64_t>(sum);
  if (row.count > 0) row.mean = exact_mean(row.sum, row.count);
  return row;
}

void write_window(json::writer& out, window_row const& row) {
  out.key(std::to_string(row.days) + "d").begin_object();
  out.key("count").number(row.count).key("sum").number(row.sum).key("mean");
  row.mean ? out.number(*row.mean) : out.null();
  out.key("recency_us");
  row.recency ? out.number(static_cast<std::int64_t>(row.recency->count())) : out.null();
  out.end_object();
}

}  // namespace

result<feature_row> window_features(std::span<order_event const> events, timestamp as_of) {
  if (events.size() > events_max) {
    return error{errc::exhausted, std::to_string(events.size()) + " events; at most " + std::to_string(events_max) + " are taken"};
  }
  auto const known = distinct(events);
  if (!known) return known.error();
  feature_row row;
  row.as_of = as_of;
  for (std::size_t at = 0; at < window_days.size(); ++at) {
    auto window = one_window(*known, as_of, window_days[at]);
    if (!window) return std::move(window.error());
    row.windows[at] = std::move(*window);
  }
  return row;
}

std::string to_json(feature_row const& of) {
  json::writer out;
  out.begin_object().key("as_of").string(format_timestamp(of.as_of)).key("windows").begin_object();
  for (auto const& window : of.windows) write_window(out, window);
  out.end_object().end_object();
  return out.take();
}

}  // namespace atone::features
