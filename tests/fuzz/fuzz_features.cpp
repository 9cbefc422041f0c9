// Feature sets from anywhere: never a crash, never an endless load; what loads computes, and its JSON is JSON.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <atone/assert.hpp>
#include <atone/features/engine.hpp>
#include <atone/json.hpp>

namespace {

using namespace atone::features;

// Some rows of any columns: small numbers, a few words, nulls.
event_table some_rows(feature_set const& set) {
  constexpr std::size_t rows = 12;
  event_table table{set};
  for (std::size_t at = 0; at < table.columns.size(); ++at) {
    auto& column = table.columns[at];
    bool const is_text = set.columns[at].type == column_type::text;
    if (is_text) column.words = {"b", "a", "c"};
    for (std::size_t row = 0; row < rows; ++row) {
      // Ids differ, so that no two rows are one event.
      auto const value = static_cast<std::int64_t>(at == set.event_id ? row : (row * 7 + at) % 3);
      column.values.push_back(is_text ? value % 3 : value);
      column.nulls.push_back((row + at) % 5 == 4 ? 1 : 0);
    }
  }
  return table;
}

void compute(feature_set_ptr const& set) {
  auto const store = sort_events(*set, some_rows(*set));
  if (!store) return;  // it refuses nulls, or its ids are few words
  feature_engine const engine{set};
  atone::timestamp const at{atone::duration{2}};
  auto const table = engine.as_of(*store, at, at);
  ATONE_ASSERT(table.has_value());
  for (std::size_t row = 0; row < table->rows; ++row) {
    auto const text = to_json(*set, *store, *table, row, at);
    if (text) ATONE_ASSERT(atone::json::parse(*text).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text{reinterpret_cast<char const*>(data), size};
  auto const done = load_feature_set(text);
  for (auto const& one : done.diagnostics) ATONE_ASSERT(!atone::format(one, "f").empty());
  ATONE_ASSERT(done.ok() || !done.diagnostics.empty());
  if (done.ok()) compute(done.set);
  return 0;
}
