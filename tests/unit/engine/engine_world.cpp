#include "engine_world.hpp"

#include <algorithm>

namespace atone::test {
namespace {

// Refuses records that hold the poison, as a database refuses a text it can't keep, and all records of one saga.
class choosy_journal final : public journal {
 public:
  choosy_journal(journal& to, saga_id refused) : to_(to), refused_(refused) {}

  result<epoch> take_over(node_id const& node) override { return to_.take_over(node); }
  result<commit_report> commit(journal_batch const& batch, batch_number number) override {
    for (auto const& one : batch.records) {
      if (one.saga == refused_) return error{errc::bad_data, "it takes nothing of this saga"};
      if (one.event.payload.find(engine_world::poison) != std::string::npos) return error{errc::bad_data, "it holds poison"};
    }
    return to_.commit(batch, number);
  }
  result<commit_report> commit_with_sql(sql_statement const& statement, answer_to_batch const& on_success, batch_number number) override {
    return to_.commit_with_sql(statement, on_success, number);
  }
  result<void> load_open(std::vector<shard> const& of, saga_sink const& sink) override { return to_.load_open(of, sink); }
  result<void> publish(definition_row const& row) override { return to_.publish(row); }
  result<timestamp> now() override { return to_.now(); }
  std::uint16_t shards() const override { return to_.shards(); }

 private:
  journal& to_;
  saga_id refused_;
};

}  // namespace

runtime::call_answer done_with(std::string payload) {
  runtime::call_answer made;
  made.kind = runtime::call_answer::kind_of::done;
  made.status = 200;
  made.payload = std::move(payload);
  return made;
}

runtime::call_answer refused_with(std::string text) {
  runtime::call_answer made;
  made.kind = runtime::call_answer::kind_of::refused;
  made.status = 409;
  made.text = std::move(text);
  return made;
}

runtime::call_answer failed_with(certainty sureness) {
  runtime::call_answer made;
  made.sureness = sureness;
  made.text = "no luck";
  return made;
}

engine_world::engine_world(std::string_view yaml, runtime::engine_settings settings)
    : settings_(std::move(settings)), store_(make_memory_store([this] { return now_; })) {
  reader_ = *store_->open_reader();
  boot({});
  publish(yaml);
}
engine_world::~engine_world() = default;

void engine_world::publish(std::string_view yaml) {
  auto loaded = load_definition(yaml);
  std::string wrong;
  for (auto const& one : loaded.diagnostics) wrong += format(one, "yaml") + '\n';
  if (!loaded.ok()) throw std::runtime_error{"the definition is wrong: " + wrong};
  definitions_.push_back(loaded.definition);
  engine_->add_definition(loaded.definition);
}

void engine_world::unpublish(std::string_view name) {
  std::erase_if(definitions_, [&](definition_ptr const& one) { return one->ref.name == name; });
}

void engine_world::boot(tampering const& tamper) {
  journal_ = *store_->open_journal();
  auto const owner = *journal_->take_over(node_id{"test"});
  number_ = 0;
  if (!settings_.leased) settings_.shards = journal_->shards();
  engine_ =
      std::make_unique<runtime::engine>(settings_, runtime::engine_ports{*this, *this, *this, *this, *this, *this, *this, *this, *this});
  for (auto const& one : definitions_) engine_->add_definition(one);
  runtime::loaded_sagas sagas;
  auto const loaded = journal_->load_open(journal_->every_shard(), [&](open_saga&& one) {
    if (tamper) tamper(one);
    sagas.add(std::move(one));
  });
  EXPECT_TRUE(loaded.has_value());
  engine_->recover(std::move(sagas));
  engine_->go(owner);
  settle();
}

std::vector<open_saga> engine_world::open_sagas() {
  std::vector<open_saga> found;
  EXPECT_TRUE(journal_->load_open(journal_->every_shard(), [&](open_saga&& one) { found.push_back(std::move(one)); }).has_value());
  return found;
}

void engine_world::lease(bool stands) {
  lease_stands_ = stands;
  if (stands) engine_->lease_renewed();
  settle();
}

void engine_world::crash(tampering const& tamper) {
  engine_.reset();
  turns_.clear();
  writes_.clear();
  reads_.clear();
  alarm_.reset();
  for (auto& one : calls_) one.done = nullptr;
  boot(tamper);
}

void engine_world::take_over_by_another() {
  auto const other = *store_->open_journal();
  EXPECT_TRUE(other->take_over(node_id{"another"}).has_value());
}

void engine_world::settle() {
  while (!turns_.empty()) {
    auto const work = std::move(turns_.front());
    turns_.pop_front();
    work();
  }
}

told<started> engine_world::start(std::string key, std::string input) {
  start_request what;
  what.saga = definitions_.at(0)->ref.name;
  what.key = business_key{std::move(key)};
  what.input = std::move(input);
  told<started> heard;
  engine_->start(std::move(what), heard.callback());
  settle();
  return heard;
}

saga_id engine_world::begun(std::string key, std::string input) {
  auto const heard = start(std::move(key), std::move(input));
  commit_all();
  return heard.value().id;
}

told<saga_view> engine_world::act(action_kind what, saga_id saga, std::string step, std::string note, std::string output) {
  operator_request asked;
  asked.action = what;
  asked.saga = saga;
  asked.step = step_path{std::move(step)};
  asked.actor = "anna";
  asked.note = std::move(note);
  asked.output = std::move(output);
  told<saga_view> heard;
  engine_->act(std::move(asked), heard.callback());
  settle();
  return heard;
}

told<std::optional<saga_view>> engine_world::view(saga_id saga) {
  told<std::optional<saga_view>> heard;
  engine_->view(saga, heard.callback());
  settle();
  return heard;
}

told<std::optional<saga_view>> engine_world::wait(saga_id saga) {
  told<std::optional<saga_view>> heard;
  engine_->wait(saga, heard.callback());
  settle();
  return heard;
}

told<void> engine_world::report(saga_id saga, std::string step, std::uint32_t n, runtime::call_answer answer) {
  told<void> heard;
  engine_->report(saga, step_path{std::move(step)}, operation::act, attempt{n}, std::move(answer), heard.callback());
  settle();
  return heard;
}

// ---- the writer ----

void engine_world::commit(journal_batch batch, runtime::batch_writer::completion done) {
  for (auto const& one : writes_) EXPECT_TRUE(one.sql.has_value()) << "two batches in flight";
  write made;
  made.batch = std::move(batch);
  made.done = std::move(done);
  writes_.push_back(std::move(made));
}

void engine_world::commit_sql(sql_statement statement, journal::answer_to_batch on_success, sql_completion done) {
  write made;
  made.sql = std::move(statement);
  made.on_success = std::move(on_success);
  made.sql_done = std::move(done);
  writes_.push_back(std::move(made));
}

engine_world::write engine_world::take_write() {
  if (writes_.empty()) throw std::logic_error{"nothing is being written"};
  auto first = std::move(writes_.front());
  writes_.pop_front();
  return first;
}

result<isolating_report> engine_world::store(journal_batch const& batch) {
  if (batch.empty()) return isolating_report{};
  choosy_journal choosy{*journal_, refused_};
  auto outcome = commit_isolating(choosy, batch, batch_number{number_ + 1});
  if (outcome) number_ = outcome->last.value();
  return outcome;
}

void engine_world::make_durable() {
  auto& first = writes_.at(0);
  auto outcome = store(first.batch);
  if (!outcome) throw std::runtime_error{outcome.error().message};
  first.outcome = std::move(*outcome);
  first.durable = true;
}

void engine_world::commit() {
  auto first = take_write();
  if (first.sql) throw std::logic_error{"a statement is next: run_sql()"};
  first.done(first.durable ? result<isolating_report>{std::move(first.outcome)} : store(first.batch));
  settle();
}

void engine_world::commit_all() {
  while (!reads_.empty() || (!writes_.empty() && !writes_.front().sql)) {
    if (reads_.empty()) {
      commit();
    } else {
      read();
    }
  }
}

void engine_world::fail_write(errc code) {
  auto const first = take_write();
  error const why{code, "the store says no"};
  if (first.sql) {
    first.sql_done(why);
  } else {
    first.done(why);
  }
  settle();
}

void engine_world::run_sql(std::string answer) {
  auto const first = take_write();
  auto const outcome = journal_->commit(first.on_success(answer), batch_number{number_ + 1});
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  ++number_;
  sql_outcome told_back;
  told_back.answer = std::move(answer);
  told_back.at = outcome->database_time;
  first.sql_done(std::move(told_back));
  settle();
}

void engine_world::refuse_sql(std::string why) {
  auto const first = take_write();
  sql_outcome told_back;
  told_back.refusal = std::move(why);
  first.sql_done(std::move(told_back));
  settle();
}

// ---- reads ----

void engine_world::last_output(std::string saga_name, step_path step, std::string key,
                               std::function<void(result<std::optional<last_output_row>>)> then) {
  reads_.push_back([this, saga_name, step, key, then] { then(reader_->last_output(saga_name, step, key)); });
}

void engine_world::holder_of(std::string saga_name, business_key key, std::function<void(result<std::optional<key_holder>>)> then) {
  reads_.push_back([this, saga_name, key, then] {
    auto const row = *reader_->find_by_key(saga_name, key);
    if (!row) return then(std::optional<key_holder>{});
    key_holder found;
    found.saga = row->id;
    auto const events = *reader_->history(row->id);
    found.body = content_hash::of(json::canonical(*json::parse(events.at(0).payload)));
    then(std::optional{found});
  });
}

void engine_world::reload(saga_id saga, std::function<void(result<std::optional<open_saga>>)> then) {
  reads_.push_back([this, saga, then] {
    if (reads_fail_) return then(error{errc::unavailable, "the store is away"});
    open_saga found;
    found.row = stored(saga);
    found.events = *reader_->history(saga);
    found.compensations = *reader_->compensations(saga);
    then(std::optional{std::move(found)});
  });
}

void engine_world::load(std::vector<saga_place> which, std::function<void(result<std::vector<open_saga>>)> then) {
  reads_.push_back([this, which, then] {
    bool const bad = std::any_of(which.begin(), which.end(), [this](saga_place const& one) { return one.id == unreadable_; });
    if (reads_fail_ || bad) return then(error{errc::corrupt, "the rows can't be read"});
    then(reader_->load(which));
  });
}

void engine_world::read() {
  if (reads_.empty()) throw std::logic_error{"nothing is being read"};
  auto const first = std::move(reads_.front());
  reads_.pop_front();
  first();
  settle();
}

// ---- participants ----

saga_id engine_world::next_saga(timestamp) {
  saga_id::bytes bytes{};
  ++ids_;
  for (std::size_t byte = 0; byte < 8; ++byte) bytes[15 - byte] = static_cast<std::uint8_t>(ids_ >> (8 * byte));
  return saga_id{bytes};
}

void engine_world::send(runtime::outgoing_call what, runtime::caller::completion done) {
  sent_call made;
  made.what = std::move(what);
  made.done = std::move(done);
  made.left = !hold_;
  calls_.push_back(std::move(made));
}

runtime::given_up engine_world::abandon(saga_id saga, step_path const& step, operation op) {
  for (auto& one : calls_) {
    if (!one.done || one.what.saga != saga || one.what.step != step || one.what.op != op) continue;
    one.done = nullptr;
    return one.left ? runtime::given_up::dropped : runtime::given_up::never_left;
  }
  return runtime::given_up::out;
}

runtime::given_up engine_world::take_back(saga_id saga, step_path const& step, operation op) {
  for (auto& one : calls_) {
    if (!one.done || one.left || one.what.saga != saga || one.what.step != step || one.what.op != op) continue;
    one.done = nullptr;
    return runtime::given_up::never_left;
  }
  return runtime::given_up::out;
}

void engine_world::halt() {
  for (auto& one : calls_) one.done = nullptr;
}

std::vector<std::string> engine_world::under_way(saga_id saga) const {
  std::vector<std::string> steps;
  for (auto const& one : calls_) {
    if (one.done && one.what.saga == saga) steps.push_back(one.what.step.text());
  }
  return steps;
}

void engine_world::answer(saga_id saga, std::string_view step, runtime::call_answer with, operation op) {
  for (auto& one : calls_) {
    if (!one.done || one.what.saga != saga || one.what.step.text() != step || one.what.op != op) continue;
    std::exchange(one.done, nullptr)(std::move(with));
    return settle();
  }
  throw std::logic_error{"no call of " + std::string{step} + " is under way"};
}

void engine_world::succeed(saga_id saga, std::string_view step, operation op) {
  answer(saga, step, done_with(), op);
  commit_all();
}

void engine_world::refuse(saga_id saga, std::string_view step) {
  answer(saga, step, refused_with("no"));
  commit_all();
}

// ---- time, and the store ----

void engine_world::wake() {
  alarm_.reset();
  engine_->on_wake();
  settle();
}

void engine_world::pass(duration time) {
  now_ += time;
  while (alarm_ && *alarm_ <= now_) wake();
}

saga_row engine_world::stored(saga_id saga) {
  auto const found = reader_->find(saga);
  if (!found || !*found) throw std::runtime_error{"the store has no saga " + saga.text()};
  return **found;
}

std::size_t engine_world::stored_sagas() {
  std::size_t sum = 0;
  auto const counts = *reader_->counts();
  for (auto const& [status, count] : counts) sum += count;
  return sum;
}

std::vector<event_kind> engine_world::history(saga_id saga) {
  std::vector<event_kind> kinds;
  auto const events = *reader_->history(saga);
  for (auto const& one : events) {
    EXPECT_EQ(one.seq.value(), kinds.size() + 1) << "a gap in the history";
    kinds.push_back(one.kind);
  }
  return kinds;
}

std::vector<alert_row> engine_world::alerts_of(saga_id saga) {
  auto all = *reader_->alerts(1000);
  std::erase_if(all, [&](alert_row const& one) { return one.saga != saga; });
  return all;
}

}  // namespace atone::test
