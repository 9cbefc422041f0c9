#include "spec/keys.hpp"

#include <array>

namespace atone::features {
namespace {

using yaml::key_home;
using yaml::key_table;
template <std::size_t n>
using list = std::array<std::string_view, n>;

constexpr list<10> document_now{"feature_set", "version", "entity", "event_id", "event_time",
                                "known_at",    "columns", "late",   "windows",  "features"};
constexpr list<3> column_now{"type", "scale", "nulls"};
constexpr list<2> late_now{"after", "then"};
constexpr list<3> window_now{"last", "rows", "since"};
constexpr list<1> window_later{"between"};
constexpr list<23> feature_now{"count", "sum",   "mean",        "min",     "max",       "variance",      "deviation",   "distinct",
                               "first", "last",  "last_values", "recency", "interval",  "decayed_count", "decayed_sum", "ratio",
                               "over",  "where", "per",         "keep",    "half_life", "estimate",      "between"};
constexpr list<3> feature_later{"approximate_distinct", "median", "percentile"};
constexpr list<4> condition_now{"at_least", "above", "at_most", "below"};
constexpr std::array homes{key_home{"type", "columns"},  key_home{"scale", "columns"},  key_home{"nulls", "columns"},
                           key_home{"over", "features"}, key_home{"where", "features"}, key_home{"half_life", "features"},
                           key_home{"after", "late"},    key_home{"then", "late"},      key_home{"rows", "windows"}};

}  // namespace

key_table const document_keys{"the document", document_now, {}, {}, homes};
key_table const column_keys{"a column", column_now, {}, {}, {}};
key_table const late_keys{"`late`", late_now, {}, {}, {}};
key_table const window_keys{"a window", window_now, window_later, {}, {}};
key_table const feature_keys{"a feature", feature_now, feature_later, "`distinct`, `mean`, `min`, `max`", {}};
key_table const condition_keys{"a condition", condition_now, {}, {}, {}};

}  // namespace atone::features
