#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include <boost/multiprecision/cpp_int.hpp>

#include <atone/features/arithmetic.hpp>

namespace atone::features_test {
namespace {

using namespace features;
using boost::multiprecision::cpp_int;

cpp_int power(int base, int exponent) {
  cpp_int made = 1;
  for (int at = 0; at < exponent; ++at) made *= base;
  return made;
}

double nearest(cpp_int dividend, cpp_int divisor) {
  if (dividend == 0) return 0;
  bool const negative = (dividend < 0) != (divisor < 0);
  dividend = abs(dividend);
  divisor = abs(divisor);
  int places = 0;  // of the quotient that are below its point
  auto const least = power(2, 52);
  while (dividend / divisor >= least * 2) {
    divisor *= 2;
    --places;
  }
  while (dividend / divisor < least) {
    dividend *= 2;
    ++places;
  }
  cpp_int whole = dividend / divisor;
  cpp_int const twice = (dividend - whole * divisor) * 2;
  if (twice > divisor || (twice == divisor && whole % 2 == 1)) ++whole;
  double const size = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(whole)), -places);
  return negative ? -size : size;
}

struct event {
  raw_row const* row;
  std::int64_t time;
  raw_value id;
};

// An event's position in the total order; texts compare as texts.
bool before(event const& left, event const& right) {
  return std::pair{left.time, left.id} < std::pair{right.time, right.id};
}

class one_row {
 public:
  one_row(feature_set const& set, raw_rows const& rows, oracle_moment const& at) : set_(set), at_(at) { gather(rows); }

  std::vector<expected_cell> run() {
    std::vector<expected_cell> all;
    for (auto const& feature : set_.features) {
      if (feature.what == aggregation::ratio) {
        all.push_back(ratio(feature));
        continue;
      }
      for (auto const window : feature.windows) {
        for (auto const& category : categories_of(feature)) {
          auto const cells = value(feature, chosen(feature, category, set_.windows[window]));
          all.insert(all.end(), cells.begin(), cells.end());
        }
      }
    }
    return all;
  }

 private:
  std::int64_t number(raw_row const& row, std::uint32_t column) const { return std::get<std::int64_t>(row[column]); }
  static bool is_null(raw_value const& of) { return std::holds_alternative<std::monostate>(of); }

  std::int64_t known(raw_row const& row) const {
    if (!set_.known_at) return std::numeric_limits<std::int64_t>::min();
    return is_null(row[*set_.known_at]) ? number(row, set_.event_time) : number(row, *set_.known_at);
  }

  bool is_set_aside(raw_row const& row) const {
    if (is_null(row[set_.event_id]) || is_null(row[set_.event_time])) return true;
    if (!set_.known_at || set_.late != late_rule::set_aside) return false;
    return cpp_int{known(row)} - number(row, set_.event_time) > set_.late_after.count();
  }

  // The newest version of each event that was known, of those that had happened.
  void gather(raw_rows const& rows) {
    std::map<raw_value, raw_row const*> newest;
    for (auto const& row : rows) {
      if (row[set_.entity] != at_.entity || is_set_aside(row)) continue;
      if (set_.known_at && known(row) > at_.known_at) continue;
      auto const [found, fresh] = newest.emplace(row[set_.event_id], &row);
      if (!fresh && known(row) > known(*found->second)) found->second = &row;
    }
    for (auto const& [id, row] : newest) {
      event const one{row, number(*row, set_.event_time), id};
      bool const behind = at_.through && std::pair{one.time, one.id} > *at_.through;
      if (one.time <= at_.as_of && !behind) events_.push_back(one);
    }
    std::sort(events_.begin(), events_.end(), before);
  }

  // The value of a column as the set sees it: a null known_at is the time of the event.
  raw_value seen(raw_row const& row, std::uint32_t column) const {
    if (set_.known_at && column == *set_.known_at) return known(row);
    return row[column];
  }

  bool satisfies(raw_row const& row, condition const& with) const {
    auto const value = seen(row, with.column);
    if (is_null(value)) return false;
    if (auto const* word = std::get_if<std::string>(&value)) return std::count(with.words.begin(), with.words.end(), *word) > 0;
    auto const found = std::get<std::int64_t>(value);
    if (with.is_range) return found >= with.least && found <= with.most;
    return std::count(with.numbers.begin(), with.numbers.end(), found) > 0;
  }

  static std::vector<raw_value> categories_of(feature_spec const& feature) {
    std::vector<raw_value> all;
    for (auto const& one : feature.categories) all.emplace_back(one);
    for (auto const& one : feature.words) all.emplace_back(one);
    if (!feature.per) all.emplace_back();
    return all;
  }

  std::vector<event> chosen(feature_spec const& feature, raw_value const& category, window_spec const& window) const {
    std::vector<event> all;
    for (auto const& one : events_) {
      bool fits = !feature.per || seen(*one.row, *feature.per) == category;
      for (auto const& with : feature.where) fits = fits && satisfies(*one.row, with);
      // The window is [as_of + 1 - length, as_of + 1).
      bool const inside = window.kind != window_kind::last || cpp_int{one.time} >= cpp_int{at_.as_of} + 1 - window.length.count();
      if (fits && inside) all.push_back(one);
    }
    if (window.kind == window_kind::rows && all.size() > static_cast<std::size_t>(window.rows)) {
      all.erase(all.begin(), all.end() - window.rows);
    }
    return all;
  }

  static expected_cell integer(std::int64_t value) {
    expected_cell made;
    made.state = cell_state::value;
    made.bits = value;
    return made;
  }
  static expected_cell real(double value) { return integer(std::bit_cast<std::int64_t>(value)); }
  static expected_cell overflow() {
    expected_cell made;
    made.state = cell_state::overflow;
    return made;
  }
  static expected_cell any(raw_value const& value) {
    if (auto const* number = std::get_if<std::int64_t>(&value)) return integer(*number);
    auto made = integer(0);
    made.word = std::get<std::string>(value);
    return made;
  }

  std::vector<raw_value> values_of(feature_spec const& feature, std::vector<event> const& events) const {
    std::vector<raw_value> all;
    for (auto const& one : events) {
      auto value = feature.column ? seen(*one.row, *feature.column) : raw_value{std::int64_t{1}};
      if (!is_null(value)) all.push_back(std::move(value));
    }
    return all;
  }

  std::vector<expected_cell> value(feature_spec const& feature, std::vector<event> const& events) const {
    auto const values = values_of(feature, events);
    if (feature.what == aggregation::last_values) {
      std::vector<expected_cell> cells(static_cast<std::size_t>(feature.keep));
      for (std::size_t at = 0; at < cells.size() && at < values.size(); ++at) cells[at] = any(values[values.size() - 1 - at]);
      return cells;
    }
    return {single(feature, events, values)};
  }

  expected_cell single(feature_spec const& feature, std::vector<event> const& events, std::vector<raw_value> const& values) const {
    switch (feature.what) {
      case aggregation::count: return integer(static_cast<std::int64_t>(values.size()));
      case aggregation::distinct: return integer(static_cast<std::int64_t>(std::set<raw_value>(values.begin(), values.end()).size()));
      case aggregation::first: return values.empty() ? expected_cell{} : any(values.front());
      case aggregation::last: return values.empty() ? expected_cell{} : any(values.back());
      case aggregation::recency: return events.empty() ? expected_cell{} : integer(at_.as_of - events.back().time);
      case aggregation::interval_mean:
      case aggregation::interval_min: return interval(feature, events);
      case aggregation::decayed_count:
      case aggregation::decayed_sum: return decayed_value(feature, events);
      default: return numeric(feature, values);
    }
  }

  expected_cell numeric(feature_spec const& feature, std::vector<raw_value> const& values) const {
    cpp_int sum = 0;
    cpp_int squares = 0;
    std::multiset<std::int64_t> sorted;
    for (auto const& one : values) {
      auto const number_of = std::get<std::int64_t>(one);
      sum += number_of;
      squares += cpp_int{number_of} * number_of;
      sorted.insert(number_of);
    }
    cpp_int const n = values.size();
    auto const scale = power(10, set_.columns[*feature.column].scale);
    if (feature.what == aggregation::sum) {
      bool const fits = sum >= std::numeric_limits<std::int64_t>::min() && sum <= std::numeric_limits<std::int64_t>::max();
      return fits ? integer(static_cast<std::int64_t>(sum)) : overflow();
    }
    if (values.empty()) return {};
    if (feature.what == aggregation::min) return integer(*sorted.begin());
    if (feature.what == aggregation::max) return integer(*sorted.rbegin());
    if (feature.what == aggregation::mean) return real(nearest(sum, n * scale));
    if (feature.sample && values.size() < 2) return {};
    if (squares >= power(2, 128)) return overflow();
    cpp_int const divisor = n * (feature.sample ? cpp_int{n - 1} : n) * scale * scale;
    double const variance = nearest(n * squares - sum * sum, divisor);
    return real(feature.what == aggregation::variance ? variance : std::sqrt(variance));
  }

  static expected_cell interval(feature_spec const& feature, std::vector<event> const& events) {
    if (events.size() < 2) return {};
    if (feature.what == aggregation::interval_mean) {
      return real(nearest(cpp_int{events.back().time} - events.front().time, cpp_int{events.size() - 1}));
    }
    auto least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t at = 1; at < events.size(); ++at) least = std::min(least, events[at].time - events[at - 1].time);
    return integer(least);
  }

  // The weight of an age, from the definition: half-lives in units of 2^-30 by a reciprocal, the table, a straight line between.
  static cpp_int weight(std::int64_t age, std::int64_t half_life) {
    static decay_table const table{};
    if (cpp_int{age} >= cpp_int{half_life} * 63) return 0;
    int shift = 0;
    while (cpp_int{half_life} << static_cast<unsigned>(shift) < power(2, 31)) ++shift;
    cpp_int const reciprocal = power(2, 94) / (cpp_int{half_life} * power(2, shift));
    cpp_int const phase = (cpp_int{age} * power(2, shift) * reciprocal) / power(2, 64);
    auto const part = static_cast<std::uint64_t>(phase % power(2, 30));
    cpp_int const above = table.weights.at(part / 1048576);
    cpp_int const below = table.weights.at(part / 1048576 + 1);
    cpp_int const step = (above - below) * (part % 1048576) / 1048576;
    return (above - step) / power(2, static_cast<int>(phase / power(2, 30)));
  }

  expected_cell decayed_value(feature_spec const& feature, std::vector<event> const& events) const {
    cpp_int sum = 0;
    for (auto const& one : events) {
      auto const value = feature.column ? seen(*one.row, *feature.column) : raw_value{std::int64_t{1}};
      if (!is_null(value)) sum += weight(at_.as_of - one.time, feature.half_life.count()) * std::get<std::int64_t>(value);
    }
    return real(nearest(sum, power(2, 62) * power(10, feature.column ? set_.columns[*feature.column].scale : 0)));
  }

  expected_cell ratio(feature_spec const& feature) const {
    auto const& divided = set_.features[feature.of];
    std::vector<expected_cell> parts;
    for (auto const window : feature.windows) parts.push_back(value(divided, chosen(divided, raw_value{}, set_.windows[window]))[0]);
    for (auto const& part : parts) {
      if (part.state == cell_state::overflow) return overflow();
    }
    return parts[1].bits == 0 ? expected_cell{} : real(nearest(parts[0].bits, parts[1].bits));
  }

  feature_set const& set_;
  oracle_moment const& at_;
  std::vector<event> events_;
};

}  // namespace

std::vector<expected_cell> oracle_row(feature_set const& set, raw_rows const& rows, oracle_moment const& at) {
  return one_row{set, rows, at}.run();
}

std::vector<expected_cell> engine_row(event_store const& store, feature_table const& table, std::size_t row) {
  std::vector<expected_cell> all;
  for (auto const& column : table.columns) {
    for (std::size_t lane = 0; lane < column.lanes; ++lane) {
      expected_cell made;
      made.state = column.state(row, lane);
      if (made.state == cell_state::value) made.bits = column.integer(row, lane);
      if (made.state == cell_state::value && column.type == cell_type::text) {
        made.word = store.columns[column.source].words.at(static_cast<std::size_t>(made.bits));
        made.bits = 0;
      }
      all.push_back(std::move(made));
    }
  }
  return all;
}

double nearest_by_rationals(std::string const& dividend, std::string const& divisor, int exponent) {
  cpp_int above{dividend};
  cpp_int below{divisor};
  (exponent < 0 ? below : above) *= power(2, std::abs(exponent));
  return nearest(above, below);
}

}  // namespace atone::features_test
