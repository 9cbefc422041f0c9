// arrange_events and sort_events: from rows in any order to a store.
#include <algorithm>
#include <numeric>

#include <atone/features/events.hpp>

#include "store/arrange.hpp"
#include "store/order.hpp"
#include "store/unite.hpp"

namespace atone::features {
namespace {

error invalid(std::string message) {
  return error{errc::invalid_argument, std::move(message)};
}

// What the columns must be before anything reads them.
result<void> check_shape(feature_set const& of, event_table const& table) {
  if (table.columns.size() != of.columns.size()) {
    return invalid("found " + std::to_string(table.columns.size()) + " columns; expected " + std::to_string(of.columns.size()));
  }
  if (table.rows() > rows_max) {
    return error{errc::exhausted, std::to_string(table.rows()) + " rows; at most " + std::to_string(rows_max) + " are taken"};
  }
  for (std::size_t at = 0; at < of.columns.size(); ++at) {
    auto const& column = table.columns[at];
    auto const& about = of.columns[at];
    if (column.values.size() != table.rows() || (!column.nulls.empty() && column.nulls.size() != table.rows())) {
      return invalid("column '" + about.name + "' has another length than the first one");
    }
    if (about.type != column_type::text) continue;
    auto const words = static_cast<std::int64_t>(column.words.size());
    for (std::size_t row = 0; row < column.values.size(); ++row) {
      auto const inside = column.values[row] >= 0 && column.values[row] < words;
      if (!inside && !column.is_null(row)) return invalid("column '" + about.name + "' points outside its words");
    }
  }
  return {};
}

// A text column's words ascending and each once, and its values by rank in them: codes then compare as the texts do.
void rank_words(event_column& column) {
  std::vector<std::uint32_t> order(column.words.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](auto left, auto right) { return column.words[left] < column.words[right]; });
  std::vector<std::int64_t> rank(order.size());
  std::vector<std::string> words;
  for (auto const at : order) {
    if (words.empty() || words.back() != column.words[at]) words.push_back(column.words[at]);
    rank[at] = static_cast<std::int64_t>(words.size()) - 1;
  }
  column.words = std::move(words);
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    if (!column.is_null(row)) column.values[row] = rank[static_cast<std::size_t>(column.values[row])];
  }
}

// A column of the table with its words ranked; other columns are used where they are.
class ranked_table {
 public:
  ranked_table(feature_set const& of, event_table const& table) : table_(table), ranked_(of.columns.size()), is_ranked_(of.columns.size()) {
    for (std::size_t at = 0; at < of.columns.size(); ++at) {
      if (of.columns[at].type != column_type::text) continue;
      ranked_[at] = table.columns[at];
      rank_words(ranked_[at]);
      is_ranked_[at] = true;
    }
  }
  event_column const& operator[](std::size_t at) const { return is_ranked_[at] ? ranked_[at] : table_.columns[at]; }

 private:
  event_table const& table_;
  std::vector<event_column> ranked_;
  std::vector<bool> is_ranked_;
};

std::int64_t known_time(feature_set const& of, ranked_table const& table, std::size_t row) {
  auto const& known = table[*of.known_at];
  return known.is_null(row) ? table[of.event_time].values[row] : known.values[row];
}

bool is_late(feature_set const& of, std::int64_t time, std::int64_t known) {
  return known > time &&
         static_cast<std::uint64_t>(known) - static_cast<std::uint64_t>(time) > static_cast<std::uint64_t>(of.late_after.count());
}

// The rows that have what it takes; the others are counted.
std::vector<std::uint32_t> choose_rows(feature_set const& of, ranked_table const& table, std::size_t rows, set_aside& left_out) {
  std::vector<std::uint32_t> chosen;
  chosen.reserve(rows);
  bool const drops_late = of.known_at && of.late == late_rule::set_aside;
  auto const& entities = table[of.entity];
  auto const& ids = table[of.event_id];
  auto const& times = table[of.event_time];
  for (std::size_t row = 0; row < rows; ++row) {
    if (entities.is_null(row)) {
      ++left_out.without_entity;
    } else if (ids.is_null(row)) {
      ++left_out.without_id;
    } else if (times.is_null(row)) {
      ++left_out.without_time;
    } else if (drops_late && is_late(of, times.values[row], known_time(of, table, row))) {
      ++left_out.late;
    } else {
      chosen.push_back(static_cast<std::uint32_t>(row));
    }
  }
  return chosen;
}

void find_segments(std::vector<std::int64_t> const& entities, event_store& into) {
  for (std::size_t at = 0; at < entities.size(); ++at) {
    if (at > 0 && entities[at] == into.entities.back()) continue;
    into.entities.push_back(entities[at]);
    into.offsets.push_back(static_cast<std::uint32_t>(at));
  }
  into.offsets.push_back(static_cast<std::uint32_t>(entities.size()));
}

template <class From>
void gather_nulls(From const& from, std::vector<std::uint32_t> const& order, event_column& into) {
  if (from.nulls.empty()) return;
  into.nulls.reserve(order.size());
  for (auto const row : order) into.nulls.push_back(from.nulls[row]);
}

void gather_columns(feature_set const& of, ranked_table const& table, std::vector<std::uint32_t> const& order, event_store& into) {
  into.columns.resize(of.columns.size());
  if (of.known_at) {
    into.known_from.reserve(order.size());
    for (auto const row : order) into.known_from.push_back(known_time(of, table, row));
  }
  for (std::size_t at = 0; at < of.columns.size(); ++at) {
    auto& column = into.columns[at];
    column.words = table[at].words;
    if (of.known_at && at == *of.known_at) gather_nulls(table[at], order, column);  // the times are known_from
    if (at == of.entity || at == of.event_time || (of.known_at && at == *of.known_at)) continue;
    column.values = gathered(table[at].values, order);
    gather_nulls(table[at], order, column);
  }
}

result<void> refuse_nulls(feature_set const& of, event_store const& store) {
  auto const& out = store.left_out;
  auto const refuse = [&](std::size_t column, std::size_t count) -> result<void> {
    if (count == 0 || of.columns[column].nulls == null_rule::skip) return {};
    return invalid("column '" + of.columns[column].name + "': found null in " + std::to_string(count) + " rows; the set refuses it");
  };
  if (auto done = refuse(of.entity, out.without_entity); !done) return done;
  if (auto done = refuse(of.event_id, out.without_id); !done) return done;
  if (auto done = refuse(of.event_time, out.without_time); !done) return done;
  for (std::size_t at = 0; at < store.columns.size(); ++at) {
    auto const& nulls = store.columns[at].nulls;
    if (auto done = refuse(at, static_cast<std::size_t>(std::count_if(nulls.begin(), nulls.end(), [](auto null) { return null != 0; })));
        !done)
      return done;
  }
  return {};
}

result<void> check_times(feature_set const& of, event_store const& store) {
  auto const outside = [](std::int64_t time) { return time < -time_max || time > time_max; };
  auto const& ids = store.columns[of.event_id];
  for (std::size_t row = 0; row < store.rows(); ++row) {
    auto const event = [&] { return "event " + shown_key(ids, of.columns[of.event_id].type, ids.values[row]); };
    if (outside(store.times[row]))
      return invalid(event() + " happened at " + std::to_string(store.times[row]) + " µs; that is out of bounds");
    if (!of.known_at) continue;
    if (outside(store.known_from[row]))
      return invalid(event() + " was known at " + std::to_string(store.known_from[row]) + " µs; that is out of bounds");
    if (of.late == late_rule::refuse && is_late(of, store.times[row], store.known_from[row])) {
      return invalid(event() + " became known more than " + format_duration(of.late_after) + " after it happened; the set refuses that");
    }
  }
  return {};
}

}  // namespace

std::optional<std::uint32_t> event_store::find(std::int64_t entity) const noexcept {
  auto const found = std::lower_bound(entities.begin(), entities.end(), entity);
  if (found == entities.end() || *found != entity) return std::nullopt;
  return static_cast<std::uint32_t>(found - entities.begin());
}

std::optional<std::uint32_t> event_store::find(std::string_view entity, feature_set const& of) const noexcept {
  if (columns.empty()) return std::nullopt;
  auto const& words = columns[of.entity].words;
  auto const found = std::lower_bound(words.begin(), words.end(), entity);
  if (found == words.end() || *found != entity) return std::nullopt;
  return find(static_cast<std::int64_t>(found - words.begin()));
}

result<event_store> arrange_events(feature_set const& of, event_table const& table) {
  if (auto fits = check_shape(of, table); !fits) return fits.error();
  event_store store;
  ranked_table const ranked{of, table};
  auto const chosen = choose_rows(of, ranked, table.rows(), store.left_out);
  sort_keys keys{&ranked[of.entity].values, &ranked[of.event_id].values, &ranked[of.event_time].values};
  std::vector<std::int64_t> known;
  for (std::size_t row = 0; of.known_at && row < table.rows(); ++row) known.push_back(known_time(of, ranked, row));
  if (of.known_at) keys.known = &known;
  auto order = sorted_rows(keys, chosen);
  find_segments(order.entities, store);
  store.times = std::move(order.times);
  gather_columns(of, ranked, order.rows, store);
  if (auto done = refuse_nulls(of, store); !done) return done.error();
  if (auto done = check_times(of, store); !done) return done.error();
  return store;
}

result<event_store> sort_events(feature_set const& of, event_table const& table) {
  auto store = arrange_events(of, table);
  if (!store) return store;
  if (auto done = unite_rows(of, *store); !done) return done.error();
  return store;
}

}  // namespace atone::features
