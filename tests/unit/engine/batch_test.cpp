// Group commit: while one batch is in flight the next gathers, never two at once, and each event's commands follow its own commit.
#include <gmock/gmock.h>

#include "../machine/definitions.hpp"
#include "engine_world.hpp"

namespace atone::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string const row_of_two = sequence_of(2);

TEST(engine_batch, gathers_while_one_is_in_flight) {
  engine_world world{row_of_two};
  world.start();
  for (int n = 0; n < 5; ++n) world.start();
  ASSERT_EQ(world.writes(), 1U);
  EXPECT_EQ(world.next_write().records.size(), 1U);
  world.commit();
  ASSERT_EQ(world.writes(), 1U);
  EXPECT_EQ(world.next_write().records.size(), 5U);
  EXPECT_EQ(world.next_write().starts.size(), 5U);
  EXPECT_EQ(world.sent(), 1U);
  world.commit();
  EXPECT_EQ(world.sent(), 6U);
  EXPECT_EQ(world.engine().figures().commits, 2U);
}

// The world's writer fails the test when a second batch comes before the first is answered.
TEST(engine_batch, two_are_never_in_flight) {
  engine_world world{row_of_two};
  std::vector<told<started>> sagas;
  for (int n = 0; n < 20; ++n) sagas.push_back(world.start());
  world.commit_all();
  for (auto const& one : sagas) {
    world.answer(one.value().id, "s1", done_with());
    EXPECT_EQ(world.writes(), 1U);
  }
  while (world.writes() > 0) world.commit();
  EXPECT_EQ(world.sent(), 40U);
}

TEST(engine_batch, does_not_wait_for_others_to_come) {
  engine_world world{row_of_two};
  world.start();
  EXPECT_EQ(world.writes(), 1U);  // at the end of the same turn, no timer
  EXPECT_FALSE(world.alarm().has_value());
}

TEST(engine_batch, holds_no_more_records_than_a_transaction_may) {
  engine_world world{row_of_two};
  world.start();
  for (std::size_t n = 0; n < journal_batch::records_max + 7; ++n) world.start();
  world.commit();
  EXPECT_EQ(world.next_write().records.size(), journal_batch::records_max);
  world.commit();
  EXPECT_EQ(world.next_write().records.size(), 7U);
  world.commit();
  EXPECT_EQ(world.writes(), 0U);
  EXPECT_EQ(world.stored_sagas(), journal_batch::records_max + 8);
}

TEST(engine_batch, the_next_call_waits_for_the_commit_of_the_answer_before) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.answer(id, "s1", done_with());
  EXPECT_THAT(world.under_way(id), IsEmpty());
  world.make_durable();
  EXPECT_THAT(world.under_way(id), IsEmpty());
  world.commit();
  EXPECT_THAT(world.under_way(id), ElementsAre("s2"));
}

TEST(engine_batch, a_compensation_is_logged_as_pending_in_the_batch_that_decides_it) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.succeed(id, "s1");
  world.answer(id, "s2", refused_with("no"));
  ASSERT_EQ(world.next_write().compensations.size(), 1U);
  EXPECT_EQ(world.next_write().compensations[0].status, compensation_status::pending);
  EXPECT_EQ(world.next_write().compensations[0].step.text(), "s1");
  EXPECT_THAT(world.under_way(id), IsEmpty());
  world.commit();
  EXPECT_THAT(world.under_way(id), ElementsAre("s1"));
}

TEST(engine_batch, the_row_is_written_when_the_status_changes_and_not_at_each_event) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.answer(id, "s1", done_with());
  EXPECT_THAT(world.next_write().changes, IsEmpty());
  world.commit();
  world.answer(id, "s2", done_with());
  ASSERT_EQ(world.next_write().changes.size(), 1U);
  EXPECT_EQ(world.next_write().changes[0].row.status, saga_status::completed);
}

TEST(engine_batch, nothing_to_write_is_no_commit) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  auto const commits = world.engine().figures().commits;
  EXPECT_TRUE(world.view(id).fine());
  EXPECT_EQ(world.writes(), 0U);
  EXPECT_EQ(world.engine().figures().commits, commits);
  EXPECT_TRUE(world.engine().idle());
}

TEST(engine_batch, its_payloads_are_kept_byte_for_byte) {
  engine_world world{row_of_two};
  std::string const odd = R"({ "n": 9007199254740993, "e": 1E400, "z": -0 })";
  auto const id = world.begun("k", odd);
  EXPECT_EQ((*world.reader().history(id)).at(0).payload, odd);
}

}  // namespace
}  // namespace atone::test
