// Starts that other programs ask for inside their own transactions, and the orderly end of the engine.
#include <gmock/gmock.h>

#include "../machine/definitions.hpp"
#include "engine_definitions.hpp"
#include "engine_world.hpp"

namespace atone::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string const row_of_two = sequence_of(2);

inbox_start asked(std::uint64_t number, std::string key, std::string saga = "row") {
  inbox_start made;
  made.number = number;
  made.saga_name = std::move(saga);
  made.key = business_key{std::move(key)};
  made.input = "{}";
  return made;
}

TEST(engine_inbox, a_request_is_done_with_in_the_batch_that_starts_its_saga) {
  engine_world world{row_of_two};
  world.engine().start_from_inbox(asked(7, "order-1"));
  world.settle();
  EXPECT_THAT(world.next_write().taken, ElementsAre(7U));
  ASSERT_EQ(world.next_write().starts.size(), 1U);
  EXPECT_EQ(world.next_write().starts[0].row.key.value(), "order-1");
}

TEST(engine_inbox, a_request_that_is_seen_again_while_under_way_is_passed_over) {
  engine_world world{row_of_two};
  for (int n = 0; n < 3; ++n) world.engine().start_from_inbox(asked(7, "order-1"));
  world.settle();
  EXPECT_EQ(world.next_write().starts.size(), 1U);
  world.commit_all();
  EXPECT_EQ(world.stored_sagas(), 1U);
}

TEST(engine_inbox, one_that_can_never_start_is_taken_off_and_a_person_is_told_what_it_was) {
  engine_world world{row_of_two};
  auto wrong = asked(7, "order-1");
  wrong.input = "{";
  world.engine().start_from_inbox(wrong);
  world.settle();
  EXPECT_THAT(world.next_write().taken, ElementsAre(7U));
  ASSERT_EQ(world.next_write().alerts.size(), 1U);
  EXPECT_EQ(world.next_write().alerts[0].kind, "start refused: 7") << "each request is told of by itself";
  EXPECT_THAT(world.next_write().alerts[0].text, HasSubstr("its input: {"));
}

// A crash between the refusal and the word of it must find the request where it was.
TEST(engine_inbox, one_that_the_store_refuses_leaves_with_the_alert_that_says_so) {
  engine_world world{row_of_two};
  auto bad = asked(7, "order-1");
  bad.input = R"({"what":"poison"})";
  world.engine().start_from_inbox(bad);
  world.settle();
  EXPECT_THAT(world.next_write().taken, ElementsAre(7U));
  world.commit();
  EXPECT_EQ(world.stored_sagas(), 0U);
  ASSERT_EQ(world.writes(), 1U);
  EXPECT_THAT(world.next_write().taken, ::testing::Contains(7U));
  ASSERT_EQ(world.next_write().alerts.size(), 1U);
  EXPECT_EQ(world.next_write().alerts[0].kind, "start refused: 7");
}

TEST(engine_inbox, one_whose_definition_is_not_published_yet_waits_for_it) {
  engine_world world{row_of_two};
  auto const look = [&] {
    world.engine().start_from_inbox(asked(7, "order-1", "local"));
    world.settle();
    while (world.reads() > 0) world.read();
    world.commit_all();
  };
  look();
  look();  // the store hands it out at every look
  EXPECT_EQ(world.stored_sagas(), 0U);
  auto const alerts = world.alerts_of(saga_id{});
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_THAT(alerts[0].text, HasSubstr("no definition 'local' is published"));
  world.publish(local_two);
  look();
  EXPECT_EQ(world.stored_sagas(), 1U);
}

TEST(engine_inbox, a_repeat_that_the_definition_would_refuse_now_is_done_with) {
  engine_world world{sequence_of(1)};
  world.engine().start_from_inbox(asked(7, "order-1"));
  world.settle();
  world.commit_all();
  auto stricter = sequence_of(1, "input: {type: object, required: [amount]}\n");
  stricter.replace(stricter.find("version: 1"), 10, "version: 2");
  world.publish(stricter);
  world.engine().start_from_inbox(asked(8, "order-1"));
  world.settle();
  while (world.reads() > 0) world.read();
  ASSERT_EQ(world.writes(), 1U);
  EXPECT_THAT(world.next_write().taken, ElementsAre(8U));
}

TEST(engine_inbox, a_definition_published_while_the_answer_was_on_its_way_is_not_missed) {
  engine_world world{row_of_two};
  world.engine().start_from_inbox(asked(7, "order-1", "local"));
  world.settle();
  ASSERT_EQ(world.reads(), 1U);  // whether the key is held
  world.publish(local_two);
  world.read();
  world.engine().start_from_inbox(asked(7, "order-1", "local"));
  world.settle();
  world.commit_all();
  EXPECT_EQ(world.stored_sagas(), 1U);
}

TEST(engine_inbox, one_that_this_coordinator_cannot_start_now_stays) {
  runtime::engine_settings settings;
  settings.open_max = 0;
  engine_world world{row_of_two, settings};
  world.engine().start_from_inbox(asked(7, "order-1"));
  world.settle();
  EXPECT_EQ(world.writes(), 0U);
}

// ---- stop ----

TEST(engine_stop, is_quiet_only_when_the_last_answer_is_durable) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  bool quiet = false;
  world.engine().stop([&] { quiet = true; });
  world.settle();
  EXPECT_FALSE(quiet);
  world.answer(id, "s1", done_with());
  EXPECT_FALSE(quiet);
  world.commit();
  EXPECT_TRUE(quiet);
}

TEST(engine_stop, sends_nothing_new_and_the_next_start_does) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.engine().stop([] {});
  world.succeed(id, "s1");
  EXPECT_THAT(world.under_way(id), IsEmpty());
  world.crash();
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("s2"));
}

TEST(engine_stop, hands_out_no_suspects) {
  engine_world world{local_two};
  std::vector<saga_id> all;
  for (int n = 0; n < 10; ++n) all.push_back(world.begun());
  world.crash();
  world.commit_all();
  bool quiet = false;
  world.engine().stop([&] { quiet = true; });
  auto const sent = world.sent();
  for (auto const id : all) {
    if (!world.under_way(id).empty()) world.succeed(id, "one");
  }
  EXPECT_EQ(world.sent(), sent);
  EXPECT_TRUE(quiet);
}

TEST(engine_stop, refuses_starts_and_actions) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.engine().stop([] {});
  EXPECT_EQ(world.start().code(), errc::unavailable);
  EXPECT_EQ(world.act(operator_request::action_kind::cancel, id).code(), errc::unavailable);
  EXPECT_FALSE(world.engine().figures().writable);
}

TEST(engine_stop, with_nothing_out_is_quiet_at_once) {
  engine_world world{row_of_two};
  bool quiet = false;
  world.engine().stop([&] { quiet = true; });
  world.settle();
  EXPECT_TRUE(quiet);
}

}  // namespace
}  // namespace atone::test
