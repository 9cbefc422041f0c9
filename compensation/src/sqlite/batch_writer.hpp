// Writes the lists of a batch inside an open transaction. Thread rules: those of the connection.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include <atone/journal.hpp>

#include "sqlite/connection.hpp"

namespace atone::sqlite {

class batch_writer {
 public:
  explicit batch_writer(connection& on) : on_(on) {}

  // Everything but the fence. The losers of business keys leave the batch with all that is theirs.
  result<std::vector<start_loser>> write(journal_batch const& batch);

 private:
  result<void> claim(saga_start const& start);
  result<void> lose(saga_start const& start);
  result<void> write_start(saga_start const& start);
  result<void> write_records(std::vector<journal_record> const& records);
  result<void> write_events(char const* statement, std::span<journal_record const* const> rows);
  result<void> write_change(saga_row const& row);
  result<void> change(char const* statement, saga_row const& row, std::string const& id);
  result<saga_status> status_of(std::string const& id);
  result<void> write_counts();
  result<void> write_compensation(compensation_entry const& entry);
  result<void> write_alert(alert_row const& alert);
  result<void> write_output(last_output_row const& output);
  result<void> write_action(operator_action_row const& action);
  bool left(saga_id id) const { return !losing_.empty() && losing_.contains(id); }

  connection& on_;
  std::vector<start_loser> losers_;
  std::unordered_set<saga_id> losing_;
  std::map<saga_status, std::int64_t> ended_;  // how many more (or fewer) sagas stand in each final status after this batch
};

}  // namespace atone::sqlite
