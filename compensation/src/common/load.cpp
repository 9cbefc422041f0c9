// Reading sagas whole, for stores in which one look costs little.
#include <atone/journal.hpp>

namespace atone {

result<std::vector<open_saga>> journal_reader::load(std::vector<saga_place> const& which) {
  std::vector<open_saga> found;
  found.reserve(which.size());
  for (auto const& place : which) {
    auto row = find(place.id);
    if (!row) return row.error();
    if (!*row) continue;
    auto events = history(place.id);
    if (!events) return events.error();
    auto log = compensations(place.id);
    if (!log) return log.error();
    auto& one = found.emplace_back();
    one.row = std::move(**row);
    one.events = std::move(*events);
    one.compensations = std::move(*log);
  }
  return found;
}

}  // namespace atone
