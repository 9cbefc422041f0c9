#include "common/batch_check.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <type_traits>
#include <unordered_set>

#include <atone/utf8.hpp>

namespace atone {
namespace {

// One name for "which saga does this belong to" over all that a batch holds.
saga_id saga_of(saga_start const& of) {
  return of.row.id;
}
saga_id saga_of(journal_record const& of) {
  return of.saga;
}
saga_id saga_of(saga_change const& of) {
  return of.row.id;
}
saga_id saga_of(compensation_entry const& of) {
  return of.saga;
}
saga_id saga_of(alert_row const& of) {
  return of.saga;
}
saga_id saga_of(last_output_row const& of) {
  return of.written_by;
}
saga_id saga_of(operator_action_row const& of) {
  return of.saga;
}

// Only an alert may concern no saga at all (a store that is slow, a service nobody serves).
template <class Item>
constexpr bool may_be_nameless(Item const&) {
  return std::is_same_v<Item, alert_row>;
}

// Calls `visit` with each list of a batch: the one place that knows them all.
template <class Batch, class Visit>
void each_list(Batch& batch, Visit const& visit) {
  visit(batch.starts);
  visit(batch.records);
  visit(batch.changes);
  visit(batch.compensations);
  visit(batch.alerts);
  visit(batch.outputs);
  visit(batch.actions);
}

template <class Item>
void copy_kept(std::vector<Item> const& from, std::vector<Item>& to, std::function<bool(saga_id)> const& keep) {
  std::copy_if(from.begin(), from.end(), std::back_inserter(to), [&](Item const& item) { return keep(saga_of(item)); });
}

// PostgreSQL keeps a key as text and in an index: what it could not hold, no store takes.
result<void> check_key(saga_start const& start) {
  auto const& key = start.row.key.value();
  if (key.empty()) return {};
  std::string const where = "saga " + start.row.id.text() + ": its business key ";
  if (key.size() > saga_start::key_bytes_max) {
    return error{errc::bad_data, where + "has " + std::to_string(key.size()) + " bytes; at most " +
                                     std::to_string(saga_start::key_bytes_max) + " are allowed"};
  }
  auto const bad = std::min(find_bad_utf8(key), key.find('\0'));
  if (bad == std::string::npos) return {};
  return error{errc::bad_data, where + "is no text: byte " + std::to_string(bad + 1) + " is NUL or not UTF-8"};
}

result<void> check_record(journal_record const& record) {
  auto const path_size = record.event.step.text().size();
  bool const numbered = record.event.seq.value() != 0;
  if (numbered && path_size <= step_path::size_max) return {};
  std::string const where = "event " + std::to_string(record.event.seq.value()) + " of saga " + record.saga.text();
  if (!numbered) return error{errc::bad_data, where + ": events are numbered from 1"};
  return error{errc::bad_data, where + ": its step path has " + std::to_string(path_size) + " bytes; at most " +
                                   std::to_string(step_path::size_max) + " are allowed"};
}

}  // namespace

result<void> check_batch(journal_batch const& batch) {
  if (batch.records.size() > journal_batch::records_max) {
    return error{errc::exhausted, "a batch of " + std::to_string(batch.records.size()) + " records; at most " +
                                      std::to_string(journal_batch::records_max) + " go into one"};
  }
  bool unnamed = false;
  each_list(batch, [&](auto const& list) {
    for (auto const& item : list) unnamed = unnamed || (saga_of(item).empty() && !may_be_nameless(item));
  });
  if (unnamed) return error{errc::bad_data, "a batch holds an entry without a saga id"};
  for (auto const& start : batch.starts) {
    if (auto fine = check_key(start); !fine) return fine;
  }
  for (auto const& record : batch.records) {
    if (auto fine = check_record(record); !fine) return fine;
  }
  return {};
}

std::vector<saga_id> sagas_of(journal_batch const& batch) {
  std::vector<saga_id> found;
  std::unordered_set<saga_id> seen;
  each_list(batch, [&](auto const& list) {
    for (auto const& item : list) {
      if (seen.insert(saga_of(item)).second) found.push_back(saga_of(item));
    }
  });
  return found;
}

journal_batch part_of(journal_batch const& batch, std::function<bool(saga_id)> const& keep) {
  journal_batch part;
  copy_kept(batch.starts, part.starts, keep);
  copy_kept(batch.records, part.records, keep);
  copy_kept(batch.changes, part.changes, keep);
  copy_kept(batch.compensations, part.compensations, keep);
  copy_kept(batch.alerts, part.alerts, keep);
  copy_kept(batch.outputs, part.outputs, keep);
  copy_kept(batch.actions, part.actions, keep);
  part.foreign = batch.foreign;  // names shards: what of them starts in this part
  return part;
}

error already_published(definition_ref const& ref) {
  return error{errc::conflict, ref.name + " version " + std::to_string(ref.version.value()) +
                                   " is already published with other content; published versions never change: give it the next version"};
}

error fenced_at(epoch writer, epoch current) {
  if (writer.value() == 0) return error{errc::fenced, "this writer never took the store over; expected take_over before the first commit"};
  return error{errc::fenced, "this writer has epoch " + std::to_string(writer.value()) + ", the store is at epoch " +
                                 std::to_string(current.value()) + ": another coordinator has taken over"};
}

error wrong_batch_number(batch_number offered, batch_number last) {
  return error{errc::invalid_argument, "batch number " + std::to_string(offered.value()) + " after " + std::to_string(last.value()) +
                                           "; expected the same again, or the next one"};
}

}  // namespace atone
