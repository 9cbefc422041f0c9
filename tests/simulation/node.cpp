#include "node.hpp"

#include <algorithm>
#include <utility>

#include "planted.hpp"

namespace atone::simulation {
namespace {

constexpr duration commit_delay = std::chrono::milliseconds{5};
constexpr duration least_early_alarm = std::chrono::milliseconds{1};
constexpr duration repeat_after = std::chrono::milliseconds{50};
constexpr duration restart_after_max = std::chrono::seconds{3};
constexpr int drift_max = 20;  // thousandths
constexpr duration stop_grace = std::chrono::seconds{10};
constexpr duration turns_end_within = std::chrono::seconds{1};  // where nothing is waited for
constexpr duration inbox_look = std::chrono::milliseconds{500};

timestamp beginning() {
  return timestamp{std::chrono::seconds{1'700'000'000}};
}

}  // namespace

node::node(world& in, std::uint32_t number)
    : world_(in), number_(number), drift_(static_cast<int>(in.delays().below(2 * drift_max + 1)) - drift_max) {}
node::~node() = default;

// ---- its life ----

void node::after(duration wait, std::function<void()> what) {
  world_.time().after(wait, self(), std::move(what));
}

void node::happen(happening what) {
  if (what.of.life != life_ || engine_ == nullptr || doomed_) return;
  if (frozen_) return backlog_.push_back(std::move(what.what));
  what.what();
  if (doomed_) return;  // the world ends it
  if (world_.happens(fault::crash)) doom();
  if (world_.settings().extra.stops && ready_ && !stopping_ && world_.happens(fault::stop)) stop();
  if (leased() && world_.happens(fault::freeze)) freeze(world_.settings().lease / 4 + world_.delays().up_to(world_.settings().lease * 3));
}

void node::stop() {
  if (world_.tracing()) world_.note("stop", std::to_string(number_));
  world_.count_stop();
  stopping_ = true;
  engine_->stop([this] {
    if (planted(planted_bug::hang_at_stop)) return;
    quiet_ = true;
    after(duration{0}, [this] { end(); });
  });
  if (steward_) steward_->give_all();
  after(stop_grace, [this] { lose_patience(); });
}

// It ends all the same. Where nothing is out and nothing is being written, the engine should have said that it may.
void node::lose_patience() {
  if (quiet_) return;
  if (writing_ > 0 || !outs_.empty()) return end();
  after(turns_end_within, [this, seen = activity_] {
    if (quiet_) return;
    if (seen == activity_) world_.judge().never_quiet(writer_);
    end();
  });
}

// Behind the last write, and when nothing leaves any more. A write that is still on its way then finds that nobody is there.
void node::end() {
  if (std::exchange(ended_, true)) return;
  halt();
  if (leased()) {
    world_.store().leave(writer_, epoch_);
    world_.judge().stopped(writer_);
  }
  engine_->shut(error{errc::unavailable, "the coordinator is stopping"});
  doom();
}

void node::freeze(duration time) {
  frozen_ = true;
  ++activity_;
  if (world_.tracing()) world_.note("frozen", std::to_string(number_));
  world_.time().after(time, owner{}, [this, life = life_] {
    if (life == life_) thaw();
  });
}

// What should have happened meanwhile happens now, in its order.
void node::thaw() {
  frozen_ = false;
  if (world_.tracing()) world_.note("thawed", std::to_string(number_));
  for (auto& what : std::exchange(backlog_, {})) after(duration{0}, std::move(what));
}

void node::boot() {
  if (engine_ != nullptr) return;
  if (world_.happens(fault::store_away)) return world_.time().after(repeat_after * 4, owner{}, [this] { boot(); });
  if (world_.tracing()) world_.note("boot", std::to_string(number_));
  std::tie(writer_, epoch_) = world_.store().take_over(node_id{"node-" + std::to_string(number_)});
  last_number_ = 0;
  told_ = timestamp{};
  observe_clock(world_.store_time());
  runtime::engine_settings settings;
  settings.shards = world_.store().shards();
  settings.leased = leased();
  auto const& bounds = world_.settings().bounds;
  settings.open_max = bounds.open_max;
  settings.rest_least = bounds.rest_least;
  settings.wakes_a_read = bounds.wakes_a_read;
  settings.queue_max = bounds.queue_max;
  settings.timers_a_turn = bounds.timers_a_turn;
  settings.commands_a_turn = bounds.commands_a_turn;
  settings.records_a_batch = bounds.records_a_batch;
  settings.crashes_max = 1'000'000;  // crashes of this world are nobody's fault: none parks a saga
  engine_ =
      std::make_unique<runtime::engine>(settings, runtime::engine_ports{*this, *this, *this, *this, *this, *this, *this, *this, *this});
  for (auto const& one : world_.definitions()) engine_->add_definition(one.loaded);
  if (leased()) {
    steward_ = std::make_unique<steward>(*this);
    if (auto const held = steward_->begin(); !held) return crash();
  }
  after(world_.delays().up_to(commit_delay * 4), [this] { load_and_go(); });
}

void node::load_and_go() {
  std::vector<shard> every;
  for (std::uint16_t which = 0; which < world_.store().shards(); ++which) {
    if (!leased() || engine_->holds(shard{which})) every.emplace_back(which);
  }
  runtime::loaded_sagas sagas;
  for (auto& one : world_.store().load_open(every)) sagas.add(std::move(one));
  engine_->recover(std::move(sagas));
  ready_ = true;
  engine_->go(epoch_);
  if (steward_) steward_->run();
  if (!steward_ && world_.settings().extra.sql_starts) look_into_inbox();
}

// One coordinator that drives all looks by itself; where there are several, their stewards do.
void node::look_into_inbox() {
  after(inbox_look, [this] { look_into_inbox(); });
  std::vector<shard> every;
  for (std::uint16_t which = 0; which < world_.store().shards(); ++which) every.emplace_back(which);
  for (auto const& one : world_.store().take_inbox(every)) engine_->start_from_inbox(one);
}

void node::crash() {
  if (world_.tracing()) world_.note(ended_ ? "ended" : "crash", std::to_string(number_));
  if (!std::exchange(ended_, false)) world_.count_crash();
  stopping_ = false;
  world_.mark(number_ + 7);
  ++life_;
  ready_ = frozen_ = doomed_ = quiet_ = false;
  writing_ = 0;
  backlog_.clear();
  outs_.clear();
  engine_.reset();
  steward_.reset();
  world_.time().after(world_.delays().up_to(restart_after_max), owner{}, [this] { boot(); });
}

// Nothing is driven any more: the process ends, and is started again.
void node::stopped_driving(error const& why) {
  if (world_.tracing()) world_.note("stopped", std::to_string(number_) + " " + why.message);
  after(duration{0}, [this] { doom(); });
}

// ---- time ----

duration node::boot_time() const {
  return duration{world_.settings().nodes > 1 ? world_.time_now().count() * (1000 + drift_) / 1000 : world_.time_now().count()};
}

void node::observe_clock(timestamp store_time) {
  clock_offset_ = std::chrono::duration_cast<duration>(store_time - beginning()) - boot_time();
}

timestamp node::now() {
  return told_ = std::max(told_, beginning() + boot_time() + clock_offset_);
}

void node::wake_at(std::optional<timestamp> due) {
  auto const mine = ++alarm_;
  if (world_.tracing())
    world_.note("alarm", std::to_string(number_) + " " + (due ? format_timestamp(*due) : "-") + " now " + format_timestamp(now()));
  if (!due) return;
  auto const wait = std::chrono::duration_cast<duration>(*due - (beginning() + boot_time() + clock_offset_));
  bool const early = world_.settings().bounds.early_alarms && wait > least_early_alarm;
  after(early ? wait / 2 : wait, [this, mine] {
    if (mine == alarm_) engine_->on_wake();
  });
}

void node::defer(std::function<void()> work) {
  after(duration{0}, std::move(work));
}

bool node::holds() const {
  return !steward_ || steward_->holds();
}

void node::resign() {
  if (steward_) steward_->resign();
}

// ---- the writer ----

void node::commit(journal_batch batch, runtime::batch_writer::completion done) {
  if (doomed_) return;
  if (batch.empty()) return after(duration{0}, [done = std::move(done)] { done(isolating_report{}); });
  ++writing_;
  ++activity_;
  auto const heard = [this, done = std::move(done)](result<isolating_report> outcome) {
    --writing_;
    ++activity_;
    done(std::move(outcome));
  };
  try_commit(std::make_shared<journal_batch>(std::move(batch)), heard, false);
}

void node::try_commit(batch_ptr const& batch, runtime::batch_writer::completion const& done, bool again) {
  if (world_.happens(fault::crash_before_commit)) return doom();
  if (world_.happens(fault::store_away)) {
    return after(repeat_after, [this, batch, done, again] { try_commit(batch, done, again); });
  }
  auto wait = world_.delays().up_to(commit_delay);
  if (world_.happens(fault::commit_slow)) wait += world_.delays().up_to(world_.settings().lease * 2);
  transaction made;
  made.life = life_;
  made.writer = writer_;
  made.under = epoch_;
  made.number = last_number_ + 1;
  made.batch = batch;
  made.done = done;
  made.asked = boot_time();
  made.again = again;
  world_.time().after(wait, owner{}, [this, made = std::move(made)] { arrive_at_store(made); });
}

// What was sent arrives, whatever has become of the sender.
void node::arrive_at_store(transaction const& what) {
  world_.jump_clock();
  auto const& records = what.batch->records;
  if (world_.happens(fault::reject_data) && !records.empty()) {
    world_.store().reject(records.front().saga);
    world_.judge().data_refused(records.front().saga);
    if (world_.tracing()) world_.note("reject", records.front().saga.text().substr(20));
  }
  store_session session{world_.store(), what.writer, what.under, *what.batch};
  auto outcome = commit_isolating(session, *what.batch, batch_number{what.number});
  world_.mark(outcome ? records.size() : 1'000'003);
  if (what.life != life_) return;
  if (world_.happens(fault::crash_after_commit)) return doom();
  bool const whole = outcome && outcome->last.value() == what.number && outcome->rejected.empty();
  if (whole && world_.happens(fault::commit_lost)) {
    return after(repeat_after, [this, batch = what.batch, done = what.done] { try_commit(batch, done, true); });
  }
  after(world_.delays().up_to(commit_delay),
        [this, outcome = std::move(outcome), done = what.done, asked = what.asked, again = what.again] {
          if (outcome) {
            last_number_ = outcome->last.value();
            bool const passed = !again && outcome->report.database_time != timestamp{};
            if (passed) observe_clock(outcome->report.database_time);
            if (passed && steward_) steward_->extend(asked);
          }
          done(outcome);
        });
}

void node::commit_sql(sql_statement, journal::answer_to_batch, sql_completion done) {
  after(duration{0}, [done = std::move(done)] { done(error{errc::unsupported, "no SQL in this world"}); });
}

void node::hand_over(std::vector<shard_move> moves, std::function<void(result<void>)> done) {
  after(world_.delays().up_to(commit_delay), [this, moves = std::move(moves), done = std::move(done)] {
    auto const given = world_.store().hand_over(writer_, epoch_, moves);
    after(world_.delays().up_to(commit_delay), [given, done] { done(given); });
  });
}

// ---- reads ----

void node::last_output(std::string saga_name, step_path step, std::string key,
                       std::function<void(result<std::optional<last_output_row>>)> then) {
  after(world_.delays().up_to(commit_delay), [this, saga_name, step, key, then] {
    auto const found = world_.store().last_output(saga_name, step, key);
    after(world_.delays().up_to(commit_delay), [found, then] { then(found); });
  });
}

void node::holder_of(std::string saga_name, business_key key, std::function<void(result<std::optional<key_holder>>)> then) {
  after(world_.delays().up_to(commit_delay), [this, saga_name, key, then] {
    std::optional<key_holder> answer;
    if (auto const holder = world_.store().holder(saga_name, key.value())) {
      answer.emplace();
      answer->saga = *holder;
      answer->body = *world_.store().body_of(saga_name, key.value());
    }
    then(answer);
  });
}

void node::load(std::vector<saga_place> which, std::function<void(result<std::vector<open_saga>>)> then) {
  after(world_.delays().up_to(commit_delay), [this, which = std::move(which), then] {
    std::vector<open_saga> found;
    for (auto const& place : which) {
      if (auto whole = whole_saga(place.id)) found.push_back(std::move(*whole));
    }
    after(world_.delays().up_to(commit_delay), [found = std::move(found), then] { then(found); });
  });
}

std::optional<open_saga> node::whole_saga(saga_id saga) const {
  auto const* const stored = world_.store().find(saga);
  if (stored == nullptr) return std::nullopt;
  open_saga made;
  made.row = stored->row;
  made.events = stored->events;
  for (auto const& [trace, entry] : stored->compensations) made.compensations.push_back(entry);
  return made;
}

void node::reload(saga_id saga, std::function<void(result<std::optional<open_saga>>)> then) {
  after(world_.delays().up_to(commit_delay),
        [this, saga, then] { after(world_.delays().up_to(commit_delay), [answer = whole_saga(saga), then] { then(answer); }); });
}

}  // namespace atone::simulation
