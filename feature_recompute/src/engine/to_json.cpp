// One row of results as JSON.
#include <atone/features/engine.hpp>
#include <atone/json.hpp>

#include "spec/values.hpp"

namespace atone::features {
namespace {

class row_writer {
 public:
  row_writer(feature_set const& set, event_store const& store, feature_table const& table, std::size_t row)
      : set_(set), store_(store), table_(table), row_(row) {}

  std::string run(timestamp as_of) {
    out_.begin_object().key("as_of").string(format_timestamp(as_of)).key("windows").begin_object();
    for (std::uint32_t window = 0; window < set_.windows.size(); ++window) write_window(window);
    out_.end_object();
    write_ratios();
    out_.end_object();
    return out_.take();
  }

 private:
  bool is_ratio(feature_column const& column) const { return set_.features[column.feature].what == aggregation::ratio; }

  void write_window(std::uint32_t window) {
    out_.key(set_.windows[window].name).begin_object();
    for (std::size_t at = 0; at < table_.columns.size();) {
      auto const& column = table_.columns[at];
      if (column.window != window || is_ratio(column)) {
        ++at;
        continue;
      }
      out_.key(set_.features[column.feature].name);
      at = column.category < 0 ? write_column(at) : write_categories(at);
    }
    out_.end_object();
  }

  std::size_t write_column(std::size_t at) {
    write_cells(table_.columns[at]);
    return at + 1;
  }

  std::size_t write_categories(std::size_t at) {
    auto const& feature = set_.features[table_.columns[at].feature];
    auto const window = table_.columns[at].window;
    out_.begin_object();
    for (; at < table_.columns.size(); ++at) {
      auto const& column = table_.columns[at];
      if (&set_.features[column.feature] != &feature || column.window != window) break;
      auto const category = static_cast<std::size_t>(column.category);
      out_.key(feature.words.empty() ? std::to_string(feature.categories[category]) : feature.words[category]);
      write_cells(column);
    }
    out_.end_object();
    return at;
  }

  void write_ratios() {
    bool open = false;
    for (auto const& column : table_.columns) {
      if (!is_ratio(column)) continue;
      if (!open) out_.key("ratios").begin_object();
      open = true;
      out_.key(set_.features[column.feature].name);
      write_cell(column, 0);
    }
    if (open) out_.end_object();
  }

  // Of several lanes those that have a value.
  void write_cells(feature_column const& column) {
    if (set_.features[column.feature].what != aggregation::last_values) return write_cell(column, 0);
    out_.begin_array();
    for (std::size_t lane = 0; lane < column.lanes && column.state(row_, lane) == cell_state::value; ++lane) write_cell(column, lane);
    out_.end_array();
  }

  void write_cell(feature_column const& column, std::size_t lane) {
    if (column.state(row_, lane) != cell_state::value) {
      out_.null();
      return;
    }
    auto const value = column.integer(row_, lane);
    switch (column.type) {
      case cell_type::integer: out_.number(value); return;
      case cell_type::decimal: out_.raw(decimal_text(value, column.scale)); return;
      case cell_type::timestamp: out_.string(format_timestamp(timestamp{duration{value}})); return;
      case cell_type::real: out_.number(column.real(row_)); return;
      case cell_type::text: out_.string(store_.columns[column.source].words[static_cast<std::size_t>(value)]); return;
    }
  }

  feature_set const& set_;
  event_store const& store_;
  feature_table const& table_;
  std::size_t row_;
  json::writer out_;
};

}  // namespace

result<std::string> to_json(feature_set const& set, event_store const& store, feature_table const& table, std::size_t row,
                            timestamp as_of) {
  for (auto const& column : table.columns) {
    if (column.state(row) != cell_state::overflow) continue;
    return error{errc::invalid_argument, "feature '" + set.features[column.feature].name + "' over window '" +
                                             set.windows[column.window].name + "' does not fit: it overflows"};
  }
  return row_writer{set, store, table, row}.run(as_of);
}

}  // namespace atone::features
