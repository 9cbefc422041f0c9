// Shards that come and go, a lease that runs out and comes back, and sagas begun for somebody else.
#include <gmock/gmock.h>

#include "../machine/definitions.hpp"
#include "engine_world.hpp"

namespace atone::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string const row_of_two = sequence_of(2);
std::string const spread = R"(saga: spread
version: 1
input: {type: object, required: [user], properties: {user: {type: integer}}}
shard_key: =input.user
services: {shop: {http: "http://127.0.0.1:1"}}
steps:
  - id: one
    call: shop POST /one
    in: {}
    compensate: {call: shop POST /undo, in: {}}
)";

runtime::engine_settings leased() {
  runtime::engine_settings made;
  made.leased = true;
  made.shards = 4;
  return made;
}

std::vector<shard> shards_of(std::initializer_list<std::uint16_t> numbers) {
  std::vector<shard> made;
  for (auto const number : numbers) made.emplace_back(number);
  return made;
}
auto const all = shards_of({0, 1, 2, 3});

// What the driver of a shard finds in its inbox of a saga that another coordinator has begun.
inbox_start notice_of(saga_id saga) {
  inbox_start made;
  made.number = 9;
  made.arrived = saga;
  return made;
}

// A world that drives these of the four shards.
class leased_world {
 public:
  explicit leased_world(std::string const& yaml, std::vector<shard> const& held = all) : world(yaml, leased()) {
    world.engine().hold(held);
  }
  engine_world world;
};

// Its driver has sent the first call already, while the answer to the start's commit is on its way here.
TEST(engine_shards, a_report_about_a_saga_begun_for_another_is_its_drivers) {
  leased_world here{spread, {}};
  auto const begun = here.world.start({}, R"({"user":7})");
  ASSERT_EQ(here.world.writes(), 1U);
  auto const id = here.world.next_write().starts.at(0).row.id;
  here.world.make_durable();
  EXPECT_EQ(here.world.report(id, "one", 1, done_with()).code(), errc::unavailable);
  here.world.commit_all();
  EXPECT_TRUE(begun.fine());
  EXPECT_THAT(here.world.history(id), ElementsAre(event_kind::started));
}

TEST(engine_shards, a_saga_that_nothing_ties_to_a_shard_begins_in_one_of_our_own) {
  leased_world here{row_of_two, shards_of({2})};
  for (int n = 0; n < 5; ++n) EXPECT_EQ(here.world.stored(here.world.begun()).home, shard{2});
}

// A shard key names the shard, whoever drives it: the start is durable here, and the owner finds a notice with it.
TEST(engine_shards, a_saga_of_a_shard_that_another_drives_is_begun_and_left_to_it) {
  leased_world here{spread, {}};
  auto& world = here.world;
  auto const heard = world.start({}, R"({"user": 5})");
  ASSERT_EQ(world.next_write().starts.size(), 1U);
  EXPECT_THAT(world.next_write().foreign, ElementsAre(world.next_write().starts[0].row.home));
  EXPECT_FALSE(heard.heard()) << "not before it is durable";
  world.commit_all();
  ASSERT_TRUE(heard.fine());
  EXPECT_EQ(world.sent(), 0U);
  EXPECT_FALSE(world.engine().under_way(heard.value().id));
  EXPECT_THAT(world.history(heard.value().id), ElementsAre(event_kind::started));
}

TEST(engine_shards, an_arrival_is_driven_from_its_history_and_its_notice_done_with) {
  leased_world here{spread, {}};
  auto& world = here.world;
  auto const heard = world.start({}, R"({"user": 5})");
  world.commit_all();
  world.engine().hold(all);
  auto const notice = notice_of(heard.value().id);
  for (int n = 0; n < 2; ++n) world.engine().start_from_inbox(notice);  // the second look finds it being read
  EXPECT_EQ(world.reads(), 1U);
  world.read();
  EXPECT_THAT(world.next_write().taken, ElementsAre(9U));
  world.commit_all();
  EXPECT_THAT(world.under_way(heard.value().id), ElementsAre("one"));
  world.succeed(heard.value().id, "one");
  EXPECT_EQ(world.stored(heard.value().id).status, saga_status::completed);
}

// Begun elsewhere, and never sent: a refusal of its first call is sure, so there is nothing to undo.
TEST(engine_shards, the_first_call_of_an_arrival_is_no_repeat) {
  leased_world here{spread, {}};
  auto& world = here.world;
  auto const heard = world.start({}, R"({"user": 5})");
  world.commit_all();
  world.engine().hold(all);
  auto const notice = notice_of(heard.value().id);
  world.engine().start_from_inbox(notice);
  world.settle();
  world.commit_all();
  world.refuse(heard.value().id, "one");
  EXPECT_EQ(world.stored(heard.value().id).status, saga_status::compensated);
  EXPECT_EQ(world.sent(), 1U);
}

TEST(engine_shards, an_arrival_whose_definition_is_not_known_yet_waits_for_it) {
  leased_world here{spread, {}};
  auto& world = here.world;
  auto const heard = world.start({}, R"({"user": 5})");
  world.commit_all();
  world.unpublish("spread");
  world.crash();
  world.engine().hold(all);
  auto const notice = notice_of(heard.value().id);
  world.engine().start_from_inbox(notice);
  world.settle();
  auto const writes = world.writes();
  while (world.reads() > 0) world.read();
  EXPECT_EQ(world.writes(), writes);
}

TEST(engine_shards, requests_carry_the_epoch_of_their_shards_lease) {
  leased_world here{row_of_two, {}};
  auto& world = here.world;
  world.engine().lease_epochs(shards_of({1, 2}), {epoch{70}, epoch{80}});
  world.engine().hold(shards_of({2}));
  (void)world.begun();
  EXPECT_EQ(world.call(0).what.epoch, epoch{80});
}

TEST(engine_shards, a_batch_of_hundreds_leaves_in_slices_and_answers_get_their_turn) {
  engine_world world{row_of_two};
  constexpr int sagas = 300;
  for (int n = 0; n < sagas; ++n) {
    start_request what;
    what.saga = "row";
    world.engine().start(std::move(what), [](result<started>) {});
  }
  world.settle();
  while (world.writes() > 0) world.commit();
  EXPECT_EQ(world.sent(), static_cast<std::size_t>(sagas)) << "all of them, in the end";
}

TEST(engine_shards, a_notice_for_a_shard_that_has_gone_on_stays_for_its_owner) {
  leased_world here{spread, {}};
  auto& world = here.world;
  auto const heard = world.start({}, R"({"user": 5})");
  world.commit_all();
  auto const notice = notice_of(heard.value().id);
  world.engine().start_from_inbox(notice);
  world.read();
  EXPECT_EQ(world.writes(), 0U);
  EXPECT_FALSE(world.engine().under_way(heard.value().id));
}

// Read before the saga ended here, brought after: the old picture must not be driven.
TEST(engine_shards, an_arrival_read_before_its_saga_ended_here_is_not_driven_again) {
  leased_world here{spread, {}};
  auto& world = here.world;
  auto const heard = world.start({}, R"({"user": 5})");
  world.commit_all();
  auto const old = world.open_sagas();
  world.engine().hold(all);
  auto const notice = notice_of(heard.value().id);
  world.engine().start_from_inbox(notice);
  world.engine().adopt(world.open_sagas());
  world.settle();
  while (world.writes() > 0) world.commit();
  world.answer(heard.value().id, "one", done_with());
  while (world.writes() > 0) world.commit();
  EXPECT_EQ(world.stored(heard.value().id).status, saga_status::completed);
  world.read();
  EXPECT_FALSE(world.engine().under_way(heard.value().id));
  EXPECT_EQ(world.sent(), 1U);
}

TEST(engine_shards, a_shard_with_a_call_out_is_not_quiet_and_goes_with_its_answer) {
  leased_world here{row_of_two, shards_of({1})};
  auto& world = here.world;
  auto const saga = world.begun();
  world.engine().leave(shards_of({1}));
  EXPECT_THAT(world.engine().let_go(shards_of({1})), IsEmpty());
  world.answer(saga, "s1", done_with());
  EXPECT_THAT(world.engine().let_go(shards_of({1})), IsEmpty()) << "the answer is not durable yet";
  world.commit_all();
  EXPECT_EQ(world.sent(), 1U) << "the next step is the next owner's to send";
  EXPECT_THAT(world.engine().let_go(shards_of({1})), ElementsAre(shard{1}));
  EXPECT_FALSE(world.engine().under_way(saga));
  EXPECT_EQ(world.writes(), 0U) << "nothing of it may be written any more";
}

// It may be at work still: the next owner sends it again under its key, as after a take-over.
TEST(engine_shards, a_request_that_takes_too_long_is_given_up_with_its_shard) {
  leased_world here{row_of_two, shards_of({1})};
  auto& world = here.world;
  auto const saga = world.begun();
  world.engine().leave(shards_of({1}));
  EXPECT_THAT(world.engine().let_go(shards_of({1})), IsEmpty());
  world.engine().give_up_requests(shards_of({1}));
  EXPECT_THAT(world.engine().let_go(shards_of({1})), ElementsAre(shard{1}));
  EXPECT_THAT(world.history(saga), ElementsAre(event_kind::started)) << "nothing is said of a call that may yet be answered";
  world.engine().adopt(world.open_sagas());
  world.settle();
  world.commit_all();
  EXPECT_THAT(world.under_way(saga), ElementsAre("s1"));
  EXPECT_EQ(world.call(1).what.key, world.call(0).what.key);
}

// The answer to what was given up is another coordinator's to get: a process that ends has nothing to wait for.
TEST(engine_shards, a_stop_is_over_when_the_last_saga_has_gone_with_its_shard) {
  leased_world here{row_of_two, shards_of({1})};
  auto& world = here.world;
  world.begun();
  bool over = false;
  world.engine().stop([&] { over = true; });
  world.engine().leave(shards_of({1}));
  world.settle();
  EXPECT_FALSE(over) << "its call is out";
  world.engine().give_up_requests(shards_of({1}));
  world.engine().let_go(shards_of({1}));
  world.settle();
  EXPECT_TRUE(over);
}

// Its shard came back, and the same attempt has gone out once more: what the first sending says for sure is no longer sure.
TEST(engine_shards, an_answer_from_before_its_shard_went_and_came_back_takes_no_doubt_away) {
  leased_world here{row_of_two, shards_of({1})};
  auto& world = here.world;
  (void)world.begun();
  auto const late = world.call(0).done;
  world.engine().leave(shards_of({1}));
  world.engine().give_up_requests(shards_of({1}));
  world.engine().let_go(shards_of({1}));
  world.engine().adopt(world.open_sagas());
  world.engine().hold(shards_of({1}));
  world.settle();
  world.commit_all();
  ASSERT_EQ(world.sent(), 2U);
  late(failed_with(certainty::not_done));
  world.settle();
  ASSERT_EQ(world.next_write().records.size(), 1U);
  EXPECT_EQ(world.next_write().records[0].event.sureness, certainty::unknown);
}

// A shard whose saga can't go keeps all its requests: what is given up is nobody's to send otherwise.
TEST(engine_shards, nothing_is_given_up_in_a_shard_that_can_not_go) {
  leased_world here{row_of_two, shards_of({1})};
  auto& world = here.world;
  auto const waits = world.begun();
  auto const writes = world.begun();
  world.engine().leave(shards_of({1}));
  world.answer(writes, "s1", done_with());  // gathered, not durable
  world.engine().give_up_requests(shards_of({1}));
  EXPECT_THAT(world.engine().let_go(shards_of({1})), IsEmpty());
  world.engine().keep(shards_of({1}));
  world.commit_all();
  EXPECT_THAT(world.under_way(waits), ElementsAre("s1"));
  world.succeed(waits, "s1");
  world.succeed(waits, "s2");
  EXPECT_EQ(world.stored(waits).status, saga_status::completed);
}

// The answer to its commit is late; meanwhile its shard came here, and the owner before has taken the notice: nobody else will drive it.
TEST(engine_shards, a_saga_whose_shard_came_while_it_was_being_begun_is_driven_once_its_start_is_told) {
  leased_world here{spread, {}};
  auto& world = here.world;
  auto const heard = world.start({}, R"({"user": 5})");
  open_saga stored;
  stored.row = world.next_write().starts[0].row;
  stored.events.push_back(world.next_write().records[0].event);
  auto const home = stored.row.home;
  std::vector<open_saga> loaded;
  loaded.push_back(std::move(stored));
  world.engine().adopt(std::move(loaded));
  world.engine().hold({home});
  world.settle();
  EXPECT_EQ(world.sent(), 0U) << "not before its start is told";
  world.engine().leave({home});
  EXPECT_THAT(world.engine().let_go({home}), IsEmpty()) << "it would be nobody's";
  world.engine().keep({home});
  world.commit_all();
  ASSERT_TRUE(heard.fine());
  EXPECT_TRUE(world.engine().under_way(heard.value().id));
  EXPECT_EQ(world.sent(), 1U);
  world.succeed(heard.value().id, "one");
  EXPECT_EQ(world.stored(heard.value().id).status, saga_status::completed);
}

// The batch is in the store, its answer is not here yet: the notice is for after that.
TEST(engine_shards, a_notice_stays_while_its_saga_is_only_being_begun_here) {
  leased_world here{spread, {}};
  auto& world = here.world;
  auto const heard = world.start({}, R"({"user": 5})");
  world.make_durable();
  auto const id = world.next_write().starts.empty() ? world.open_sagas().at(0).row.id : world.next_write().starts[0].row.id;
  world.engine().hold(all);
  auto const notice = notice_of(id);
  world.engine().start_from_inbox(notice);
  world.settle();
  world.commit();
  EXPECT_TRUE(heard.fine());
  EXPECT_EQ(world.writes(), 0U) << "the notice was not taken off";
  world.engine().start_from_inbox(notice);
  world.read();
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("one"));
}

TEST(engine_shards, who_waits_for_a_saga_that_goes_is_told_to_look_into_the_store) {
  leased_world here{row_of_two, shards_of({1})};
  auto& world = here.world;
  auto const saga = world.begun();
  auto const waits = world.wait(saga);
  world.engine().leave(shards_of({1}));
  world.answer(saga, "s1", done_with());
  world.commit_all();
  (void)world.engine().let_go(shards_of({1}));
  world.settle();
  ASSERT_TRUE(waits.fine());
  EXPECT_FALSE(waits.value().has_value());
}

TEST(engine_shards, one_that_stays_after_all_goes_on_where_it_was_held) {
  leased_world here{row_of_two, shards_of({1})};
  auto& world = here.world;
  auto const saga = world.begun();
  world.engine().leave(shards_of({1}));
  world.answer(saga, "s1", done_with());
  world.commit_all();
  world.engine().keep(shards_of({1}));
  world.settle();
  EXPECT_THAT(world.under_way(saga), ElementsAre("s2"));
  world.succeed(saga, "s2");
  EXPECT_EQ(world.stored(saga).status, saga_status::completed);
}

TEST(engine_shards, the_next_owner_sends_what_was_held_back) {
  leased_world here{row_of_two, shards_of({1})};
  auto& world = here.world;
  auto const saga = world.begun();
  world.engine().leave(shards_of({1}));
  world.answer(saga, "s1", done_with());
  world.commit_all();
  (void)world.engine().let_go(shards_of({1}));
  world.engine().adopt(world.open_sagas());
  world.engine().hold(shards_of({1}));
  world.settle();
  world.commit_all();
  EXPECT_THAT(world.under_way(saga), ElementsAre("s2"));
}

TEST(engine_shards, timers_of_a_shard_that_goes_do_not_fire) {
  leased_world here{row_of_two, shards_of({1})};
  auto& world = here.world;
  auto const saga = world.begun();
  world.answer(saga, "s1", failed_with(certainty::not_done));
  world.commit_all();
  world.engine().leave(shards_of({1}));
  world.pass(std::chrono::seconds{30});  // the retry would be due
  EXPECT_EQ(world.writes(), 0U);
  EXPECT_EQ(world.sent(), 1U);
  EXPECT_THAT(world.engine().let_go(shards_of({1})), ElementsAre(shard{1}));
}

TEST(engine_shards, nothing_leaves_while_the_lease_is_not_sure_and_all_of_it_after) {
  leased_world here{row_of_two};
  auto& world = here.world;
  auto const saga = world.begun();
  world.lease(false);
  world.answer(saga, "s1", done_with());
  world.commit_all();
  EXPECT_EQ(world.sent(), 1U);
  world.lease(true);
  EXPECT_EQ(world.sent(), 2U);
  world.lease(true);
  EXPECT_EQ(world.sent(), 2U) << "once";
}

TEST(engine_shards, what_was_given_up_while_the_lease_was_out_is_not_sent_after) {
  leased_world here{row_of_two};
  auto& world = here.world;
  auto const saga = world.begun();
  world.lease(false);
  world.answer(saga, "s1", done_with());
  world.commit_all();
  auto const cancelled = world.act(engine_world::action_kind::cancel, saga);
  world.commit_all();
  world.lease(true);
  world.commit_all();
  // s2 never left, so it is surely not done: only s1 is undone.
  EXPECT_THAT(world.under_way(saga), ElementsAre("s1"));
  EXPECT_EQ(world.call(1).what.op, operation::compensate);
}

}  // namespace
}  // namespace atone::test
