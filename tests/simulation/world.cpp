#include "world.hpp"

#include <algorithm>
#include <stdexcept>

namespace atone::simulation {
namespace {

constexpr duration network_delay = std::chrono::milliseconds{20};
constexpr duration commit_delay = std::chrono::milliseconds{5};
constexpr std::uint64_t happenings_max = 2'000'000;

runtime::call_answer failed(certainty sureness, std::string text) {
  runtime::call_answer made;
  made.sureness = sureness;
  made.text = std::move(text);
  return made;
}

}  // namespace

world::world(std::uint64_t seed, faults what) : faults_(what), state_(seed * 0x9E3779B97F4A7C15U + 1), store_(make_memory_store()) {
  reader_ = *store_->open_reader();
  boot();
}
world::~world() = default;

// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
std::uint64_t world::next() {
  std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15U;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBU;
  return mixed ^ mixed >> 31;
}

bool world::draw(std::uint32_t thousandths) {
  return raging_ && thousandths > 0 && next() % 1000 < thousandths;
}
duration world::draw_delay(duration longest) {
  return duration{static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(longest.count() + 1))};
}

saga_id world::next_saga(timestamp) {
  saga_id::bytes bytes{};
  ++ids_;
  for (std::size_t byte = 0; byte < 8; ++byte) bytes[15 - byte] = static_cast<std::uint8_t>(ids_ >> (8 * byte));
  return saga_id{bytes};
}

void world::at(timestamp when, std::function<void()> what) {
  agenda_.emplace(std::pair{std::max(when, now_), ++order_}, std::move(what));
}

// What a crash takes with it.
void world::in_this_life(duration after, std::function<void()> what) {
  at(now_ + after, [this, life = life_, what = std::move(what)] {
    if (life == life_) what();
  });
}

void world::defer(std::function<void()> work) {
  in_this_life(duration{0}, std::move(work));
}

void world::wake_at(std::optional<timestamp> due) {
  if (alarm_) agenda_.erase(*alarm_);
  alarm_.reset();
  if (!due) return;
  auto const when = std::pair{std::max(*due, now_), ++order_};
  agenda_.emplace(when, [this, life = life_] {
    alarm_.reset();
    if (life == life_) engine_->on_wake();
  });
  alarm_ = when;
}

void world::publish(std::string_view yaml) {
  auto loaded = load_definition(yaml);
  if (!loaded.ok()) throw std::runtime_error{"the simulated definition is wrong: " + format(loaded.diagnostics.at(0), "yaml")};
  definitions_.push_back(loaded.definition);
  engine_->add_definition(loaded.definition);
}

void world::boot() {
  ++life_;
  journal_ = *store_->open_journal();
  auto const owner = *journal_->take_over(node_id{"simulated"});
  last_number_ = 0;
  runtime::engine_settings settings;
  settings.shards = journal_->shards();
  settings.crashes_max = 1'000'000;  // crashes of this world are nobody's fault: none parks a saga
  engine_ =
      std::make_unique<runtime::engine>(settings, runtime::engine_ports{*this, *this, *this, *this, *this, *this, *this, *this, *this});
  for (auto const& one : definitions_) engine_->add_definition(one);
  auto const loaded = journal_->load_open(journal_->every_shard(), [&](open_saga&& one) { engine_->recover(std::move(one)); });
  if (!loaded) broken_.push_back("load_open: " + loaded.error().message);
  engine_->go(owner);
}

void world::crash() {
  ++crashes_;
  note("crash", saga_id{}, "", "");
  if (alarm_) agenda_.erase(*alarm_);
  alarm_.reset();
  engine_.reset();
  held_.clear();
  boot();
}

// A client that repeats its start under the same key until it is answered.
void world::start(std::string const& saga, std::string business, std::string input) {
  start_request what;
  what.saga = saga;
  what.key = business_key{business};
  what.input = input;
  auto const answered = std::make_shared<bool>(false);
  engine_->start(what, [this, business, answered](result<started> outcome) {
    if (!outcome) return;
    *answered = true;
    if (answered_[business].insert(outcome->id).second && draw(faults_.cancel)) cancel_later(outcome->id);
  });
  at(now_ + std::chrono::seconds{2}, [this, saga, business, input, answered] {
    if (!*answered) start(saga, business, input);
  });
}

world::participant_answer world::participant(runtime::outgoing_call const& call) {
  step_key const which{call.saga, call.step.text()};
  note("arrive", call.saga, call.step.text(), name(call.op));
  auto& seen = effects_[call.saga][call.step.text()];
  auto const known = stored_.find({which, call.op});
  if (known != stored_.end()) {
    ++seen.swallowed;
    return known->second;
  }
  participant_answer made;
  made.body = R"({"version":)" + std::to_string(call.n.value()) + "}";
  if (call.op == operation::compensate) {
    auto const action = stored_.find({which, operation::act});
    bool const done = action != stored_.end() && !action->second.refused;
    tombstones_.insert(which);
    ++(done ? seen.compensations : seen.empty);
    if (done) undone_[call.saga].push_back(call.step.text());
  } else if (tombstones_.contains(which)) {
    ++seen.refused_late;
    made.refused = true;
  } else if (refusing_.contains(call.step.text()) || (!willing_.contains(call.step.text()) && draw(faults_.refuse))) {
    made.refused = true;
  } else {
    ++seen.actions;
  }
  stored_.emplace(std::pair{which, call.op}, made);
  return made;
}

void world::send(runtime::outgoing_call what, runtime::caller::completion done) {
  note("send", what.saga, what.step.text(), name(what.op));
  if (ended_.contains(what.saga)) broken_.push_back("sent after the end: " + what.saga.text() + ' ' + what.step.text());
  if (draw(faults_.hold)) {
    auto const which = std::tuple{what.saga, what.step.text(), what.op};
    held_.insert(which);
    return in_this_life(draw_delay(std::chrono::seconds{90}), [this, which, what = std::move(what), done = std::move(done)] {
      if (held_.erase(which) > 0) leave(what, done);
    });
  }
  leave(what, done);
}

runtime::given_up world::take_back(saga_id saga, step_path const& step, operation op) {
  return held_.erase(std::tuple{saga, step.text(), op}) > 0 ? runtime::given_up::never_left : runtime::given_up::out;
}

void world::cancel_later(saga_id saga) {
  at(now_ + draw_delay(std::chrono::seconds{3}), [this, saga] {
    operator_request what;
    what.saga = saga;
    what.actor = "somebody";
    engine_->act(what, [](result<saga_view>) {});
  });
}

void world::leave(runtime::outgoing_call const& what, runtime::caller::completion const& done) {
  auto const life = life_;
  auto const answer_here = [this, life, done](duration after, runtime::call_answer told) {
    at(now_ + after, [this, life, done, told] {
      if (life == life_) done(told);
    });
  };
  if (draw(faults_.busy)) return answer_here(draw_delay(network_delay), failed(certainty::not_done, "429"));
  if (draw(faults_.error)) return answer_here(draw_delay(network_delay), failed(certainty::unknown, "503"));
  if (draw(faults_.duplicate)) at(now_ + draw_delay(network_delay * 2), [this, what] { participant(what); });
  if (draw(faults_.reorder)) at(now_ + draw_delay(std::chrono::seconds{60}), [this, what] { participant(what); });
  // The request is on the wire: it arrives whatever becomes of the sender.
  at(now_ + draw_delay(network_delay), [this, what, answer_here] {
    auto const answer = participant(what);
    bool const local = std::holds_alternative<local_request_spec>(what.request);  // others end by their attempt's timeout
    if (local && what.op == operation::act && draw(faults_.hang)) return;
    if (draw(faults_.lose_answer)) return answer_here(what.attempt_timeout, failed(certainty::unknown, "timeout"));
    runtime::call_answer told;
    told.kind = answer.refused ? runtime::call_answer::kind_of::refused : runtime::call_answer::kind_of::done;
    told.status = answer.refused ? 409 : 200;
    told.payload = answer.body;
    told.text = answer.refused ? "no" : "";
    if (draw(faults_.late)) {
      answer_here(what.attempt_timeout, failed(certainty::unknown, "timeout"));
      return;  // the late answer itself finds its connection closed
    }
    answer_here(draw_delay(network_delay), told);
  });
}

void world::commit(journal_batch batch, runtime::batch_writer::completion done) {
  if (batch.empty()) return in_this_life(duration{0}, [done] { done(isolating_report{}); });
  auto const number = batch_number{last_number_ + 1};
  in_this_life(draw_delay(commit_delay),
               [this, batch = std::make_shared<journal_batch>(std::move(batch)), number, done] { try_commit(batch, number, done); });
}

void world::try_commit(std::shared_ptr<journal_batch> batch, batch_number number, runtime::batch_writer::completion done) {
  auto const again = [this, batch, number, done] {
    in_this_life(std::chrono::milliseconds{50}, [this, batch, number, done] { try_commit(batch, number, done); });
  };
  if (draw(faults_.store_away)) return again();
  auto outcome = commit_isolating(*journal_, *batch, number);
  if (!outcome) {
    broken_.push_back("commit: " + outcome.error().message);
    return done(outcome.error());
  }
  if (draw(faults_.crash)) return crash();           // durable, and nobody has been told
  if (draw(faults_.commit_unknown)) return again();  // the same number again: the report of the one that took effect
  last_number_ = outcome->last.value();
  in_this_life(draw_delay(commit_delay), [done, report = *outcome] { done(report); });
}

void world::commit_sql(sql_statement, journal::answer_to_batch, sql_completion done) {
  in_this_life(duration{0}, [done] { done(error{errc::unsupported, "no SQL in this world"}); });
}

void world::last_output(std::string saga_name, step_path step, std::string of_key,
                        std::function<void(result<std::optional<last_output_row>>)> then) {
  in_this_life(draw_delay(commit_delay), [this, saga_name, step, of_key, then] { then(reader_->last_output(saga_name, step, of_key)); });
}

void world::reload(saga_id saga, std::function<void(result<std::optional<open_saga>>)> then) {
  in_this_life(draw_delay(commit_delay), [this, saga, then] {
    auto row = reader_->find(saga);
    if (!row || !*row) return then(std::optional<open_saga>{});
    open_saga found;
    found.row = **row;
    found.events = *reader_->history(saga);
    found.compensations = *reader_->compensations(saga);
    then(std::optional{std::move(found)});
  });
}

void world::holder_of(std::string, business_key, std::function<void(result<std::optional<key_holder>>)> then) {
  in_this_life(draw_delay(commit_delay), [then] { then(std::optional<key_holder>{}); });  // no definition changes in this world
}

void world::note(std::string_view what, saga_id saga, std::string_view step, std::string_view more) {
  trace_ += std::to_string(now_.time_since_epoch().count());
  trace_ += ' ';
  trace_ += what;
  trace_ += ' ';
  trace_ += saga.text().substr(20);
  trace_ += ' ';
  trace_ += step;
  trace_ += ' ';
  trace_ += more;
  trace_ += '\n';
}

void world::run(duration calm, duration limit) {
  auto const calm_at = now_ + calm;
  auto const end = now_ + limit;
  while (!agenda_.empty() && happenings_ < happenings_max) {
    auto const first = agenda_.begin();
    if (first->first.first > end) break;
    now_ = first->first.first;
    if (now_ >= calm_at) raging_ = false;
    auto const what = std::move(first->second);
    agenda_.erase(first);
    ++happenings_;
    what();
    bool const asked = crash_at_ && *crash_at_ + 1 == happenings_;
    if (asked || draw(faults_.crash)) crash();
  }
}

std::vector<saga_id> world::sagas() const {
  std::vector<saga_id> found;
  saga_filter all;
  all.limit = saga_filter::page_max;
  for (;;) {
    auto const page = reader_->list(all);
    if (!page || page->empty()) return found;
    for (auto const& row : *page) found.push_back(row.id);
    all.before = page->back().id;
  }
}

std::map<saga_status, std::uint64_t> world::counts() {
  return *reader_->counts();
}

}  // namespace atone::simulation
