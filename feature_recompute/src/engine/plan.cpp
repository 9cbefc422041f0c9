#include "engine/plan.hpp"

#include <algorithm>
#include <tuple>

#include "spec/values.hpp"

namespace atone::features {
namespace {

walk_kind kind_of(aggregation what) {
  switch (what) {
    case aggregation::count:
    case aggregation::recency:
    case aggregation::interval_mean:
    case aggregation::interval_min: return walk_kind::events;
    case aggregation::distinct: return walk_kind::distinct;
    case aggregation::first:
    case aggregation::last:
    case aggregation::last_values: return walk_kind::picks;
    case aggregation::decayed_count:
    case aggregation::decayed_sum: return walk_kind::decay;
    default: return walk_kind::moments;
  }
}

bool is_real(aggregation what) {
  switch (what) {
    case aggregation::mean:
    case aggregation::variance:
    case aggregation::deviation:
    case aggregation::interval_mean:
    case aggregation::decayed_count:
    case aggregation::decayed_sum:
    case aggregation::ratio: return true;
    default: return false;
  }
}

bool is_a_count(aggregation what) {
  return what == aggregation::count || what == aggregation::distinct;
}

bool can_be_null(aggregation what) {
  return !is_a_count(what) && what != aggregation::decayed_count && what != aggregation::decayed_sum;
}

cell_type type_of(feature_set const& set, feature_spec const& one) {
  if (is_real(one.what)) return cell_type::real;
  if (is_a_count(one.what) || !one.column) return cell_type::integer;
  switch (set.columns[*one.column].type) {
    case column_type::decimal: return cell_type::decimal;
    case column_type::text: return cell_type::text;
    case column_type::timestamp: return cell_type::timestamp;
    default: return cell_type::integer;
  }
}

// A result that a walk of its own kind will write.
struct wanted {
  walk_kind kind;
  std::uint32_t filter;
  std::uint32_t column;
  std::int64_t half_life;
  std::uint32_t chain;  // 0: the windows of time, nested by length; otherwise one window of rows
  std::uint32_t frame;
  std::uint32_t keep;
  sink into;

  auto walk_key() const { return std::tie(kind, filter, column, half_life, chain); }
  auto key() const { return std::tie(kind, filter, column, half_life, chain, frame, into.column); }
};

class compiler {
 public:
  explicit compiler(feature_set const& set) : set_(set) {}

  feature_plan run() {
    plan_.filters.emplace_back();
    order_windows();
    for (std::uint32_t at = 0; at < set_.features.size(); ++at) add_feature(at);
    std::sort(wanted_.begin(), wanted_.end(), [](wanted const& left, wanted const& right) { return left.key() < right.key(); });
    for (auto const& one : wanted_) add_sink(one);
    return std::move(plan_);
  }

 private:
  // All windows of time are nested in each other, whatever the rows are: the longer holds the shorter.
  void order_windows() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t at = 0; at < set_.windows.size(); ++at) {
      if (set_.windows[at].kind != window_kind::rows) order.push_back(at);
    }
    auto const length = [&](std::uint32_t at) {
      return std::pair{set_.windows[at].kind == window_kind::ever, set_.windows[at].length.count()};
    };
    std::sort(order.begin(), order.end(),
              [&](auto left, auto right) { return std::pair{length(left), left} < std::pair{length(right), right}; });
    frame_of_.assign(set_.windows.size(), 0);
    for (auto const window : order) {
      frame_of_[window] = static_cast<std::uint32_t>(plan_.time_frames.size());
      plan_.time_frames.push_back(frame{window, 0});
    }
  }

  std::uint32_t frame_for(std::uint32_t window, std::uint32_t filter) {
    if (set_.windows[window].kind != window_kind::rows) return frame_of_[window];
    auto const behind = static_cast<std::uint32_t>(plan_.time_frames.size());
    for (std::uint32_t at = 0; at < plan_.row_frames.size(); ++at) {
      if (plan_.row_frames[at].window == window && plan_.row_frames[at].filter == filter) return behind + at;
    }
    plan_.row_frames.push_back(frame{window, filter});
    return behind + static_cast<std::uint32_t>(plan_.row_frames.size()) - 1;
  }

  std::uint32_t filter_for(filter_conditions conditions) {
    auto const known = std::find(plan_.filters.begin(), plan_.filters.end(), conditions);
    auto const at = static_cast<std::uint32_t>(known - plan_.filters.begin());
    if (known == plan_.filters.end()) plan_.filters.push_back(std::move(conditions));
    return at;
  }

  static filter_conditions with_category(feature_spec const& one, std::size_t category) {
    auto all = one.where;
    condition is;
    is.column = *one.per;
    if (!one.categories.empty()) is.numbers.push_back(one.categories[category]);
    if (!one.words.empty()) is.words.push_back(one.words[category]);
    all.push_back(std::move(is));
    return all;
  }

  std::uint32_t add_column(std::uint32_t feature, std::uint32_t window, std::int32_t category) {
    auto const& one = set_.features[feature];
    feature_column made;
    made.feature = feature;
    made.window = window;
    made.category = category;
    made.type = type_of(set_, one);
    made.source = one.column.value_or(0);
    if (made.type == cell_type::decimal) made.scale = set_.columns[made.source].scale;
    made.lanes = one.what == aggregation::last_values ? static_cast<std::uint32_t>(one.keep) : 1;
    plan_.columns.push_back(std::move(made));
    plan_.nullable.push_back(can_be_null(one.what));
    return static_cast<std::uint32_t>(plan_.columns.size()) - 1;
  }

  void add_ratio(std::uint32_t feature) {
    auto const& one = set_.features[feature];
    auto const find = [&](std::uint32_t window) {
      auto const found = std::find_if(plan_.columns.begin(), plan_.columns.end(),
                                      [&](feature_column const& column) { return column.feature == one.of && column.window == window; });
      return static_cast<std::uint32_t>(found - plan_.columns.begin());
    };
    ATONE_ASSERT(one.windows.size() == 2);  // the loader's
    quotient made;
    made.upper = find(one.windows[0]);
    made.lower = find(one.windows[1]);
    made.column = add_column(feature, one.windows[0], -1);
    plan_.quotients.push_back(made);
  }

  void add_feature(std::uint32_t feature) {
    auto const& one = set_.features[feature];
    if (one.what == aggregation::ratio) return add_ratio(feature);
    auto const categories = one.categories.size() + one.words.size();
    for (auto const window : one.windows) {
      if (!one.per) want(one, window, filter_for(one.where), add_column(feature, window, -1));
      for (std::size_t at = 0; one.per && at < categories; ++at) {
        want(one, window, filter_for(with_category(one, at)), add_column(feature, window, static_cast<std::int32_t>(at)));
      }
    }
  }

  void want(feature_spec const& one, std::uint32_t window, std::uint32_t filter, std::uint32_t column) {
    wanted made{};
    made.kind = kind_of(one.what);
    made.filter = filter;
    made.column = one.column.value_or(no_column);
    made.half_life = one.half_life.count();
    made.chain = set_.windows[window].kind == window_kind::rows ? window + 1 : 0;
    made.frame = frame_for(window, filter);
    made.keep = one.what == aggregation::last_values ? static_cast<std::uint32_t>(one.keep) : 1;
    made.into.what = one.what;
    made.into.sample = one.sample;
    made.into.column = column;
    if (one.column) made.into.scale = power_of_ten(set_.columns[*one.column].scale);
    wanted_.push_back(made);
  }

  void add_sink(wanted const& one) {
    bool const new_walk = last_ == nullptr || last_->walk_key() != one.walk_key();
    if (new_walk) {
      walk made;
      made.kind = one.kind;
      made.filter = one.filter;
      made.column = one.column;
      made.no_intervals = true;
      if (one.half_life > 0) made.rate = decay_rate{one.half_life};
      made.first_stop = made.end_stop = static_cast<std::uint32_t>(plan_.stops.size());
      plan_.walks.push_back(made);
    }
    auto& current = plan_.walks.back();
    if (new_walk || last_->frame != one.frame) {
      auto const here = static_cast<std::uint32_t>(plan_.sinks.size());
      plan_.stops.push_back(stop{one.frame, here, here});
      ++current.end_stop;
    }
    current.keep = std::max(current.keep, one.keep);
    current.no_intervals = current.no_intervals && (one.into.what == aggregation::count || one.into.what == aggregation::recency);
    current.squares = current.squares || one.into.what == aggregation::variance || one.into.what == aggregation::deviation;
    current.gaps = current.gaps || one.into.what == aggregation::interval_min;
    plan_.sinks.push_back(one.into);
    ++plan_.stops.back().end_sink;
    last_ = &one;
  }

  feature_set const& set_;
  feature_plan plan_;
  std::vector<std::uint32_t> frame_of_;
  std::vector<wanted> wanted_;
  wanted const* last_ = nullptr;
};

}  // namespace

feature_plan compile(feature_set const& set) {
  return compiler{set}.run();
}

}  // namespace atone::features
