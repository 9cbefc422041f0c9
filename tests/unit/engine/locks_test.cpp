// Semantic locks: one saga a value at a time, the others in the order of their starts, over ends of every kind, crashes and shards that
// go and come back.
#include <algorithm>

#include <gmock/gmock.h>

#include "engine_world.hpp"

namespace atone::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string locked(std::string const& name) {
  return "saga: " + name + R"(
version: 1
input: {type: object, required: [user], properties: {user: {type: integer}, note: {type: string}}}
lock: =input.user
services: {shop: {http: "http://127.0.0.1:1"}}
steps:
  - id: one
    call: shop POST /one
    in: {}
    compensate: {call: shop POST /undo, in: {}}
  - id: two
    call: shop POST /two
    in: {}
    compensate: {call: shop POST /undo, in: {}}
)";
}
std::string const user_5 = R"({"user": 5})";

class engine_locks : public testing::Test {
 protected:
  explicit engine_locks(runtime::engine_settings settings = {}) : world(locked("locked"), std::move(settings)) {}

  saga_id begun(std::string const& key = {}, std::string const& input = user_5) { return world.begun(key, input); }
  saga_status status(saga_id of) { return world.stored(of).status; }
  void complete(saga_id of) {
    world.succeed(of, "one");
    world.succeed(of, "two");
  }
  saga_view seen(saga_id of) {
    auto const heard = world.view(of);
    world.commit_all();
    return heard.value().value();
  }

  engine_world world;
};

TEST_F(engine_locks, one_saga_a_value_runs_and_the_others_wait_in_the_order_of_their_starts) {
  auto const first = begun();
  auto const second = begun();
  auto const third = begun();
  EXPECT_THAT(world.under_way(first), ElementsAre("one"));
  EXPECT_EQ(status(first), saga_status::running);
  EXPECT_EQ(status(second), saga_status::waiting);
  EXPECT_EQ(world.sent(), 1U);
  complete(first);
  EXPECT_EQ(status(first), saga_status::completed);
  EXPECT_THAT(world.under_way(second), ElementsAre("one"));
  EXPECT_THAT(world.under_way(third), IsEmpty());
  complete(second);
  complete(third);
  EXPECT_EQ(status(third), saga_status::completed);
  EXPECT_THAT(world.history(third),
              ElementsAre(event_kind::started, event_kind::lock_granted, event_kind::step_succeeded, event_kind::step_succeeded));
}

TEST_F(engine_locks, another_value_does_not_wait) {
  auto const first = begun();
  auto const other = begun({}, R"({"user": 6})");
  EXPECT_THAT(world.under_way(first), ElementsAre("one"));
  EXPECT_THAT(world.under_way(other), ElementsAre("one"));
}

TEST_F(engine_locks, sagas_of_another_definition_wait_for_the_same_value) {
  world.publish(locked("other"));
  auto const first = begun();
  told<started> heard;
  start_request what;
  what.saga = "other";
  what.input = user_5;
  world.engine().start(what, heard.callback());
  world.settle();
  world.commit_all();
  EXPECT_EQ(status(heard.value().id), saga_status::waiting);
  complete(first);
  EXPECT_THAT(world.under_way(heard.value().id), ElementsAre("one"));
}

// A free lock costs no commit of its own: it is granted in the batch of the start.
TEST_F(engine_locks, a_free_lock_is_granted_with_the_start) {
  auto const heard = world.start({}, user_5);
  ASSERT_EQ(world.writes(), 1U);
  EXPECT_EQ(world.next_write().records.size(), 2U);
  world.commit();
  EXPECT_EQ(world.sent(), 1U);
  EXPECT_TRUE(heard.fine());
}

TEST_F(engine_locks, a_lock_is_passed_on_only_when_the_end_before_is_durable) {
  auto const first = begun();
  auto const second = begun();
  world.succeed(first, "one");
  world.answer(first, "two", done_with());
  ASSERT_EQ(world.writes(), 1U);
  EXPECT_EQ(world.next_write().records.size(), 1U) << "the end alone";
  world.commit();
  ASSERT_EQ(world.writes(), 1U);
  EXPECT_EQ(world.next_write().records.at(0).saga, second);
  EXPECT_EQ(world.next_write().records.at(0).event.kind, event_kind::lock_granted);
}

TEST_F(engine_locks, one_that_compensates_keeps_its_lock_until_all_is_undone) {
  auto const first = begun();
  auto const second = begun();
  world.succeed(first, "one");
  world.refuse(first, "two");
  EXPECT_EQ(status(first), saga_status::compensating);
  EXPECT_EQ(status(second), saga_status::waiting);
  world.succeed(first, "one", operation::compensate);
  EXPECT_EQ(status(first), saga_status::compensated);
  EXPECT_THAT(world.under_way(second), ElementsAre("one"));
}

TEST_F(engine_locks, one_that_is_cancelled_while_it_waits_ends_without_an_effect_and_holds_up_nobody) {
  auto const first = begun();
  auto const second = begun();
  auto const third = begun();
  world.act(engine_world::action_kind::cancel, second);
  world.commit_all();
  EXPECT_EQ(status(second), saga_status::compensated);
  complete(first);
  EXPECT_THAT(world.under_way(third), ElementsAre("one"));
  EXPECT_EQ(world.sent(), 3U) << "nothing of the cancelled one";
}

TEST_F(engine_locks, the_deadline_runs_on_while_it_waits) {
  begun();
  auto const second = begun();
  world.pass(std::chrono::hours{25});
  world.commit_all();
  EXPECT_EQ(status(second), saga_status::compensated);
}

// It would hold the lock and do nothing with it.
TEST_F(engine_locks, one_that_is_paused_while_it_waits_lets_others_pass_and_keeps_its_place) {
  auto const first = begun();
  auto const second = begun();
  auto const third = begun();
  auto const fourth = begun();
  world.act(engine_world::action_kind::pause, second);
  world.commit_all();
  complete(first);
  EXPECT_THAT(world.under_way(third), ElementsAre("one"));
  world.act(engine_world::action_kind::resume, second);
  world.commit_all();
  EXPECT_EQ(status(second), saga_status::waiting);
  complete(third);
  EXPECT_THAT(world.under_way(second), ElementsAre("one"));
  EXPECT_EQ(status(fourth), saga_status::waiting);
}

TEST_F(engine_locks, after_a_crash_who_had_the_lock_has_it_and_the_order_stands) {
  auto const first = begun();
  auto const second = begun();
  auto const third = begun();
  world.crash();
  world.commit_all();
  EXPECT_THAT(world.under_way(first), ElementsAre("one"));
  EXPECT_THAT(world.under_way(second), IsEmpty());
  complete(first);
  EXPECT_THAT(world.under_way(second), ElementsAre("one"));
  EXPECT_THAT(world.under_way(third), IsEmpty());
}

TEST_F(engine_locks, a_crash_between_an_end_and_the_next_grant_leaves_nobody_waiting) {
  auto const first = begun();
  auto const second = begun();
  world.succeed(first, "one");
  world.answer(first, "two", done_with());
  world.make_durable();
  world.crash();
  world.commit_all();
  EXPECT_EQ(status(first), saga_status::completed);
  EXPECT_THAT(world.under_way(second), ElementsAre("one"));
}

TEST_F(engine_locks, a_start_that_loses_its_key_gives_its_lock_back) {
  auto const first = begun("key");
  complete(first);
  auto const repeat = world.start("key", user_5);
  world.commit_all();
  EXPECT_TRUE(repeat.value().replayed);
  auto const next = begun();
  EXPECT_THAT(world.under_way(next), ElementsAre("one"));
}

// Found by the simulation: the lock came free while a start that was to lose its key was on its way to the store.
TEST_F(engine_locks, a_start_on_its_way_to_the_store_is_granted_nothing_that_would_outlive_it) {
  auto const first = begun("key");
  world.succeed(first, "one");
  world.answer(first, "two", done_with());
  auto const repeat = world.start("key", user_5);  // in the batch behind the end, with the lock still taken
  world.commit();                                  // the end: the lock is free, and the repeat is being written
  ASSERT_EQ(world.writes(), 1U);
  EXPECT_EQ(world.next_write().records.size(), 1U);
  world.commit();
  world.commit_all();
  EXPECT_TRUE(repeat.value().replayed);
  EXPECT_EQ(world.stored_sagas(), 1U);
  auto const next = begun();
  EXPECT_THAT(world.under_way(next), ElementsAre("one"));
}

TEST_F(engine_locks, one_whose_data_the_store_refuses_keeps_its_lock_while_it_is_parked) {
  auto const first = begun();
  auto const second = begun();
  world.answer(first, "one", done_with("\"poison\""));
  world.commit_all();
  EXPECT_EQ(status(first), saga_status::parked);
  EXPECT_EQ(status(second), saga_status::waiting);
  EXPECT_EQ(seen(second).lock_holder, first);
}

TEST_F(engine_locks, a_view_says_who_has_the_lock) {
  auto const first = begun();
  auto const second = begun();
  EXPECT_EQ(seen(first).lock, "5");
  EXPECT_EQ(seen(first).lock_holder, first);
  EXPECT_EQ(seen(second).lock_holder, first);
}

TEST_F(engine_locks, a_start_whose_lock_is_none_is_refused) {
  world.publish("saga: by-note\nversion: 1\nlock: =input.note\nsteps:\n  - id: never\n    fail: {reason: never}\n");
  told<started> heard;
  start_request what;
  what.saga = "by-note";
  what.input = R"({"user": 1})";
  world.engine().start(what, heard.callback());
  world.settle();
  EXPECT_EQ(heard.code(), errc::invalid_argument);
  EXPECT_THAT(heard.message(), testing::HasSubstr("lock: "));
}

class engine_locks_in_shards : public engine_locks {
 protected:
  static runtime::engine_settings leased() {
    runtime::engine_settings made;
    made.leased = true;
    made.shards = 4;
    return made;
  }
  engine_locks_in_shards() : engine_locks(leased()) { world.engine().hold(all); }
  std::vector<shard> const all{shard{0}, shard{1}, shard{2}, shard{3}};
};

TEST_F(engine_locks_in_shards, sagas_of_one_lock_live_in_one_shard) {
  auto const first = begun();
  auto const second = begun();
  EXPECT_EQ(world.stored(first).home, world.stored(second).home);
}

TEST_F(engine_locks_in_shards, a_shard_that_leaves_passes_no_lock_on_and_one_that_stays_after_all_does) {
  auto const first = begun();
  auto const second = begun();
  world.succeed(first, "one");
  world.engine().leave(all);
  world.succeed(first, "two");
  EXPECT_EQ(status(first), saga_status::completed);
  EXPECT_EQ(status(second), saga_status::waiting);
  world.engine().keep(all);
  world.settle();
  world.commit_all();
  EXPECT_THAT(world.under_way(second), ElementsAre("one"));
}

TEST_F(engine_locks_in_shards, a_shard_that_goes_and_comes_back_has_its_queue_again) {
  auto const first = begun();
  auto const second = begun();
  auto const third = begun();
  world.engine().leave(all);
  world.answer(first, "one", done_with());
  world.commit_all();
  ASSERT_EQ(world.engine().let_go(all).size(), 4U);
  world.settle();
  world.engine().hold(all);
  world.engine().adopt(world.open_sagas());
  world.settle();
  world.commit_all();
  EXPECT_THAT(world.under_way(first), ElementsAre("two"));
  EXPECT_THAT(world.under_way(second), IsEmpty());
  world.succeed(first, "two");
  EXPECT_THAT(world.under_way(second), ElementsAre("one"));
  EXPECT_THAT(world.under_way(third), IsEmpty());
}

// A shard is loaded in slices: whoever waits may be here before who has the lock.
TEST_F(engine_locks_in_shards, nothing_is_granted_before_all_of_the_shard_is_here) {
  auto const first = begun();
  auto const second = begun();
  auto sagas = world.open_sagas();
  world.engine().leave(all);
  world.answer(first, "one", done_with());
  world.commit_all();
  ASSERT_EQ(world.engine().let_go(all).size(), 4U);
  world.settle();
  sagas = world.open_sagas();
  auto const is_first = [&](open_saga const& one) { return one.row.id == first; };
  std::vector<open_saga> later;
  later.push_back(std::move(*std::find_if(sagas.begin(), sagas.end(), is_first)));
  std::erase_if(sagas, is_first);
  std::erase_if(sagas, [](open_saga const& one) { return one.row.id.empty(); });
  world.engine().adopt(std::move(sagas));
  world.settle();
  world.commit_all();
  EXPECT_THAT(world.under_way(second), IsEmpty());
  world.engine().adopt(std::move(later));
  world.engine().hold(all);
  world.settle();
  world.commit_all();
  EXPECT_THAT(world.under_way(second), IsEmpty());
  EXPECT_THAT(world.under_way(first), ElementsAre("two"));
  world.succeed(first, "two");
  EXPECT_THAT(world.under_way(second), ElementsAre("one"));
}

// What it has done is not undone: a person has to see to it first.
TEST_F(engine_locks, one_whose_history_cannot_be_replayed_keeps_its_lock) {
  auto const first = begun();
  auto const second = begun();
  world.crash([&](open_saga& one) {
    if (one.row.id == first) one.row.definition.hash = content_hash::of("another");
  });
  world.commit_all();
  EXPECT_EQ(status(first), saga_status::parked);
  EXPECT_EQ(status(second), saga_status::waiting);
  EXPECT_THAT(world.under_way(second), IsEmpty());
  EXPECT_EQ(seen(second).lock_holder, first);
}

// Nothing can be added to its history: it would stand in the way of all others.
TEST_F(engine_locks, one_that_cannot_be_read_again_while_it_waits_holds_up_nobody) {
  auto const first = begun();
  auto const second = begun();
  auto const third = begun();
  world.act(engine_world::action_kind::pause, second, {}, "fine");
  world.commit_all();
  world.refuse_all_of(second);
  world.act(engine_world::action_kind::resume, second);
  world.commit();
  world.fail_read();
  world.commit_all();
  complete(first);
  EXPECT_THAT(world.under_way(second), IsEmpty());
  EXPECT_THAT(world.under_way(third), ElementsAre("one"));
}

}  // namespace
}  // namespace atone::test
