#include "engine.hpp"

#include <algorithm>
#include <utility>

#include <atone/utf8.hpp>

#include "instance.hpp"

namespace atone::runtime {
namespace {

constexpr std::size_t refused_input_max = 2000;                  // bytes of a refused start's input in its alert
constexpr std::size_t batch_bytes_max = std::size_t{16} << 20U;  // of payloads in one transaction; a single larger one goes alone

}  // namespace

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

void engine::start(start_request what, callback<started> then) {
  begin(std::move(what), std::move(then));
}

// A saga that is not under way yet: everything that can be wrong with a start is found here, before anything is written.
result<std::unique_ptr<engine::instance>> engine::prepare(start_request const& what) {
  if (!driving_ || stopping_) return error{errc::unavailable, "this coordinator does not drive sagas now"};
  if (open_.size() >= settings_.open_max) {
    return error{errc::exhausted,
                 std::to_string(open_.size()) + " sagas are under way, which is this coordinator's limit; try again later"};
  }
  if (queued() >= settings_.queue_max) {
    return error{errc::exhausted,
                 std::to_string(queued()) + " records wait for the store, which is this coordinator's limit; try again later"};
  }
  auto const definition = find_definition(what.saga, what.version);
  if (definition == nullptr) {
    auto const version = what.version ? "@" + std::to_string(what.version->value()) : std::string{};
    return error{errc::not_found, "no definition '" + what.saga + version + "' is published"};
  }
  if (what.key.value().size() > saga_start::key_bytes_max || clean_text(what.key.value()) != what.key.value()) {
    return error{errc::invalid_argument,
                 "the key must be UTF-8 without NUL, of at most " + std::to_string(saga_start::key_bytes_max) + " bytes"};
  }
  json::value input;
  if (!what.key.value().empty() || definition->shard_key) {  // else the machine is the first that has to know
    auto parsed = json::parse(what.input);
    if (!parsed) return error{errc::invalid_argument, "input: " + parsed.error().message};
    input = std::move(*parsed);
  }
  auto const id = ports_.ids.next_saga(ports_.clock.now());
  auto made = std::make_unique<instance>(definition, id, what.key);
  if (!what.key.value().empty()) made->body = content_hash::of(json::canonical(input));
  made->row.id = id;
  made->row.definition = definition->ref;
  made->row.key = what.key;
  auto home = std::hash<saga_id>{}(id);
  if (definition->shard_key) {
    expr::bindings values;
    values.emplace("input", input);
    auto const named = definition->shard_key->evaluate(values);
    if (!named) return error{errc::invalid_argument, "shard_key: " + named.error().message};
    auto const hash = content_hash::of(json::canonical(*named)).value();
    home = static_cast<std::size_t>(hash[0]) << 8 | hash[1];
  }
  made->row.home = shard{static_cast<std::uint16_t>(home % settings_.shards)};
  return made;
}

// True: the saga is in the batch that gathers. False: `then` will be told why not.
bool engine::begin(start_request what, callback<started> then) {
  auto made = prepare(what);
  if (!made) {
    refuse_start(what, std::move(then), made.error());
    return false;
  }
  event first;
  first.kind = event_kind::started;
  first.payload = std::move(what.input);
  first.text = what.key.value();
  stamp(**made, first);
  auto commands = (*made)->machine.apply(first);
  if (!commands) {
    what.input = std::move(first.payload);
    refuse_start(what, std::move(then), commands.error());
    return false;
  }
  auto const id = (*made)->row.id;
  auto& placed = *open_.emplace(id, std::move(*made)).first->second;
  placed.row.started_at = first.at;
  placed.starting = true;
  placed.on_started = std::move(then);
  saga_start claim;
  placed.row = row_of(placed);
  claim.row = placed.row;
  claim.body = placed.body;
  gathering_->starts.push_back(id);
  gathering_->rows.starts.push_back(std::move(claim));
  gather(placed, std::move(first), std::move(*commands));
  return true;
}

// A repeat of a start is answered by the saga it made, whatever has become of the definition since.
void engine::refuse_start(start_request const& what, callback<started> then, error why) {
  bool const by_definition = why.code == errc::invalid_argument || why.code == errc::not_found;
  auto const input = json::parse(what.input);
  if (what.key.value().empty() || !by_definition || !input) {
    return ports_.turns.defer([then = std::move(then), why = std::move(why)] { then(why); });
  }
  auto const body = content_hash::of(json::canonical(*input));
  ports_.lookup.holder_of(what.saga, what.key,
                          [then = std::move(then), why = std::move(why), body](result<std::optional<store_lookup::key_holder>> found) {
                            if (!found || !*found || (*found)->body != body) return then(why);
                            started answer;
                            answer.id = (*found)->saga;
                            answer.replayed = true;
                            then(answer);
                          });
}

void engine::start_from_inbox(inbox_start const& one) {
  if (!inbox_.insert(one.number).second) return;
  start_request what;
  what.saga = one.saga_name;
  what.key = one.key;
  what.input = one.input;
  auto const into = gathering_;  // begin() may close it
  bool const begun = begin(std::move(what), [this, one](result<started> outcome) {
    bool const undefined = !outcome && outcome.error().code == errc::not_found;
    // Published while this answer was on its way: the next look starts it.
    if (undefined && find_definition(one.saga_name, std::nullopt) != nullptr) return static_cast<void>(inbox_.erase(one.number));
    if (!undefined) inbox_.erase(one.number);
    if (outcome && outcome->replayed) {
      gathering_->rows.taken.push_back(one.number);
      return schedule_flush();
    }
    if (outcome || outcome.error().retryable() || outcome.error().code == errc::exhausted) return;
    if (outcome.error().code == errc::fenced) return;
    alert_row told;
    told.kind = undefined ? "start waits: " + one.saga_name : "start refused: " + std::to_string(one.number);
    told.level = alert_level::page;
    told.text = "a start asked for by SQL " + std::string{undefined ? "waits for its definition" : "was refused"} + ": " + one.saga_name +
                ", key '" + one.key.value() + "': " + outcome.error().message;
    told.raised_at = ports_.clock.now();
    if (undefined) {
      auto& waiting = undefined_[one.saga_name];
      waiting.push_back(one.number);
      if (waiting.size() > 1) return;  // said already
    } else {
      told.text += "; its input: " + clean_text(one.input.substr(0, refused_input_max));
      gathering_->rows.taken.push_back(one.number);
    }
    raise(std::move(told));
  });
  if (begun) into->rows.taken.push_back(one.number);
}

void engine::raise(alert_row what) {
  ports_.probe.alerted(what);
  gathering_->rows.alerts.push_back(std::move(what));
  schedule_flush();
}

void engine::stamp(instance& of, event& what) {
  what.seq = sequence{of.machine.last().value() + 1};
  what.at = ports_.clock.now();
  what.random = ports_.random.next();
  // Payloads are kept byte for byte; words for people must fit every store's text.
  what.text = clean_text(what.text);
  what.actor = clean_text(what.actor);
}

// Applies in memory, and puts the event with all that belongs to it into the batch that gathers.
result<void> engine::deliver(instance& of, event what) {
  ATONE_ASSERT(!of.sql_in_flight);
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
  gathering_->rows.records.push_back(std::move(record));
  gather_applied(of, std::move(commands), at);
}

// What follows from an event, beside its own record.
void engine::gather_applied(instance& of, std::vector<command> commands, timestamp at) {
  bool const parks = of.machine.status() == saga_status::parked && of.row.status != saga_status::parked;
  ++figures_.events;
  for (auto& made : commands) gather_command(of, std::move(made), at);
  gather_row(of);
  if (parks || is_final(of.row.status)) gathering_->notify.push_back(of.row.id);
  if (is_final(of.row.status)) timers_.cancel_all(of.timers);
  cap_gathering();
  schedule_flush();
  if (!suspects_.empty()) ports_.turns.defer([this] { next_suspects(); });
}

void engine::cap_gathering() {
  if (gathering_->rows.records.size() < journal_batch::records_max && gathering_->bytes < batch_bytes_max) return;
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
    to.alerts.push_back(alert_of(of, *alert, at));
  } else {
    return false;
  }
  return true;
}

void engine::gather_command(instance& of, command made, timestamp at) {
  bool const alerts = std::holds_alternative<alert_command>(made);
  if (!add_rows(gathering_->rows, of.row, made, at)) {
    gathering_->after.emplace_back(of.row.id, std::move(made));
  } else if (alerts) {
    ports_.probe.alerted(gathering_->rows.alerts.back());
  }
}

// The saga's row is written when its status changes, not at each event: lists need no more, and a row costs.
void engine::gather_row(instance& of) {
  auto now = row_of(of);
  bool const changed = now.status != of.row.status || now.cause != of.row.cause || now.crashes != of.row.crashes;
  if (!changed) return;
  of.row = std::move(now);
  auto const [at, added] = gathering_->changes.try_emplace(of.row.id, gathering_->rows.changes.size());
  if (added) gathering_->rows.changes.emplace_back();
  gathering_->rows.changes[at->second].row = of.row;
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
  if (!outcome) {
    for (auto& [id, then] : sent->told) then(&outcome.error());
    return stop_driving(outcome.error());
  }
  durable_ = sent->number;
  if (sent->records > 0) ++figures_.commits;
  ports_.probe.committed(sent->records);
  settle_losers(outcome->report);
  settle_rejected(outcome->rejected);
  settle_starts(*sent);
  flush();  // the writer begins with what has gathered meanwhile, while the loop sends what follows from this batch
  if (driving_ && !stopping_) {
    for (auto const& [id, what] : sent->after) perform(id, what);
  }
  for (auto& [id, then] : sent->told) {
    auto const rejected =
        std::find_if(outcome->rejected.begin(), outcome->rejected.end(), [&](rejected_saga const& one) { return one.saga == id; });
    then(rejected == outcome->rejected.end() ? nullptr : &rejected->why);
  }
  for (auto const id : sent->notify) notify(id);
  set_alarm();
  flush();  // unless it is at work: what the commands themselves have gathered
  tell_quiet();
}

// Another coordinator has taken over, or the store can't be trusted: nothing leaves this process any more.
void engine::stop_driving(error const& why) {
  ports_.calls.halt();
  figures_.calls_in_flight = 0;
  suspects_.clear();
  unserved_.clear();
  suspects_out_.clear();
  bool const was_driving = std::exchange(driving_, false);
  if (was_driving && !stopping_) ports_.probe.stopped_driving(why);
  full_.push_back(std::exchange(gathering_, next_gathering()));
  auto const dropped = std::exchange(full_, {});
  for (auto const& batch : dropped) {
    for (auto& [id, then] : batch->told) then(&why);
  }
  auto sagas = std::exchange(open_, {});
  timers_ = timer_table{};
  ports_.turns.wake_at(std::nullopt);
  for (auto& [id, of] : sagas) {
    if (of->on_started) of->on_started(why);
    for (auto& [number, then] : of->waiters) then(why);
    for (auto const& work : of->deferred) work();  // whoever asks in there hears that nothing is driven any more
  }
  // Nothing more will be journalled: there is nothing to wait for.
  if (quiet_) ports_.turns.defer(std::exchange(quiet_, nullptr));
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

void engine::tell_quiet() {
  if (!quiet_ || !idle() || figures_.calls_in_flight > 0) return;
  ports_.turns.defer(std::exchange(quiet_, nullptr));
}

bool engine::idle() const noexcept {
  return !committing_ && full_.empty() && gathering_->empty();
}

engine_figures engine::figures() const noexcept {
  auto now = figures_;
  now.open = open_.size();
  now.queue += queued();
  now.writable = driving_ && !stopping_;
  return now;
}

saga_row engine::row_of(instance const& of) const {
  auto row = of.row;
  auto const& machine = of.machine;
  row.crashes = of.crashes;
  row.status = of.broken.empty() ? machine.status() : saga_status::parked;
  row.cause = of.broken.empty() ? machine.cause() : of.broken;
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
  return view;
}

}  // namespace atone::runtime
