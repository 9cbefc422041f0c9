// Each checker can fail: fed with a trace in which something is wrong, it says so, and says nothing of the same trace without it.
#include <algorithm>

#include <gtest/gtest.h>

#include "judge.hpp"

namespace atone::simulation {
namespace {

writer_number const first_writer{1};
writer_number const second_writer{2};

std::vector<blueprint> six() {
  std::vector<blueprint> made;
  made.push_back(six_steps());
  return made;
}

saga_id saga_number(std::uint8_t number) {
  saga_id::bytes bytes{};
  bytes[15] = number;
  return saga_id{bytes};
}

event fact(event_kind kind, std::string step, operation op = operation::act, std::uint32_t n = 1) {
  event made;
  made.kind = kind;
  made.step = step_path{std::move(step)};
  made.op = op;
  made.n = attempt{n};
  if (kind == event_kind::step_succeeded) made.payload = R"({"v": 1})";
  return made;
}

// Writes a trace for a judge, right in everything but what the test makes wrong.
class court {
 public:
  court() : definitions_(six()), store_(1, judge_), judge_(definitions_, true), machine_(definitions_[0].loaded, id, business_key{"key"}) {
    judge_.clock([this] { return now_; });
    store_.clock([this] { return timestamp{} + now_; });
    judge_.epoch_raised(first_writer, epoch{1}, true);
    judge_.shard_moved(shard{0}, first_writer, epoch{1});
    judge_.expect("six", "key", start_facts{});
  }

  void start() {
    journal_batch batch;
    saga_start begun;
    begun.row = row();
    batch.starts.push_back(begun);
    auto what = fact(event_kind::started, "", operation::none, 0);
    what.payload = "{}";
    add(batch, what);
    write(batch);
  }
  void journal(event const& what) {
    journal_batch batch;
    add(batch, what);
    write(batch);
  }
  // The event in a batch that says what it should beside it; `tamper` makes it wrong.
  void journal(event const& what, std::function<void(journal_batch&)> const& tamper) {
    journal_batch batch;
    add(batch, what);
    tamper(batch);
    write(batch);
  }
  void send(std::string const& step, operation op = operation::act, std::uint32_t n = 1, std::optional<writer_number> by = first_writer) {
    judge_.sent(by, call(step, op, n));
  }
  runtime::outgoing_call call(std::string const& step, operation op, std::uint32_t n) const {
    runtime::outgoing_call made;
    made.saga = id;
    made.step = step_path{step};
    made.op = op;
    made.n = attempt{n};
    made.epoch = epoch_;
    return made;
  }
  void deliver(std::string const& step, operation op = operation::act, deed what = deed::applied) {
    judge::delivery made;
    made.saga = id;
    made.step = step;
    made.op = op;
    made.what = what;
    made.value = 1;
    judge_.delivered(made);
  }
  // Steps before `count` are sent, done and journalled.
  void done(int count) {
    for (int n = 0; n < count; ++n) {
      auto const step = "s" + std::to_string(n);
      send(step);
      deliver(step);
      journal(fact(event_kind::step_succeeded, step));
    }
  }
  // And the one behind them refuses.
  void refused_at(int count) {
    done(count);
    auto const step = "s" + std::to_string(count);
    send(step);
    deliver(step, operation::act, deed::refused);
    journal(fact(event_kind::step_refused, step));
  }
  void undo(std::string const& step) {
    send(step, operation::compensate);
    deliver(step, operation::compensate);
    journal(fact(event_kind::step_succeeded, step, operation::compensate));
  }
  saga_row row() const {
    saga_row made;
    made.id = id;
    made.key = business_key{"key"};
    made.definition = definitions_[0].loaded->ref;
    made.status = machine_.status();
    made.cause = machine_.cause();
    return made;
  }
  bool found(std::string_view checker) const {
    auto const& all = judge_.violations();
    return std::any_of(all.begin(), all.end(), [&](violation const& one) { return one.checker == checker; });
  }
  bool nothing() const { return judge_.violations().empty(); }
  void pass(duration time) { now_ += time; }
  void carry(epoch other) { epoch_ = other; }

  saga_id const id = saga_number(1);

  judge& on() { return judge_; }
  shared_store& store() { return store_; }
  void finish() { judge_.finish(store_); }
  writer_number writer = first_writer;
  epoch under{1};

 private:
  void add(journal_batch& batch, event what) {
    what.seq = sequence{machine_.last().value() + 1};
    what.at = timestamp{} + now_;
    auto const before = machine_.status();
    auto const applied = machine_.apply(what);
    ASSERT_TRUE(applied.has_value()) << applied.error().message;
    journal_record record;
    record.saga = id;
    record.event = what;
    batch.records.push_back(record);
    if (machine_.status() != before || machine_.cause() != cause_) {
      saga_change change;
      change.row = row();
      batch.changes.push_back(change);
    }
    cause_ = machine_.cause();
    for (auto const& made : *applied) {
      auto const* const told = std::get_if<alert_command>(&made);
      if (told == nullptr) continue;
      alert_row alert;
      alert.saga = id;
      alert.kind = told->kind;
      alert.text = told->text;
      batch.alerts.push_back(alert);
    }
  }
  void write(journal_batch const& batch) { judge_.committed(writer, under, batch, {}); }

  std::vector<blueprint> definitions_;
  shared_store store_;
  judge judge_;
  saga_machine machine_;
  std::string cause_;
  duration now_{};
  epoch epoch_{1};
};

TEST(checkers, a_right_trace_is_right) {
  court forward;
  forward.start();
  forward.done(6);
  EXPECT_TRUE(forward.nothing());
  EXPECT_TRUE(forward.on().everything_ended());
  court back;
  back.start();
  back.refused_at(2);
  back.undo("s1");
  back.undo("s0");
  EXPECT_TRUE(back.nothing());
  EXPECT_TRUE(back.on().everything_ended());
}

TEST(checkers, durable_first) {
  court unknown;
  unknown.send("s0");
  EXPECT_TRUE(unknown.found("durable-first"));
  court early;
  early.start();
  early.send("s0");
  EXPECT_TRUE(early.nothing());
  early.send("s1");
  EXPECT_TRUE(early.found("durable-first"));
}

TEST(checkers, forward_order) {
  court of;
  of.start();
  of.send("s1");
  EXPECT_TRUE(of.found("forward-order"));
}

TEST(checkers, effects_once) {
  court of;
  of.start();
  of.done(1);
  of.deliver("s0", operation::act, deed::swallowed);
  EXPECT_TRUE(of.nothing());
  of.deliver("s0");
  EXPECT_TRUE(of.found("effects-once"));
}

TEST(checkers, effects_of_an_end) {
  court forward;
  forward.start();
  forward.done(5);
  forward.send("s5");
  forward.journal(fact(event_kind::step_succeeded, "s5"));  // nobody did it
  forward.finish();
  EXPECT_TRUE(forward.found("effects"));
  court back;
  back.start();
  back.refused_at(1);
  back.send("s0", operation::compensate);
  back.journal(fact(event_kind::step_succeeded, "s0", operation::compensate));  // its effect is still there
  back.finish();
  EXPECT_TRUE(back.found("effects"));
}

TEST(checkers, undo_order) {
  court of;
  of.start();
  of.refused_at(2);
  of.send("s0", operation::compensate);
  EXPECT_TRUE(of.found("undo-order"));
  court overlapping;
  overlapping.start();
  overlapping.refused_at(2);
  overlapping.send("s1", operation::compensate);
  overlapping.deliver("s1", operation::compensate);
  EXPECT_TRUE(overlapping.nothing());
  overlapping.send("s0", operation::compensate);
  EXPECT_TRUE(overlapping.found("undo-order"));
}

TEST(checkers, undo_needed) {
  court of;
  of.start();
  of.refused_at(2);
  of.send("s2", operation::compensate);  // it has refused
  EXPECT_TRUE(of.found("undo-needed"));
}

TEST(checkers, after_end) {
  court of;
  of.start();
  of.done(6);
  of.send("s5", operation::act, 2);
  EXPECT_TRUE(of.found("after-end"));
  court late;
  late.start();
  late.done(6);
  late.on().left(first_writer, late.call("s5", operation::act, 1));
  EXPECT_TRUE(late.found("after-end"));
}

TEST(checkers, stale_write) {
  court of;
  of.start();
  of.on().epoch_raised(first_writer, epoch{2}, true);
  of.journal(fact(event_kind::step_succeeded, "s0"));
  EXPECT_TRUE(of.found("stale-write"));
  court again;
  again.on().epoch_raised(first_writer, epoch{1}, true);
  EXPECT_TRUE(again.found("stale-write"));
}

TEST(checkers, owner) {
  court writes;
  writes.start();
  writes.on().epoch_raised(second_writer, epoch{2}, true);
  writes.writer = second_writer;
  writes.under = epoch{2};
  writes.journal(fact(event_kind::step_succeeded, "s0"));
  EXPECT_TRUE(writes.found("owner"));
  court sends;
  sends.start();
  sends.send("s0", operation::act, 1, second_writer);
  EXPECT_TRUE(sends.found("owner"));
  court old;
  old.start();
  old.carry(epoch{5});
  old.send("s0");
  EXPECT_TRUE(old.nothing());
  old.carry(epoch{4});
  old.send("s0");
  EXPECT_TRUE(old.found("owner"));
  court moved;
  moved.on().shard_moved(shard{0}, second_writer, epoch{1});
  EXPECT_TRUE(moved.found("owner"));
}

TEST(checkers, replay) {
  court gap;
  gap.start();
  gap.journal(fact(event_kind::step_succeeded, "s0"), [](journal_batch& batch) { batch.records[0].event.seq = sequence{7}; });
  EXPECT_TRUE(gap.found("replay"));
  court row;
  row.start();
  row.refused_at(1);
  EXPECT_TRUE(row.nothing());
  court silent;
  silent.start();
  silent.done(1);
  silent.send("s1");
  silent.journal(fact(event_kind::step_refused, "s1"), [](journal_batch& batch) { batch.changes.clear(); });
  EXPECT_TRUE(silent.found("replay"));
  court memory;
  memory.start();
  saga_view seen;
  seen.row = memory.row();
  seen.row.last = sequence{1};
  memory.on().viewed(seen);  // no step is there, and one should be
  EXPECT_TRUE(memory.found("replay"));
}

TEST(checkers, park_reason) {
  court silent;
  silent.start();
  silent.refused_at(1);
  silent.send("s0", operation::compensate);
  silent.deliver("s0", operation::compensate, deed::refused);
  silent.journal(fact(event_kind::step_refused, "s0", operation::compensate), [](journal_batch& batch) { batch.alerts.clear(); });
  EXPECT_TRUE(silent.found("park-reason"));
  court causeless;
  causeless.start();
  causeless.refused_at(1);
  causeless.send("s0", operation::compensate);
  causeless.journal(fact(event_kind::step_refused, "s0", operation::compensate));  // nobody has refused
  EXPECT_TRUE(causeless.found("park-reason"));
}

TEST(checkers, acknowledged) {
  court start;
  start.on().start_acknowledged("six", "key", start.id);
  EXPECT_TRUE(start.found("acknowledged"));
  court cancel;
  cancel.start();
  operator_request what;
  what.saga = cancel.id;
  cancel.on().action_acknowledged(what);
  EXPECT_TRUE(cancel.found("acknowledged"));
  court end;
  end.start();
  saga_view seen;
  seen.row = end.row();
  seen.row.status = saga_status::completed;
  end.on().told_ended(seen);
  EXPECT_TRUE(end.found("acknowledged"));
  court ahead;
  ahead.start();
  seen.row = ahead.row();
  seen.row.last = sequence{9};
  ahead.on().viewed(seen);
  EXPECT_TRUE(ahead.found("acknowledged"));
}

runtime::call_answer answered(runtime::call_answer::kind_of kind) {
  runtime::call_answer made;
  made.kind = kind;
  return made;
}

// What the sender has journalled of the attempt is not what was reported of it.
TEST(checkers, acknowledged_reports) {
  auto const done = answered(runtime::call_answer::kind_of::done);
  court sender;
  sender.start();
  sender.send("s0");
  auto failed = fact(event_kind::attempt_failed, "s0");
  failed.sureness = certainty::unknown;
  sender.journal(failed);
  EXPECT_TRUE(sender.nothing());
  sender.on().report_acknowledged(sender.call("s0", operation::act, 1), done);
  EXPECT_TRUE(sender.found("acknowledged"));
  court late;
  late.start();
  late.send("s0");
  late.journal(failed);
  late.journal(fact(event_kind::late_answer, "s0"));
  late.on().report_acknowledged(late.call("s0", operation::act, 1), done);
  late.on().report_came_late(late.call("s0", operation::act, 1));
  EXPECT_TRUE(late.nothing());
  late.on().report_came_late(late.call("s0", operation::act, 2));
  EXPECT_TRUE(late.found("acknowledged"));
  court same;
  same.start();
  same.done(1);
  same.on().report_acknowledged(same.call("s0", operation::act, 1), done);
  EXPECT_TRUE(same.nothing());
  same.on().report_acknowledged(same.call("s0", operation::act, 1), answered(runtime::call_answer::kind_of::refused));
  EXPECT_TRUE(same.found("acknowledged"));
}

TEST(checkers, drain) {
  court hangs;
  hangs.on().never_quiet(first_writer);
  EXPECT_TRUE(hangs.found("drain"));
  court keeps;
  keeps.on().stopped(first_writer);
  EXPECT_TRUE(keeps.found("drain"));
}

TEST(checkers, inbox) {
  using extent = shared_store::extent;
  using state = shared_store::request_state;
  journal_batch taken;
  taken.taken = {1};
  journal_batch told;
  told.alerts.emplace_back().kind = "start refused: 1";
  court lost;
  lost.store().ask_start(shard{0}, "six", "asked", "{}");
  auto const [by, under] = lost.store().take_over(node_id{"a"});
  EXPECT_EQ(lost.store().state_of_request("six", "asked"), state::waiting);
  ASSERT_TRUE(lost.store().commit(by, under, taken, batch_number{1}).has_value());
  EXPECT_TRUE(lost.found("inbox")) << "taken off alone, and nobody was told";
  court apart;
  apart.store().ask_start(shard{0}, "six", "asked", "{}");
  apart.store().take_over(node_id{"a"});
  ASSERT_TRUE(apart.store().commit(by, under, taken, batch_number{1}, extent::part).has_value());
  EXPECT_FALSE(apart.found("inbox"));
  EXPECT_EQ(apart.store().state_of_request("six", "asked"), state::gone);
  ASSERT_TRUE(apart.store().commit(by, under, told, batch_number{2}).has_value());
  EXPECT_EQ(apart.store().state_of_request("six", "asked"), state::refused);
  court refused;
  refused.store().ask_start(shard{0}, "six", "asked", "{}");
  refused.store().take_over(node_id{"a"});
  auto both = told;
  both.taken = taken.taken;
  ASSERT_TRUE(refused.store().commit(by, under, both, batch_number{1}).has_value());
  EXPECT_FALSE(refused.found("inbox"));
}

TEST(checkers, one_key) {
  court of;
  of.start();
  of.on().start_acknowledged("six", "key", of.id);
  EXPECT_TRUE(of.nothing());
  of.on().start_acknowledged("six", "key", saga_number(2));
  EXPECT_TRUE(of.found("one-key"));
}

TEST(checkers, decision) {
  court of;
  of.start();
  of.refused_at(2);
  of.send("s2", operation::act, 2);
  EXPECT_TRUE(of.found("decision"));
}

TEST(checkers, attempts_and_pace) {
  court numbers;
  numbers.start();
  numbers.send("s0", operation::act, 3);
  EXPECT_TRUE(numbers.found("attempts"));
  court limit;
  limit.start();
  for (std::uint32_t n = 1; n <= 4; ++n) limit.send("s0", operation::act, n);
  EXPECT_TRUE(limit.found("attempts"));
  court pace;
  pace.start();
  pace.send("s0");
  pace.pass(std::chrono::milliseconds{50});
  pace.send("s0", operation::act, 2);
  EXPECT_TRUE(pace.found("pace"));
}

TEST(checkers, payload) {
  court of;
  of.start();
  of.refused_at(1);
  judge::delivery made;
  made.saga = of.id;
  made.step = "s0";
  made.op = operation::compensate;
  made.seen = 999;  // the answer was 1
  of.on().delivered(made);
  EXPECT_TRUE(of.found("payload"));
}

TEST(checkers, liveness) {
  court of;
  of.start();
  of.on().start_acknowledged("six", "key", of.id);
  of.finish();
  EXPECT_TRUE(of.found("liveness"));
  court unanswered;
  unanswered.finish();
  EXPECT_TRUE(unanswered.found("liveness"));
}

}  // namespace
}  // namespace atone::simulation
