// What is applied in memory, and what of it goes into the batch that gathers.
#include <algorithm>
#include <utility>

#include <atone/utf8.hpp>

#include "instance.hpp"
#include "planted.hpp"

namespace atone::runtime {
namespace {

constexpr std::size_t batch_bytes_max = std::size_t{16} << 20U;  // of payloads in one transaction, and those of the event that fills it

}  // namespace

void engine::stamp(instance& of, event& what) {
  what.seq = sequence{of.machine.last().value() + 1};
  what.at = ports_.clock.now();
  what.random = ports_.random.next();
  // Payloads are kept byte for byte; words for people must fit every store's text.
  what.text = clean_text(what.text);
  what.actor = clean_text(what.actor);
}

// Applies in memory, and puts the event with all that belongs to it into the batch that gathers. A refused event is the caller's still.
result<void> engine::deliver(instance& of, event& what) {
  ATONE_ASSERT(!of.sql_in_flight);
  cap_gathering();
  stamp(of, what);
  auto commands = of.machine.apply(what);
  if (!commands) return std::move(commands.error());
  gather(of, std::move(what), std::move(*commands));
  return {};
}

void engine::gather(instance& of, event what, std::vector<command> commands) {
  auto const at = what.at;
  bool const answer =
      what.kind == event_kind::step_succeeded || what.kind == event_kind::step_refused || what.kind == event_kind::attempt_failed;
  if (answer) {
    of.crashes = of.crashes_found = 0;
    of.suspect = false;  // what it calls from here on was not under way at the crash
  }
  journal_record record;
  record.home = of.row.home;
  record.saga = of.row.id;
  record.event = std::move(what);
  gathering_->bytes += record.event.payload.size();
  of.batch = gathering_->number;
  of.ahead = {};
  gathering_->rows.records.push_back(std::move(record));
  gather_applied(of, std::move(commands), at);
}

// What follows from an event, beside its own record.
void engine::gather_applied(instance& of, std::vector<command> commands, timestamp at) {
  bool const parks = of.machine.status() == saga_status::parked && of.row.status != saga_status::parked;
  ++figures_.events;
  for (auto& made : commands) gather_command(of, std::move(made), at);
  of.wake_at = wake_of(of);
  gather_row(of);
  rest_soon(of);
  of.untold = of.untold || parks;
  if (parks || is_final(of.row.status)) gathering_->notify.push_back(of.row.id);
  if (planted(planted_bug::tell_the_end_early) && is_final(of.row.status)) ports_.turns.defer([this, id = of.row.id] { notify(id); });
  if (planted(planted_bug::pass_lock_early) && is_final(of.row.status)) leave_lock(of);
  if (is_final(of.row.status)) timers_.cancel_all(of.timers);
  schedule_flush();
  if (!suspects_.empty()) ports_.turns.defer([this] { next_suspects(); });
}

// Before an event, never behind one: what whoever delivers it adds to it (an alert, an operator's action) is in one transaction with it.
void engine::cap_gathering() {
  if (gathering_->rows.records.size() < settings_.records_a_batch && gathering_->bytes < batch_bytes_max) return;
  full_.push_back(std::exchange(gathering_, next_gathering()));
}

std::size_t engine::queued() const noexcept {
  std::size_t records = gathering_->rows.records.size();
  for (auto const& batch : full_) records += batch->rows.records.size();
  return records;
}

// The store has refused this saga: what has gathered of it since would leave a gap in its history.
void engine::forget_gathered(saga_id id, error const& why) {
  std::vector<std::function<void(error const*)>> told;
  auto const forget = [&](gathering& from) {
    auto& rows = from.rows;
    std::erase_if(rows.records, [&](journal_record const& one) { return one.saga == id; });
    std::erase_if(rows.changes, [&](saga_change const& one) { return one.row.id == id; });
    std::erase_if(rows.compensations, [&](compensation_entry const& one) { return one.saga == id; });
    std::erase_if(rows.alerts, [&](alert_row const& one) { return one.saga == id; });
    std::erase_if(rows.outputs, [&](last_output_row const& one) { return one.written_by == id; });
    std::erase_if(rows.actions, [&](operator_action_row const& one) { return one.saga == id; });
    std::erase_if(from.after, [&](auto const& one) { return one.first == id; });
    std::erase(from.notify, id);
    from.changes.clear();
    for (std::size_t at = 0; at < rows.changes.size(); ++at) from.changes.emplace(rows.changes[at].row.id, at);
    std::erase_if(from.told, [&](auto& one) {
      if (one.first != id) return false;
      told.push_back(std::move(one.second));
      return true;
    });
  };
  for (auto const& batch : full_) forget(*batch);
  forget(*gathering_);
  for (auto& one : following_) {  // what has left stays where it is, before `next`
    auto& after = one.batch->after;
    auto const left = after.begin() + static_cast<std::ptrdiff_t>(one.next);
    after.erase(std::remove_if(left, after.end(), [&](auto const& made) { return made.first == id; }), after.end());
  }
  for (auto const& then : told) then(&why);
}

std::shared_ptr<engine::gathering> engine::next_gathering() {
  auto made = std::make_shared<gathering>();
  made->number = ++batches_;
  return made;
}

bool engine::has_gathered(instance const& of) const noexcept {
  return of.batch > durable_;
}

namespace {

compensation_entry log_entry(saga_row const& of, log_compensation_command& logged, timestamp at) {
  compensation_entry entry;
  entry.home = of.home;
  entry.saga = of.id;
  entry.trace = trace_id::of(of.id, logged.step, logged.op);
  entry.step = std::move(logged.step);
  entry.op = logged.op;
  entry.status = logged.status;
  entry.attempts = logged.attempts;
  entry.last_error = std::move(logged.last_error);
  entry.created_at = entry.updated_at = at;
  return entry;
}

last_output_row output_row(saga_row const& of, record_output_command& output, timestamp at) {
  last_output_row row;
  row.saga_name = of.definition.name;
  row.step = std::move(output.step);
  row.key = std::move(output.key);
  row.written_by = of.id;
  row.output = std::move(output.output);
  row.at = at;
  return row;
}

alert_row alert_of(saga_row const& of, alert_command& alert, timestamp at) {
  alert_row row;
  row.saga = of.id;
  row.step = std::move(alert.step);
  row.kind = std::move(alert.kind);
  row.level = alert.level;
  row.text = std::move(alert.text);
  row.raised_at = at;
  return row;
}

}  // namespace

// What is done in the transaction that journals the event; false for what follows it.
bool add_rows(journal_batch& to, saga_row const& of, command& made, timestamp at) {
  if (auto* logged = std::get_if<log_compensation_command>(&made)) {
    to.compensations.push_back(log_entry(of, *logged, at));
  } else if (auto* output = std::get_if<record_output_command>(&made)) {
    to.outputs.push_back(output_row(of, *output, at));
  } else if (auto* alert = std::get_if<alert_command>(&made)) {
    if (planted(planted_bug::drop_parked_alert) && alert->kind == "parked") return true;
    to.alerts.push_back(alert_of(of, *alert, at));
  } else {
    return false;
  }
  return true;
}

void engine::gather_command(instance& of, command made, timestamp at) {
  bool const alerts = std::holds_alternative<alert_command>(made);
  of.batch = gathering_->number;
  if (planted(planted_bug::send_before_durable) && std::holds_alternative<call_command>(made)) return perform(of.row.id, made);
  if (std::holds_alternative<acquire_lock_command>(made)) return want_lock(of);
  if (!add_rows(gathering_->rows, of.row, made, at)) {
    gathering_->after.emplace_back(of.row.id, std::move(made));
  } else if (alerts) {
    ports_.probe.alerted(gathering_->rows.alerts.back());
  }
}

// The saga's row is written when its status changes, not at each event: lists need no more, and a row costs.
void engine::gather_row(instance& of) {
  auto const [status, cause] = standing(of);
  bool const same = status == of.row.status && cause == of.row.cause && of.crashes == of.row.crashes;
  if (same && of.wake_at == of.row.wake_at) return;
  if (planted(planted_bug::keep_row_to_itself) && status == saga_status::compensating) return;
  of.row = row_of(of);
  of.batch = gathering_->number;
  auto const [at, added] = gathering_->changes.try_emplace(of.row.id, gathering_->rows.changes.size());
  if (added) gathering_->rows.changes.emplace_back();
  gathering_->rows.changes[at->second].row = of.row;
}

}  // namespace atone::runtime
