// Taking over: what was under way goes out again under the same keys; what can't be replayed is parked alone.
#include <gmock/gmock.h>

#include "../machine/definitions.hpp"
#include "engine_definitions.hpp"
#include "engine_world.hpp"

namespace atone::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using kind = event_kind;

std::string const row_of_two = sequence_of(2);

TEST(engine_takeover, a_call_goes_out_again_with_its_key_and_its_attempt) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.crash();
  world.commit_all();
  ASSERT_EQ(world.sent(), 2U);
  EXPECT_EQ(world.call(1).what.saga, id);
  EXPECT_EQ(world.call(1).what.key, world.call(0).what.key);
  EXPECT_EQ(world.call(1).what.n, attempt{1});
  EXPECT_GT(world.call(1).what.epoch, world.call(0).what.epoch);
}

// The first sending may have been done: what the second one did not do does not take that doubt away.
TEST(engine_takeover, a_refusal_of_the_second_sending_is_not_a_certain_no) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.crash();
  world.commit_all();
  world.refuse(id, "s1");
  EXPECT_THAT(world.under_way(id), ElementsAre("s1")) << "its compensation";
  EXPECT_EQ(world.call(2).what.op, operation::compensate);
}

TEST(engine_takeover, an_answer_to_the_dead_process_is_asked_for_again) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.answer(id, "s1", done_with());  // gathered, not committed
  world.crash();
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("s1"));
  world.succeed(id, "s1");
  world.succeed(id, "s2");
  EXPECT_EQ(world.stored(id).status, saga_status::completed);
}

TEST(engine_takeover, a_pending_compensation_is_sent_again) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.succeed(id, "s1");
  world.refuse(id, "s2");
  world.crash();
  world.commit_all();
  EXPECT_EQ(world.call(world.sent() - 1).what.op, operation::compensate);
  world.succeed(id, "s1", operation::compensate);
  EXPECT_EQ(world.stored(id).status, saga_status::compensated);
}

TEST(engine_takeover, a_compensation_that_the_log_calls_a_success_is_not_sent_again) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.succeed(id, "s1");
  world.refuse(id, "s2");
  auto const sent = world.sent();
  world.crash([](open_saga& found) {
    ASSERT_EQ(found.compensations.size(), 1U);
    found.compensations[0].status = compensation_status::success;
  });
  world.commit_all();
  EXPECT_EQ(world.sent(), sent);
  EXPECT_EQ(world.stored(id).status, saga_status::compensated);
}

TEST(engine_takeover, a_due_timer_fires_at_once) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.answer(id, "s1", failed_with(certainty::not_done));
  world.commit_all();
  ASSERT_TRUE(world.alarm().has_value());
  EXPECT_THAT(world.under_way(id), IsEmpty());
  world.take_time(std::chrono::seconds{1});  // due while nobody drives
  world.crash();
  world.commit_all();
  ASSERT_TRUE(world.alarm().has_value());
  EXPECT_LE(*world.alarm(), world.now());
  world.wake();
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("s1"));
}

// Its timeout passed while nobody was there: acting on it in the same breath would race with the call.
TEST(engine_takeover, what_is_sent_again_has_the_time_of_one_attempt) {
  engine_world world{brief};
  auto const id = world.begun();
  world.succeed(id, "first");
  world.take_time(std::chrono::seconds{30});  // `second` may take ten
  world.crash();
  world.commit_all();
  world.pass(std::chrono::seconds{2});
  world.commit_all();
  EXPECT_THAT(world.under_way(id), ElementsAre("second"));
  world.succeed(id, "second");
  EXPECT_EQ(world.stored(id).status, saga_status::completed);
}

TEST(engine_takeover, a_timer_that_is_not_due_keeps_its_moment) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.answer(id, "s1", failed_with(certainty::not_done));
  world.commit_all();
  auto const due = world.alarm();
  world.crash();
  world.commit_all();
  EXPECT_EQ(world.alarm(), due);
  EXPECT_THAT(world.under_way(id), IsEmpty());
}

TEST(engine_takeover, a_parked_saga_stays_parked_and_sends_nothing) {
  engine_world world{row_of_two};
  auto const id = world.begun();
  world.answer(id, "s1", done_with(R"("poison")"));
  world.commit_all();
  auto const sent = world.sent();
  world.crash();
  world.commit_all();
  EXPECT_EQ(world.sent(), sent);
  EXPECT_EQ(world.stored(id).status, saga_status::parked);
  EXPECT_TRUE(world.wait(id).fine());
}

TEST(engine_takeover, an_end_whose_row_was_late_is_written_and_forgotten) {
  engine_world world{sequence_of(1)};
  auto const id = world.begun();
  world.crash([](open_saga& found) {
    event done;
    done.kind = kind::step_succeeded;
    done.seq = sequence{2};
    done.step = step_path{"s1"};
    done.op = operation::act;
    done.n = attempt{1};
    done.payload = "null";
    found.events.push_back(done);
  });
  world.commit_all();
  EXPECT_EQ(world.stored(id).status, saga_status::completed);
  EXPECT_EQ(world.engine().figures().open, 0U);
}

}  // namespace
}  // namespace atone::test
