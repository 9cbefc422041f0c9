#include "service/event_memory.hpp"

#include <algorithm>
#include <charconv>

#include "store/arrange.hpp"
#include "store/unite.hpp"

namespace atone::features {
namespace {

std::uint64_t bit_of(std::size_t column) {
  return std::uint64_t{1} << column;
}

bool has_bit(std::uint64_t of, std::size_t column) {
  return (of & bit_of(column)) != 0;
}

error no_integer(std::string_view name) {
  return error{errc::invalid_argument, "entity '" + std::string{name.substr(0, 60)} + "': expected an integer that fits 64 bits"};
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  std::int64_t value = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Rows of a checked table, packed one after the other.
class row_packer {
 public:
  row_packer(feature_set const& set, row_layout const& layout, std::vector<dictionary>& words, event_store const& from)
      : set_(set), layout_(layout), from_(from), numbers_(from.columns.size()), row_(layout.width) {
    for (std::size_t column = 0; column < numbers_.size(); ++column) {
      if (set.columns[column].type != column_type::text) continue;
      for (auto const& word : from.columns[column].words) numbers_[column].push_back(words[column].number_of(word));
    }
  }

  entity_number entity(std::size_t at) const {
    auto const value = from_.entities[at];
    auto const& numbers = numbers_[set_.entity];
    return numbers.empty() ? value : numbers[static_cast<std::size_t>(value)];
  }

  packed_row row(std::size_t at) {
    std::uint64_t nulls = 0;
    row_[row_layout::time] = from_.times[at];
    if (layout_.known != row_layout::nowhere) row_[layout_.known] = from_.known_from[at];
    for (std::size_t column = 0; column < from_.columns.size(); ++column) {
      if (from_.columns[column].values.empty()) continue;
      if (from_.columns[column].is_null(at)) nulls |= bit_of(column);
      row_[layout_.slots.at(column)] = value_of(column, at);
    }
    row_[row_layout::nulls] = static_cast<std::int64_t>(nulls);
    return row_;
  }

 private:
  std::int64_t value_of(std::size_t column, std::size_t at) const {
    auto const& cells = from_.columns[column];
    if (cells.is_null(at)) return 0;
    auto const& numbers = numbers_[column];
    return numbers.empty() ? cells.values[at] : numbers[static_cast<std::size_t>(cells.values[at])];
  }

  feature_set const& set_;
  row_layout const& layout_;
  event_store const& from_;
  std::vector<std::vector<std::int64_t>> numbers_;  // of a text column's words
  std::vector<std::int64_t> row_;
};

}  // namespace

event_memory::event_memory(feature_set_ptr set) : set_(std::move(set)), layout_(*set_), words_(set_->columns.size()) {}

std::optional<entity_number> event_memory::find(std::string_view name) const {
  return set_->columns[set_->entity].type == column_type::text ? words_[set_->entity].find(name) : integer_in(name);
}

result<entity_number> event_memory::number_of(std::string_view name) {
  if (set_->columns[set_->entity].type == column_type::text) return words_[set_->entity].number_of(name);
  auto const value = integer_in(name);
  if (!value) return no_integer(name);
  return *value;
}

std::string event_memory::name_of(entity_number of) const {
  return set_->columns[set_->entity].type == column_type::text ? words_[set_->entity].word(of) : std::to_string(of);
}

// Each row is held against what is here of its event; words of refused rows stay known, which does no harm.
result<event_store> event_memory::check(event_table const& rows) {
  auto arranged = arrange_events(*set_, rows);
  if (!arranged) return arranged;
  auto united = *arranged;
  if (auto done = unite_rows(*set_, united); !done) return done.error();
  row_packer packed{*set_, layout_, words_, *arranged};
  for (std::size_t at = 0; at < arranged->entities.size(); ++at) {
    auto const found = by_entity_.find(packed.entity(at));
    if (found == by_entity_.end()) continue;
    for (auto row = arranged->offsets[at]; row < arranged->offsets[at + 1]; ++row) {
      auto const mine = packed.row(row);
      auto const there = found->second.same(layout_, mine);
      if (!there || std::equal(mine.begin(), mine.end(), there->begin())) continue;
      auto const id = layout_.id_is_text ? "'" + words_[layout_.id_column].word(mine[layout_.id]) + "'" : std::to_string(mine[layout_.id]);
      return error{errc::invalid_argument,
                   "event " + id + " came with two contents; expected the same each time (entity " + name_of(found->first) + ")"};
    }
  }
  return arranged;
}

std::size_t event_memory::take(event_store const& checked, std::function<void(entity_number, std::string const& bytes)> const& wrote) {
  row_packer packed{*set_, layout_, words_, checked};
  std::size_t taken = 0;
  for (std::size_t at = 0; at < checked.entities.size(); ++at) {
    auto const entity = packed.entity(at);
    auto& mine = by_entity_[entity];
    for (auto row = checked.offsets[at]; row < checked.offsets[at + 1]; ++row) {
      auto const one = packed.row(row);
      if (mine.same(layout_, one)) continue;
      mine.insert(layout_, words_[layout_.id_column], one);
      wrote(entity, bytes_of(entity, one));
      ++taken;
    }
  }
  rows_ += taken;
  return taken;
}

// Row: entity, then what is null, then each value that is not; a text as its letters, so that a row can be read alone.
std::string event_memory::bytes_of(entity_number entity, packed_row row) const {
  std::string bytes;
  auto const nulls = static_cast<std::uint64_t>(row[row_layout::nulls]);
  put_text(bytes, name_of(entity));
  put(bytes, nulls);
  for (std::size_t column = 0; column < layout_.slots.size(); ++column) {
    if (layout_.slots[column] == row_layout::nowhere || has_bit(nulls, column)) continue;
    auto const value = row[layout_.slots.at(column)];
    if (set_->columns[column].type == column_type::text) {
      put_text(bytes, words_[column].word(value));
    } else {
      put(bytes, value);
    }
  }
  return bytes;
}

result<entity_number> event_memory::read(byte_reader& from) {
  auto const entity = number_of(from.text());
  if (!entity) return error{errc::corrupt, entity.error().message};
  std::vector<std::int64_t> row(layout_.width);
  row[row_layout::nulls] = from.number<std::int64_t>();
  for (std::size_t column = 0; column < layout_.slots.size(); ++column) {
    if (layout_.slots[column] == row_layout::nowhere) continue;
    if (has_bit(static_cast<std::uint64_t>(row[row_layout::nulls]), column)) continue;
    bool const text = set_->columns[column].type == column_type::text;
    row[layout_.slots.at(column)] = text ? words_[column].number_of(from.text()) : from.number<std::int64_t>();
  }
  if (!from.good()) return error{errc::corrupt, "a row of events is shorter than its columns"};
  by_entity_[*entity].insert(layout_, words_[layout_.id_column], row);
  ++rows_;
  return *entity;
}

result<event_store> event_memory::gather(std::span<entity_number const> entities, std::vector<std::optional<std::uint32_t>>& places) const {
  std::vector<entity_number> order;
  for (auto const one : entities) {
    if (rows_of(one) > 0) order.push_back(one);
  }
  bool const text = set_->columns[set_->entity].type == column_type::text;
  auto const before = [&](entity_number left, entity_number right) {
    return text ? words_[set_->entity].word(left) < words_[set_->entity].word(right) : left < right;
  };
  std::sort(order.begin(), order.end(), before);
  order.erase(std::unique(order.begin(), order.end()), order.end());
  places.clear();
  for (auto const one : entities) {
    auto const found = std::lower_bound(order.begin(), order.end(), one, before);
    bool const there = found != order.end() && *found == one;
    places.push_back(there ? std::optional{static_cast<std::uint32_t>(found - order.begin())} : std::nullopt);
  }
  event_store made;
  gather_columns(order, made);
  for (std::size_t column = 0; column < words_.size(); ++column) {
    if (set_->columns[column].type == column_type::text && column != set_->entity) rank_words(column, made);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    made.entities.push_back(text ? static_cast<std::int64_t>(at) : order[at]);
    if (text) made.columns[set_->entity].words.push_back(words_[set_->entity].word(order[at]));
  }
  if (auto done = unite_rows(*set_, made); !done) return error{errc::internal, done.error().message};
  return made;
}

void event_memory::gather_columns(std::vector<entity_number> const& order, event_store& into) const {
  into.columns.resize(set_->columns.size());
  std::size_t rows = 0;
  for (auto const one : order) rows += by_entity_.at(one).size();
  into.times.reserve(rows);
  std::uint64_t any_null = 0;
  for (auto const one : order) {
    into.offsets.push_back(static_cast<std::uint32_t>(into.times.size()));
    auto const& mine = by_entity_.at(one);
    for (std::size_t at = 0; at < mine.size(); ++at) {
      auto const row = mine.row(layout_, at);
      any_null |= static_cast<std::uint64_t>(row[row_layout::nulls]);
      into.times.push_back(row[row_layout::time]);
      if (layout_.known != row_layout::nowhere) into.known_from.push_back(row[layout_.known]);
    }
  }
  into.offsets.push_back(static_cast<std::uint32_t>(into.times.size()));
  for (std::size_t column = 0; column < into.columns.size(); ++column) {
    auto const slot = layout_.slots[column];
    if (slot == row_layout::nowhere || slot == row_layout::time || slot == layout_.known) continue;
    auto& values = into.columns[column].values;
    auto& nulls = into.columns[column].nulls;
    values.reserve(rows);
    bool const has_nulls = has_bit(any_null, column);
    for (auto const one : order) {
      auto const& mine = by_entity_.at(one);
      for (std::size_t at = 0; at < mine.size(); ++at) {
        auto const row = mine.row(layout_, at);
        values.push_back(row[slot]);
        if (has_nulls) nulls.push_back(has_bit(static_cast<std::uint64_t>(row[row_layout::nulls]), column) ? 1 : 0);
      }
    }
  }
}

// Words that the rows use, ascending, and each value by its rank among them: as the engine wants a text column.
void event_memory::rank_words(std::size_t column, event_store& into) const {
  auto& cells = into.columns[column];
  std::vector<std::int64_t> used;
  for (std::size_t row = 0; row < cells.values.size(); ++row) {
    if (!cells.is_null(row)) used.push_back(cells.values[row]);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::vector<std::uint32_t> order(used.size());
  for (std::uint32_t at = 0; at < order.size(); ++at) order[at] = at;
  auto const& words = words_[column];
  std::sort(order.begin(), order.end(), [&](auto left, auto right) { return words.word(used[left]) < words.word(used[right]); });
  std::vector<std::int64_t> rank(used.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    auto const which = order[at];
    rank[which] = static_cast<std::int64_t>(at);
    cells.words.push_back(words.word(used[which]));
  }
  for (std::size_t row = 0; row < cells.values.size(); ++row) {
    if (cells.is_null(row)) continue;
    auto const found = std::lower_bound(used.begin(), used.end(), cells.values[row]) - used.begin();
    cells.values[row] = rank[static_cast<std::size_t>(found)];
  }
}

std::size_t event_memory::rows_of(entity_number entity) const {
  auto const found = by_entity_.find(entity);
  return found == by_entity_.end() ? 0 : found->second.size();
}

std::optional<timestamp> event_memory::newest_of(entity_number entity, timestamp until) const {
  auto const found = by_entity_.find(entity);
  if (found == by_entity_.end()) return std::nullopt;
  for (auto at = found->second.size(); at > 0; --at) {
    timestamp const time{duration{found->second.row(layout_, at - 1)[row_layout::time]}};
    if (time <= until) return time;
  }
  return std::nullopt;
}

std::size_t event_memory::bytes_of(event_store const& checked) const {
  constexpr std::size_t cell_bytes = sizeof(std::int64_t);
  constexpr std::size_t entry_bytes = 64;  // its head, an entity that is a number, the bits of nulls
  auto bytes = checked.rows() * (entry_bytes + cell_bytes * checked.columns.size());
  for (std::size_t column = 0; column < checked.columns.size(); ++column) {
    auto const& cells = checked.columns[column];
    if (set_->columns[column].type != column_type::text) continue;
    for (std::size_t row = 0; row < cells.values.size(); ++row) {
      if (!cells.is_null(row)) bytes += cells.words[static_cast<std::size_t>(cells.values[row])].size();
    }
  }
  auto const& names = checked.columns[set_->entity].words;
  for (std::size_t at = 0; !names.empty() && at < checked.entities.size(); ++at) {
    bytes += names[static_cast<std::size_t>(checked.entities[at])].size() * (checked.offsets[at + 1] - checked.offsets[at]);
  }
  return bytes;
}

}  // namespace atone::features
