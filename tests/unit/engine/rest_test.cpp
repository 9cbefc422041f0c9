// Sagas that wait long: in the store alone until their first timer is due, or until somebody asks.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <set>

#include "engine_definitions.hpp"
#include "engine_world.hpp"

namespace atone::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using action = operator_request::action_kind;
using kind = event_kind;

std::string const patient = R"yaml(saga: patient
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
defaults:
  retry: {attempts: 4, delay: 1h, factor: 1, cap: 1h, jitter: none}
  compensate: {attempts: 1}
steps:
  - id: first
    call: a POST /first
    compensate: {call: a DELETE /first}
  - id: second
    call: a POST /second
    compensate: {call: a DELETE /second}
)yaml";

// Its first step has failed once: it is tried again in an hour.
saga_id waiting(engine_world& world) {
  auto const id = world.begun();
  world.answer(id, "first", failed_with(certainty::not_done));
  world.commit_all();
  return id;
}

// Time passes; what is due is read, and its timers, armed again, fire.
void wake_after(engine_world& world, duration time) {
  world.pass(time);
  world.commit_all();
  world.pass(seconds{0});
  world.commit_all();
}

TEST(engine_rest, a_saga_that_waits_long_leaves_memory) {
  engine_world world{patient};
  auto const id = waiting(world);
  EXPECT_EQ(world.engine().figures().open, 1U);
  EXPECT_EQ(world.engine().figures().resting, 1U);
  EXPECT_EQ(world.stored(id).wake_at, world.now() + hours{1});
  EXPECT_EQ(world.alarm(), world.now() + hours{1});
  EXPECT_TRUE(world.engine().under_way(id));
  EXPECT_FALSE(world.view(id).value()) << "what is told of it comes from the store";
  EXPECT_EQ(world.writes() + world.reads(), 0U);
}

TEST(engine_rest, it_leaves_memory_only_when_that_is_durable) {
  engine_world world{patient};
  auto const id = world.begun();
  world.answer(id, "first", failed_with(certainty::not_done));
  EXPECT_EQ(world.engine().figures().resting, 0U);
  world.make_durable();
  EXPECT_EQ(world.engine().figures().resting, 0U);
  world.commit();
  EXPECT_EQ(world.engine().figures().resting, 1U);
}

TEST(engine_rest, what_wakes_it_and_the_wait_are_one_transaction) {
  engine_world world{patient};
  auto const id = world.begun();
  world.answer(id, "first", failed_with(certainty::not_done));
  ASSERT_EQ(world.next_write().records.size(), 1U);
  ASSERT_EQ(world.next_write().changes.size(), 1U);
  EXPECT_EQ(world.next_write().changes[0].row.wake_at, world.now() + hours{1});
  EXPECT_EQ(world.next_write().changes[0].row.last, sequence{2});
  world.commit_all();
  world.pass(hours{1});
  world.read();
  world.commit();  // its timer is armed again, and is due
  world.pass(seconds{0});
  ASSERT_EQ(world.next_write().records.size(), 1U);
  ASSERT_EQ(world.next_write().changes.size(), 1U);
  EXPECT_FALSE(world.next_write().changes[0].row.wake_at) << "a crash from here on must find it awake";
  world.commit_all();
  EXPECT_FALSE(world.stored(id).wake_at);
}

TEST(engine_rest, it_goes_on_when_its_timer_is_due) {
  engine_world world{patient};
  auto const id = waiting(world);
  world.pass(hours{1} - seconds{1});
  EXPECT_EQ(world.reads(), 0U);
  world.pass(seconds{1});
  world.commit_all();
  world.pass(seconds{0});
  world.commit_all();
  ASSERT_EQ(world.sent(), 2U);
  EXPECT_EQ(world.call(1).what.n, attempt{2});
  EXPECT_EQ(world.call(1).what.key, world.call(0).what.key);
  EXPECT_EQ(world.engine().figures().resting, 0U);
  world.succeed(id, "first");
  world.succeed(id, "second");
  EXPECT_EQ(world.stored(id).status, saga_status::completed);
  EXPECT_EQ(world.engine().figures().open, 0U);
}

TEST(engine_rest, a_short_wait_is_waited_in_memory) {
  runtime::engine_settings settings;
  settings.rest_least = hours{2};
  engine_world world{patient, settings};
  auto const id = waiting(world);
  EXPECT_EQ(world.engine().figures().resting, 0U);
  EXPECT_FALSE(world.stored(id).wake_at);
}

TEST(engine_rest, who_takes_over_does_not_read_it_before_it_is_due) {
  engine_world world{patient};
  auto const id = waiting(world);
  world.crash();
  EXPECT_EQ(world.engine().figures().resting, 1U);
  EXPECT_EQ(world.alarm(), world.now() + hours{1});
  EXPECT_THAT(world.open_sagas().at(0).events, IsEmpty());
  wake_after(world, hours{1});
  EXPECT_EQ(world.sent(), 2U);
  EXPECT_THAT(world.history(id), ElementsAre(kind::started, kind::attempt_failed, kind::timer_fired));
}

TEST(engine_rest, what_a_clock_that_was_ahead_has_armed_waits_for_its_own_time_only) {
  engine_world world{patient};
  world.take_time(hours{10});
  auto const id = waiting(world);
  world.take_time(-hours{10});
  world.crash();
  EXPECT_EQ(world.alarm(), world.now() + hours{1});
  world.take_time(minutes{30});
  world.crash();
  EXPECT_EQ(world.alarm(), world.now() + hours{1}) << "from the newest take-over on";
  world.pass(minutes{10});
  (void)world.act(action::skip, id, "second", "refused, but read for that");
  world.commit_all();
  EXPECT_EQ(world.engine().figures().resting, 1U);
  EXPECT_EQ(world.alarm(), world.now() + minutes{50});
  wake_after(world, minutes{50});
  EXPECT_THAT(world.under_way(id), ElementsAre("first"));
  EXPECT_EQ(world.sent(), 2U);
}

TEST(engine_rest, a_crash_between_waking_and_the_next_event_finds_it_resting) {
  engine_world world{patient};
  auto const id = waiting(world);
  world.pass(hours{1});
  world.read();
  world.crash();
  EXPECT_EQ(world.engine().figures().resting, 1U);
  world.pass(seconds{0});
  world.commit_all();
  world.pass(seconds{0});
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("first"));
  EXPECT_EQ(world.sent(), 2U);
}

TEST(engine_rest, an_operators_action_wakes_it) {
  engine_world world{patient};
  auto const id = waiting(world);
  auto const cancelled = world.act(action::cancel, id);
  EXPECT_FALSE(cancelled.heard()) << "it has to be read first";
  world.commit_all();
  ASSERT_TRUE(cancelled.fine());
  EXPECT_EQ(world.stored(id).status, saga_status::compensated);
}

TEST(engine_rest, a_refused_action_lets_it_rest_again) {
  engine_world world{patient};
  auto const id = waiting(world);
  auto const refused = world.act(action::skip, id, "second", "because");
  world.commit_all();
  EXPECT_EQ(refused.code(), errc::not_found);
  EXPECT_EQ(world.engine().figures().resting, 1U);
  EXPECT_EQ(world.alarm(), world.now() + hours{1});
}

TEST(engine_rest, paused_it_rests_until_it_is_resumed) {
  engine_world world{patient};
  auto const id = waiting(world);
  (void)world.act(action::pause, id);
  world.commit_all();
  EXPECT_EQ(world.engine().figures().resting, 1U);
  wake_after(world, hours{1});
  EXPECT_GT(world.stored(id).wake_at, world.now() + hours{1}) << "the retry's timer is over, and nothing is sent before the deadline";
  EXPECT_EQ(world.engine().figures().resting, 1U);
  EXPECT_EQ(world.alarm(), world.stored(id).wake_at);
  (void)world.act(action::resume, id);
  world.commit_all();
  EXPECT_EQ(world.sent(), 2U);
}

TEST(engine_rest, parked_it_rests_until_a_person_sends_it_on) {
  engine_world world{patient};
  auto const id = world.begun();
  world.succeed(id, "first");
  world.refuse(id, "second");
  world.answer(id, "first", failed_with(certainty::unknown), operation::compensate);
  world.commit_all();
  ASSERT_EQ(world.stored(id).status, saga_status::parked);
  EXPECT_EQ(world.stored(id).wake_at, wakes_never);
  EXPECT_EQ(world.alarm(), std::nullopt);
  EXPECT_EQ(world.engine().figures().resting, 1U);
  EXPECT_EQ(world.engine().figures().parked, 1U);
  auto const waited = world.wait(id);
  EXPECT_TRUE(waited.heard()) << "there is nothing to wait for";
  (void)world.act(action::retry, id);
  world.commit_all();
  world.succeed(id, "first", operation::compensate);
  EXPECT_EQ(world.stored(id).status, saga_status::compensated);
}

TEST(engine_rest, who_waits_for_its_end_does_not_keep_it_in_memory) {
  engine_world world{patient};
  auto const id = world.begun();
  auto const early = world.wait(id);
  world.answer(id, "first", failed_with(certainty::not_done));
  world.commit_all();
  auto const late = world.wait(id);
  EXPECT_EQ(world.engine().figures().resting, 1U);
  EXPECT_EQ(world.reads(), 0U);
  wake_after(world, hours{1});
  world.succeed(id, "first");
  EXPECT_FALSE(early.heard() || late.heard());
  world.succeed(id, "second");
  ASSERT_TRUE(early.fine() && late.fine());
  EXPECT_EQ(early.value()->row.status, saga_status::completed);
  EXPECT_EQ(late.value()->row.status, saga_status::completed);
}

TEST(engine_rest, an_end_of_the_wait_is_heard_while_it_rests) {
  engine_world world{patient};
  auto const id = waiting(world);
  told<std::optional<saga_view>> heard;
  auto const number = world.engine().wait(id, heard.callback());
  EXPECT_NE(number, 0U);
  world.engine().end_wait(id, number);
  world.engine().shut(error{errc::unavailable, "it stops"});
  EXPECT_FALSE(heard.heard());
}

TEST(engine_rest, a_late_answer_is_recorded) {
  engine_world world{patient};
  auto const id = waiting(world);
  auto const late = world.report(id, "first", 1, done_with());
  world.commit_all();
  EXPECT_EQ(late.code(), errc::conflict);
  EXPECT_THAT(world.history(id), ElementsAre(kind::started, kind::attempt_failed, kind::late_answer));
  EXPECT_EQ(world.engine().figures().resting, 1U);
}

TEST(engine_rest, what_cannot_be_read_is_told_and_tried_again) {
  engine_world world{patient};
  auto const id = waiting(world);
  world.fail_read(true);
  auto const asked = world.act(action::cancel, id);
  world.commit_all();
  EXPECT_EQ(asked.code(), errc::corrupt);
  ASSERT_EQ(world.alerts_of(id).size(), 1U);
  EXPECT_THAT(world.alerts_of(id)[0].text, HasSubstr("does not go on: the rows can't be read"));
  EXPECT_EQ(world.alerts_of(id)[0].level, alert_level::page);
  world.fail_read(false);
  world.pass(minutes{1});
  world.commit_all();
  EXPECT_EQ(world.engine().figures().resting, 1U);
  EXPECT_EQ(world.alarm(), world.stored(id).wake_at) << "it has been read, and rests for as long as it should";
}

TEST(engine_rest, one_that_cannot_be_read_does_not_hold_up_those_read_with_it) {
  engine_world world{patient};
  std::vector<saga_id> ids;
  for (int n = 0; n < 3; ++n) ids.push_back(waiting(world));
  world.fail_read_of(ids[1]);
  world.pass(hours{1});
  for (int n = 0; n < 3; ++n) {  // those that were read with it follow it, each alone
    world.commit_all();
    world.pass(seconds{0});
  }
  world.commit_all();
  EXPECT_THAT(world.under_way(ids[0]), ElementsAre("first"));
  EXPECT_THAT(world.under_way(ids[2]), ElementsAre("first"));
  EXPECT_EQ(world.sent(), 5U);
  EXPECT_THAT(world.alerts_of(ids[0]), IsEmpty());
  EXPECT_EQ(world.alerts_of(ids[1]).size(), 1U);
  world.fail_read_of(saga_id{});
  wake_after(world, minutes{1});
  EXPECT_THAT(world.under_way(ids[1]), ElementsAre("first"));
}

TEST(engine_rest, a_stop_while_one_is_being_read_alarms_nobody) {
  engine_world world{patient};
  auto const id = waiting(world);
  world.fail_read();
  world.pass(hours{1});
  ASSERT_EQ(world.reads(), 1U);
  bool quiet = false;
  world.engine().stop([&] { quiet = true; });
  world.read();
  EXPECT_EQ(world.writes(), 0U);
  EXPECT_TRUE(quiet);
  EXPECT_THAT(world.alerts_of(id), IsEmpty());
}

TEST(engine_rest, a_report_while_nothing_is_driven_is_refused_at_once) {
  engine_world world{patient};
  auto const id = waiting(world);
  world.engine().stop([] {});
  EXPECT_EQ(world.report(id, "first", 1, done_with()).code(), errc::not_found);
}

TEST(engine_rest, that_it_is_parked_is_told_also_when_one_more_event_follows) {
  engine_world world{patient};
  auto const id = world.begun();
  world.succeed(id, "first");
  world.refuse(id, "second");
  auto const waits = world.wait(id);
  world.answer(id, "first", failed_with(certainty::unknown), operation::compensate);
  world.make_durable();
  (void)world.report(id, "second", 1, done_with());  // late
  world.commit();
  world.commit_all();
  ASSERT_TRUE(waits.fine());
  EXPECT_EQ(waits.value()->row.status, saga_status::parked);
  EXPECT_EQ(world.engine().figures().parked, 1U);
  EXPECT_EQ(world.engine().figures().resting, 1U);
}

TEST(engine_rest, what_an_older_version_left_without_a_word_rests_after_a_take_over) {
  engine_world world{patient};
  auto const id = waiting(world);
  auto const until = world.stored(id).wake_at;
  world.crash([&](open_saga& found) {  // as that version had written it, and as the store hands it out
    found.row.wake_at.reset();
    found.events = *world.reader().history(id);
  });
  EXPECT_EQ(world.engine().figures().resting, 0U);
  world.commit_all();
  EXPECT_EQ(world.engine().figures().resting, 1U);
  EXPECT_EQ(world.stored(id).wake_at, until);
  EXPECT_EQ(world.alarm(), until);
}

TEST(engine_rest, many_that_are_due_come_back_a_few_at_a_time) {
  runtime::engine_settings settings;
  settings.wakes_a_read = 2;
  engine_world world{patient, settings};
  for (int n = 0; n < 7; ++n) (void)waiting(world);
  world.pass(hours{1});
  EXPECT_EQ(world.reads(), 1U);
  world.read();
  EXPECT_EQ(world.engine().figures().resting, 5U);
  EXPECT_EQ(world.reads(), 0U) << "not before what the first two do has left";
  world.commit();
  EXPECT_EQ(world.reads(), 1U);
  world.commit_all();
  world.pass(seconds{0});
  world.commit_all();
  EXPECT_EQ(world.engine().figures().resting, 0U);
  EXPECT_EQ(world.sent(), 14U);
}

TEST(engine_rest, those_that_rest_do_not_count_for_the_limit_and_go_on_beyond_it) {
  runtime::engine_settings settings;
  settings.open_max = 2;
  engine_world world{patient, settings};
  for (int n = 0; n < 5; ++n) (void)waiting(world);
  (void)world.begun();
  (void)world.begun();
  EXPECT_EQ(world.start().code(), errc::exhausted);
  wake_after(world, hours{1});
  EXPECT_EQ(world.sent(), 12U) << "what was accepted goes on";
}

TEST(engine_rest, a_saga_with_a_lock_stays_in_memory) {
  auto locked = patient;
  locked.insert(locked.find("services:"), "lock: =input.who\ninput: {type: object, required: [who], properties: {who: {type: string}}}\n");
  engine_world world{locked};
  auto const id = world.begun({}, R"({"who":"anna"})");
  world.commit_all();
  world.answer(id, "first", failed_with(certainty::not_done));
  world.commit_all();
  EXPECT_EQ(world.engine().figures().resting, 0U);
}

TEST(engine_rest, those_of_a_shard_that_goes_are_the_next_owners) {
  runtime::engine_settings settings;
  settings.leased = true;
  settings.shards = 2;
  engine_world world{patient, settings};
  world.engine().hold({shard{0}});
  auto const id = waiting(world);
  auto const waits = world.wait(id);
  auto const asked = world.act(action::cancel, id);
  ASSERT_EQ(world.reads(), 1U);
  world.engine().leave({shard{0}});
  EXPECT_THAT(world.engine().let_go({shard{0}}), ElementsAre(shard{0}));
  world.settle();
  EXPECT_EQ(world.engine().figures().open, 0U);
  EXPECT_EQ(asked.code(), errc::not_found);
  ASSERT_TRUE(waits.fine());
  EXPECT_FALSE(waits.value()) << "who waits looks into the store";
  world.read();  // what was asked for before
  EXPECT_EQ(world.engine().figures().open, 0U);
  EXPECT_EQ(world.alarm(), std::nullopt);
}

TEST(engine_rest, a_shard_that_comes_brings_those_that_rest) {
  runtime::engine_settings settings;
  settings.leased = true;
  settings.shards = 2;
  engine_world world{patient, settings};
  world.engine().hold({shard{0}});
  auto const id = waiting(world);
  auto const row = world.stored(id);
  world.engine().leave({shard{0}});
  (void)world.engine().let_go({shard{0}});
  world.engine().adopt(std::vector{runtime::resting_saga{row}});
  world.engine().hold({shard{0}});
  EXPECT_EQ(world.engine().figures().resting, 1U);
  EXPECT_EQ(world.alarm(), row.wake_at);
  wake_after(world, hours{1});
  EXPECT_EQ(world.sent(), 2U);
}

TEST(engine_rest, who_asks_is_told_when_it_stops_being_driven_here) {
  engine_world world{patient};
  auto const id = waiting(world);
  auto const waits = world.wait(id);
  auto const asked = world.act(action::cancel, id);
  world.engine().lose(error{errc::fenced, "another has it"});
  world.settle();
  EXPECT_EQ(waits.code(), errc::fenced);
  EXPECT_EQ(asked.code(), errc::fenced);
  world.read();
  EXPECT_EQ(world.engine().figures().open, 0U);
}

}  // namespace
}  // namespace atone::test
