// A commit that fails for good: nothing it held is acknowledged, nothing leaves any more, and whoever waits is told why.
#include <gmock/gmock.h>

#include "../machine/definitions.hpp"
#include "engine_world.hpp"

namespace atone::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string const row_of_two = sequence_of(2);

TEST(engine_fence, a_fenced_commit_stops_the_engine) {
  engine_world world{row_of_two};
  world.take_over_by_another();
  auto const heard = world.start();
  world.commit();
  EXPECT_EQ(heard.code(), errc::fenced);
  EXPECT_FALSE(world.engine().driving());
  EXPECT_FALSE(world.engine().figures().writable);
  EXPECT_EQ(world.stops(), 1U);
}

TEST(engine_fence, nothing_is_sent_afterwards) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  auto const before = world.sent();
  world.take_over_by_another();
  world.answer(id, "s1", done_with());
  world.commit();
  EXPECT_EQ(world.sent(), before);
  world.pass(std::chrono::hours{24 * 365});
  EXPECT_EQ(world.sent(), before);
  EXPECT_EQ(world.writes(), 0U);
  EXPECT_THAT(world.history(id), ElementsAre(event_kind::started));
}

TEST(engine_fence, no_answer_is_taken_afterwards) {
  engine_world world{row_of_two};
  auto const first = world.begun();
  auto const second = world.begun();
  world.take_over_by_another();
  world.answer(first, "s1", done_with());
  world.commit();
  EXPECT_THAT(world.under_way(second), IsEmpty()) << "its sender was halted";
  EXPECT_EQ(world.report(second, "s1", 1, done_with()).code(), errc::fenced);
  EXPECT_EQ(world.writes(), 0U);
}

TEST(engine_fence, starts_and_actions_are_refused_afterwards) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.take_over_by_another();
  world.start();
  world.commit();
  EXPECT_EQ(world.start().code(), errc::fenced);
  EXPECT_EQ(world.act(operator_request::action_kind::cancel, id).code(), errc::fenced);
}

TEST(engine_fence, what_had_gathered_meanwhile_is_told) {
  engine_world world{row_of_two};
  world.take_over_by_another();
  auto const in_flight = world.start();
  auto const gathered = world.start();
  world.commit();
  EXPECT_EQ(in_flight.code(), errc::fenced);
  EXPECT_EQ(gathered.code(), errc::fenced);
  EXPECT_EQ(world.writes(), 0U);
}

TEST(engine_fence, whoever_waits_for_a_saga_is_told) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  auto const waiting = world.wait(id);
  world.take_over_by_another();
  world.answer(id, "s1", done_with());
  auto const action = world.act(operator_request::action_kind::pause, id);
  world.commit();
  EXPECT_EQ(waiting.code(), errc::fenced);
  EXPECT_EQ(action.code(), errc::fenced);
}

TEST(engine_fence, a_broken_store_acknowledges_nothing_and_sends_nothing) {
  for (auto const code : {errc::corrupt, errc::internal, errc::unavailable}) {
    engine_world world{row_of_two};
    auto const heard = world.start("order-1");
    world.fail_write(code);
    EXPECT_EQ(heard.code(), code);
    EXPECT_EQ(world.sent(), 0U);
    EXPECT_FALSE(world.engine().driving());
    world.crash();
    EXPECT_EQ(world.stored_sagas(), 0U);
  }
}

TEST(engine_fence, what_the_old_one_did_not_write_the_new_one_asks_again) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.take_over_by_another();
  world.answer(id, "s1", done_with());
  world.commit();
  world.crash();
  world.commit_all();
  ASSERT_EQ(world.sent(), 2U);
  EXPECT_EQ(world.call(1).what.key, world.call(0).what.key);
  EXPECT_EQ(world.call(1).what.n, world.call(0).what.n);
  EXPECT_GT(world.call(1).what.epoch, world.call(0).what.epoch);
}

TEST(engine_fence, being_shut_tells_whoever_waits_and_is_no_news) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  auto const waiting = world.wait(id);
  world.engine().shut(error{errc::unavailable, "the house is closing"});
  EXPECT_EQ(waiting.code(), errc::unavailable);
  EXPECT_EQ(world.stops(), 0U);
}

}  // namespace
}  // namespace atone::test
