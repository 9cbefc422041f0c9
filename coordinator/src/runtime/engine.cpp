// The engine's life: definitions, committing one batch after the other, stopping, and what it says of itself.
#include "engine.hpp"

#include <algorithm>
#include <utility>

#include "instance.hpp"
#include "planted.hpp"

namespace atone::runtime {
engine::engine(engine_settings settings, engine_ports ports)
    : settings_(std::move(settings)), ports_(ports), gathering_(next_gathering()) {}
engine::~engine() = default;

void engine::add_definition(definition_ptr definition) {
  ATONE_ASSERT(definition != nullptr);
  auto& versions = definitions_[definition->ref.name];
  versions.insert_or_assign(definition->ref.version, definition);
  auto const waiting = undefined_.find(definition->ref.name);
  if (waiting == undefined_.end()) return;
  for (auto const number : waiting->second) inbox_.erase(number);  // they come again with the next look into the store
  undefined_.erase(waiting);
}

definition_ptr engine::find_definition(std::string_view name, std::optional<definition_version> version) const {
  auto const named = definitions_.find(name);
  if (named == definitions_.end() || named->second.empty()) return nullptr;
  if (!version) return named->second.rbegin()->second;
  auto const exact = named->second.find(*version);
  return exact == named->second.end() ? nullptr : exact->second;
}

engine::instance* engine::find(saga_id id) {
  auto const found = open_.find(id);
  return found == open_.end() ? nullptr : found->second.get();
}

void engine::tell(saga_id id, std::function<void(error const*)> then) {
  gathering_->told.emplace_back(id, std::move(then));
  schedule_flush();
}

void engine::schedule_flush() {
  if (flush_scheduled_ || committing_) return;
  flush_scheduled_ = true;
  ports_.turns.defer([this] {
    flush_scheduled_ = false;
    flush();
  });
}

void engine::flush() {
  if (committing_ || (full_.empty() && gathering_->empty())) return;
  committing_ = true;
  std::shared_ptr<gathering> sent;
  if (full_.empty()) {
    sent = std::exchange(gathering_, next_gathering());
  } else {
    sent = std::move(full_.front());
    full_.pop_front();
  }
  sent->records = sent->rows.records.size();
  figures_.queue = sent->records;
  ports_.writer.commit(std::move(sent->rows), [this, sent](result<isolating_report> outcome) { committed(sent, std::move(outcome)); });
}

void engine::committed(std::shared_ptr<gathering> sent, result<isolating_report> outcome) {
  committing_ = false;
  figures_.queue = 0;
  if (!outcome && planted(planted_bug::go_on_when_fenced)) outcome = isolating_report{};
  if (!outcome) {
    for (auto& [id, then] : sent->told) then(&outcome.error());
    return stop_driving(outcome.error());
  }
  durable_ = sent->number;
  if (sent->records > 0) ++figures_.commits;
  ports_.probe.committed(sent->records);
  settle_losers(outcome->report);
  settle_rejected(*sent, outcome->rejected);
  auto& taken = gathering_->rows.taken;  // with the alerts of those that were refused
  taken.insert(taken.end(), outcome->taken_left.begin(), outcome->taken_left.end());
  settle_starts(*sent);
  flush();  // the writer begins with what has gathered meanwhile, while the loop sends what follows from this batch
  following what;
  what.batch = std::move(sent);
  what.outcome = std::move(*outcome);
  following_.push_back(std::move(what));
  if (!follow_scheduled_) follow();
}

// What follows from durable batches, a slice a turn, each batch to its end before the next.
void engine::follow() {
  follow_scheduled_ = false;
  auto left = settings_.commands_a_turn;
  while (!following_.empty()) {
    auto& front = following_.front();
    auto& after = front.batch->after;
    for (; front.next < after.size() && left > 0; --left) {
      auto& [id, what] = after[front.next++];
      // One that stops sends nothing more, but what it has given up must not leave either.
      bool const gives_up = std::holds_alternative<abandon_command>(what);
      if (driving_ && (!stopping_ || gives_up || planted(planted_bug::send_while_stopping))) perform(id, std::move(what));
    }
    if (front.next < after.size()) break;
    auto const done = std::move(front);
    following_.pop_front();
    followed_ = done.batch->number;
    tell_all(done);
    to_rest_.insert(to_rest_.end(), done.batch->rest.begin(), done.batch->rest.end());
  }
  if (!rests_scheduled_) rest_some();
  read_waking();
  set_alarm();
  flush();  // unless it is at work: what the commands themselves have gathered
  if (!following_.empty() && !follow_scheduled_) {
    follow_scheduled_ = true;
    ports_.turns.defer([this] { follow(); });
  }
  tell_quiet();
}

void engine::tell_all(following const& of) {
  auto const& rejected = of.outcome.rejected;
  for (auto const& [id, then] : of.batch->told) {
    auto const found = std::find_if(rejected.begin(), rejected.end(), [&](rejected_saga const& one) { return one.saga == id; });
    then(found == rejected.end() ? nullptr : &found->why);
  }
  for (auto const id : of.batch->notify) notify(id);
}

// Another coordinator has taken over, or the store can't be trusted: nothing leaves this process any more.
void engine::stop_driving(error const& why) {
  ports_.calls.halt();
  figures_.calls_in_flight = 0;
  suspects_.clear();
  unserved_.clear();
  withheld_.clear();
  held_.clear();
  leaving_.clear();
  suspects_out_.clear();
  bool const was_driving = std::exchange(driving_, false);
  if (!lost_) lost_ = why;
  ports_.lease.resign();
  auto const durable = std::exchange(following_, {});
  if (was_driving && !stopping_) ports_.probe.stopped_driving(why);
  full_.push_back(std::exchange(gathering_, next_gathering()));
  auto const dropped = std::exchange(full_, {});
  for (auto const& one : durable) tell_all(one);
  for (auto const& batch : dropped) {
    for (auto& [id, then] : batch->told) then(&why);
  }
  auto sagas = std::exchange(open_, {});
  timers_ = timer_table{};
  resting_.clear();
  wakes_.clear();
  to_wake_.clear();
  to_rest_.clear();
  auto const waking = std::exchange(waking_, {});
  locks_.clear();
  to_grant_.clear();
  ports_.turns.wake_at(std::nullopt);
  for (auto const& [id, asked] : waking) {
    for (auto const& then : asked) then(&why);
  }
  for (auto const& [id, waiting] : std::exchange(resting_waits_, {})) {
    for (auto const& [number, then] : waiting) then(why);
  }
  for (auto& [id, of] : sagas) {
    if (of->on_started) of->on_started(why);
    for (auto& [number, then] : of->waiters) then(why);
    for (auto const& work : of->deferred) work();  // whoever asks in there hears that nothing is driven any more
  }
  // Nothing more will be journalled: there is nothing to wait for.
  if (quiet_) ports_.turns.defer(std::exchange(quiet_, nullptr));
}

error engine::not_driving() const {
  return lost_ && !stopping_ ? *lost_ : error{errc::unavailable, "this coordinator does not drive sagas now"};
}

void engine::stop(std::function<void()> quiet) {
  stopping_ = true;
  quiet_ = std::move(quiet);
  ports_.turns.wake_at(std::nullopt);
  tell_quiet();
}

void engine::shut(error const& why) {
  driving_ = false;  // asked for: no news for the observer
  stop_driving(why);
}

// Answers to sagas that are over, or another coordinator's by now, are not waited for.
void engine::tell_quiet() {
  if (!quiet_ || !idle() || (figures_.calls_in_flight > 0 && !open_.empty())) return;
  ports_.turns.defer(std::exchange(quiet_, nullptr));
}

bool engine::idle() const noexcept {
  return !committing_ && full_.empty() && gathering_->empty() && following_.empty();
}

engine_figures engine::figures() const noexcept {
  auto now = figures_;
  now.open = open_.size() + resting_.size();
  now.resting = resting_.size();
  now.queue += queued();
  now.writable = driving_ && !stopping_;
  return now;
}

// How the saga stands: by its machine, or, where its history can't be replayed, parked with the reason.
std::pair<saga_status, std::string const&> engine::standing(instance const& of) {
  if (!of.broken.empty()) return {saga_status::parked, of.broken};
  return {of.machine.status(), of.machine.cause()};
}

saga_row engine::row_of(instance const& of) const {
  auto row = of.row;
  auto const& machine = of.machine;
  auto const [status, cause] = standing(of);
  row.crashes = of.crashes;
  row.wake_at = of.wake_at;
  row.status = status;
  row.cause = cause;
  row.last = of.broken.empty() ? machine.last() : row.last;
  row.updated_at = ports_.clock.now();
  if (is_final(row.status) && !row.ended_at) {
    row.ended_at = row.updated_at;
    row.output = row.status == saga_status::completed ? machine.output() : std::string{};
  }
  return row;
}

saga_view engine::view_of(instance const& of) const {
  saga_view view;
  view.row = of.row;
  if (of.broken.empty()) view.row.last = of.machine.last();
  view.steps = of.machine.steps();
  view.parked = of.machine.parked_steps();
  view.lock = of.lock.empty() ? of.machine.lock() : of.lock;
  if (auto const queue = locks_.find(view.lock); queue != locks_.end()) view.lock_holder = queue->second.holder.value_or(saga_id{});
  return view;
}

}  // namespace atone::runtime
