// What one memory store holds, shared by the journals and readers it handed out.
// Thread rules: every function takes the lock itself; callable from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <atone/journal.hpp>

namespace atone::memory {

// One saga with all that is kept under it.
struct stored_saga {
  saga_row row;
  std::map<sequence, event> events;
  std::map<trace_id, compensation_entry> compensations;
  std::vector<operator_action_row> actions;

  stored_saga() = default;
};

// A key whose saga has been deleted.
struct kept_key {
  std::string saga_name;
  std::string key;
  timestamp ended_at;

  kept_key() = default;
};

// The committed state, and the two rules that guard it: the fence and the batch numbers.
class state {
 public:
  explicit state(store_clock clock) : clock_(std::move(clock)) {}

  epoch take_over();
  result<commit_report> commit(epoch writer, journal_batch const& batch, batch_number number);
  result<void> publish(definition_row const& row);
  timestamp now() { return clock_(); }

  // Sagas in key order after `after`, at most `limit`; those that have not ended.
  std::vector<open_saga> open_after(saga_id after, std::size_t limit);

  std::optional<saga_row> find(saga_id id);
  std::optional<saga_row> find_by_key(std::string_view saga_name, business_key const& key);
  std::vector<saga_row> list(saga_filter const& filter);
  std::vector<event> history(saga_id id);
  std::vector<compensation_entry> compensations(saga_id id);
  std::vector<operator_action_row> actions(saga_id id);
  std::vector<alert_row> alerts(std::uint32_t limit);
  std::optional<definition_row> definition(std::string_view name, std::optional<definition_version> version);
  std::vector<definition_row> definitions();
  std::optional<last_output_row> last_output(std::string_view saga_name, step_path const& step, std::string_view key);
  std::map<saga_status, std::uint64_t> counts();

  std::optional<key_claim> claim_of(std::string_view saga_name, business_key const& key);
  deletion_record deletions();
  finished_stretch look(saga_id after, duration age, std::size_t most);
  result<std::uint64_t> remove(epoch writer, std::vector<finished_saga> const& sagas, duration age);
  result<key_stretch> expire_keys(epoch writer, saga_id after, duration age, std::size_t most);

 private:
  using key_name = std::pair<std::string, std::string>;                   // saga name, business key
  using alert_name = std::tuple<saga_id, std::string, std::string>;       // saga, step, kind
  using output_name = std::tuple<std::string, std::string, std::string>;  // saga name, step, key
  using definition_name = std::pair<std::string, definition_version>;

  std::vector<start_loser> find_losers(journal_batch const& batch) const;
  result<void> check(journal_batch const& batch) const;
  void apply(journal_batch const& batch);
  void apply_start(saga_start const& start);
  void apply_change(saga_row const& row);
  void apply_compensation(compensation_entry const& entry);
  void apply_alert(alert_row const& alert);
  static bool is_over(saga_row const& row, timestamp ended_before);
  void erase(std::map<saga_id, stored_saga>::iterator which);
  void erase_alerts(std::vector<saga_id> const& of);

  std::mutex lock_;
  store_clock clock_;
  epoch current_;
  batch_number last_number_;
  commit_report last_report_;
  std::map<saga_id, stored_saga> sagas_;
  std::map<key_name, key_claim> keys_;
  std::map<saga_id, kept_key> kept_keys_;
  deletion_record deleted_;
  std::map<alert_name, std::size_t> alert_places_;
  std::vector<alert_row> alerts_;
  std::map<output_name, last_output_row> outputs_;
  std::map<definition_name, definition_row> definitions_;
};

}  // namespace atone::memory
