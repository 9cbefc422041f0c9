// What features there are: read from YAML, checked, and nothing left to guess. docs/features.md is the reference.
// Thread rules: functions are pure; a feature_set is not changed once it is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/diagnostic.hpp>
#include <atone/features/aggregation.hpp>
#include <atone/ids.hpp>
#include <atone/time.hpp>

namespace atone::features {

// Bounds of a feature set; breaking one is a mistake like any other.
struct feature_limits {
  static constexpr std::size_t columns_max = 64;
  static constexpr std::size_t windows_max = 32;
  static constexpr std::size_t features_max = 512;
  static constexpr std::size_t outputs_max = 4096;  // features × windows × categories
  static constexpr std::size_t filters_max = 63;    // different `where` and `per` of one set
  static constexpr std::size_t condition_values_max = 1000;
  static constexpr std::int64_t scale_max = 9;  // decimal places
  static constexpr std::int64_t window_rows_max = 1'000'000;
  static constexpr std::int64_t keep_max = 100;  // of last_values
};

// What a column holds. Every value is a 64-bit integer inside: a decimal in units of its last place, a timestamp in microseconds, a text by
// its place in a dictionary.
enum class column_type : std::uint8_t { integer, decimal, text, timestamp };

std::string_view name(column_type of) noexcept;

// What becomes of a null: it is left out of what is computed from that column, or it is an error.
enum class null_rule : std::uint8_t { skip, refuse };

// One column of the events.
struct column_spec {
  std::string name;
  column_type type = column_type::integer;
  int scale = 0;  // decimal places of a decimal
  null_rule nulls = null_rule::skip;

  column_spec() = default;
};

// Which of the visible events a window holds: those of a length of time, the newest ones, all.
enum class window_kind : std::uint8_t { last, rows, ever };

// One window.
struct window_spec {
  std::string name;
  window_kind kind = window_kind::ever;
  duration length{0};     // of `last`
  std::int64_t rows = 0;  // of `rows`

  window_spec() = default;
};

// What a row must satisfy: the column's value is one of some, or between two bounds, both included. A null satisfies nothing.
struct condition {
  std::uint32_t column = 0;
  bool is_range = false;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::vector<std::int64_t> numbers;  // one of these, ascending
  std::vector<std::string> words;     // of a text column: one of these, ascending

  condition() = default;
  friend bool operator==(condition const&, condition const&) = default;
};

// One feature, in each of its windows and for each of its categories.
struct feature_spec {
  std::string name;
  aggregation what = aggregation::count;
  std::optional<std::uint32_t> column;   // nothing: the events themselves
  std::vector<std::uint32_t> windows;    // of a ratio: the upper one, the lower one
  std::vector<condition> where;          // all of them
  std::optional<std::uint32_t> per;      // column of the categories
  std::vector<std::int64_t> categories;  // of an integer column
  std::vector<std::string> words;        // of a text column
  std::int64_t keep = 0;                 // of last_values
  duration half_life{0};                 // of the decayed ones
  bool sample = true;                    // of variance and deviation: divided by n - 1, otherwise by n
  std::uint32_t of = 0;                  // of a ratio: the feature

  feature_spec() = default;
};

// What becomes of events that became known long after they happened.
enum class late_rule : std::uint8_t { take, set_aside, refuse };

// A checked set.
struct feature_set {
  std::string name;
  std::uint32_t version = 1;
  content_hash hash;  // of the document's meaning: comments and indentation don't matter
  std::vector<column_spec> columns;
  std::uint32_t entity = 0;  // columns with a part to play
  std::uint32_t event_id = 0;
  std::uint32_t event_time = 0;
  std::optional<std::uint32_t> known_at;  // nothing: known when it happened
  late_rule late = late_rule::take;
  duration late_after{0};
  std::vector<window_spec> windows;
  std::vector<feature_spec> features;

  feature_set() = default;
  std::optional<std::uint32_t> find_column(std::string_view name) const noexcept;
};

using feature_set_ptr = std::shared_ptr<feature_set const>;

// What became of a text.
struct loaded_features {
  feature_set_ptr set;                  // null when there is any mistake
  std::vector<diagnostic> diagnostics;  // in the order of the text; at most load_limits::diagnostics_max, mistakes first

  loaded_features() = default;
  bool ok() const noexcept { return set != nullptr; }
};

// Loads and checks one document. Never fails otherwise than by diagnostics.
loaded_features load_feature_set(std::string_view yaml);

}  // namespace atone::features
