// Starts: told only when durable, one saga a key, and everything that can be wrong found before anything is written.
#include <gmock/gmock.h>

#include "../machine/definitions.hpp"
#include "engine_world.hpp"

namespace atone::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string const row_of_two = sequence_of(2);

TEST(engine_start, is_told_only_when_its_batch_is_durable) {
  engine_world world{row_of_two};
  auto const heard = world.start("order-1");
  EXPECT_FALSE(heard.heard());
  EXPECT_EQ(world.writes(), 1U);
  world.commit();
  ASSERT_TRUE(heard.fine());
  EXPECT_FALSE(heard.value().replayed);
  EXPECT_EQ(world.stored(heard.value().id).status, saga_status::running);
}

TEST(engine_start, its_first_command_leaves_only_after_the_commit) {
  engine_world world{row_of_two};
  auto const heard = world.start();
  EXPECT_EQ(world.sent(), 0U);
  world.make_durable();
  EXPECT_EQ(world.sent(), 0U);
  world.commit();
  ASSERT_EQ(world.sent(), 1U);
  EXPECT_EQ(world.call(0).what.step.text(), "s1");
  EXPECT_EQ(world.call(0).what.key, trace_id::of(heard.value().id, step_path{"s1"}, operation::act));
}

TEST(engine_start, a_crash_before_the_commit_leaves_nothing_and_nobody_was_told) {
  engine_world world{row_of_two};
  auto const heard = world.start("order-1");
  world.crash();
  EXPECT_FALSE(heard.heard());
  EXPECT_EQ(world.stored_sagas(), 0U);
  EXPECT_EQ(world.sent(), 0U);
}

TEST(engine_start, a_crash_between_the_commit_and_its_answer_loses_no_saga) {
  engine_world world{row_of_two};
  auto const lost = world.start("order-1");
  world.make_durable();
  world.crash();
  EXPECT_FALSE(lost.heard());
  world.commit_all();
  EXPECT_EQ(world.sent(), 1U);
  auto const again = world.start("order-1");
  world.commit_all();
  ASSERT_TRUE(again.fine());
  EXPECT_TRUE(again.value().replayed);
  EXPECT_EQ(world.stored_sagas(), 1U);
}

TEST(engine_start, the_same_key_twice_in_one_batch_is_one_saga) {
  engine_world world{row_of_two};
  auto const other = world.start("another");  // in flight, while the next two gather
  auto const first = world.start("order-1", R"({"n": 1})");
  auto const second = world.start("order-1", R"({"n": 1})");
  world.commit_all();
  ASSERT_TRUE(other.fine() && first.fine() && second.fine());
  EXPECT_EQ(second.value().id, first.value().id);
  EXPECT_TRUE(second.value().replayed);
  EXPECT_EQ(world.stored_sagas(), 2U);
  EXPECT_THAT(world.under_way(first.value().id), ElementsAre("s1"));
}

TEST(engine_start, the_same_key_later_is_the_same_saga_while_it_runs_and_after_its_end) {
  engine_world world{sequence_of(1)};
  auto const id = world.begun("order-1");
  EXPECT_EQ(world.begun("order-1"), id);
  world.succeed(id, "s1");
  ASSERT_EQ(world.stored(id).status, saga_status::completed);
  EXPECT_EQ(world.begun("order-1"), id);
  EXPECT_EQ(world.stored_sagas(), 1U);
  EXPECT_EQ(world.sent(), 1U);
}

TEST(engine_start, the_same_key_with_another_input_is_a_conflict) {
  engine_world world{row_of_two};
  auto const id = world.begun("order-1", R"({"n": 1})");
  auto const other = world.start("order-1", R"({"n": 2})");
  world.commit_all();
  ASSERT_TRUE(other.heard());
  EXPECT_EQ(other.code(), errc::conflict);
  EXPECT_THAT(other.message(), HasSubstr(id.text()));
  EXPECT_EQ(world.stored_sagas(), 1U);
  EXPECT_EQ(world.engine().figures().open, 1U);
}

TEST(engine_start, the_same_input_in_other_words_is_the_same_input) {
  engine_world world{row_of_two};
  auto const id = world.begun("order-1", R"({"a": 1, "b": "x"})");
  EXPECT_EQ(world.begun("order-1", R"({ "b":"\u0078", "a":1 })"), id);
}

TEST(engine_start, without_a_key_each_start_is_a_saga) {
  engine_world world{row_of_two};
  EXPECT_NE(world.begun(), world.begun());
  EXPECT_EQ(world.stored_sagas(), 2U);
}

TEST(engine_start, what_is_wrong_is_found_before_anything_is_written) {
  engine_world world{"input: {type: object, required: [n]}\n" + row_of_two};
  auto const not_json = world.start("a", "{");
  auto const does_not_fit = world.start("b", "{}");
  while (world.reads() > 0) world.read();  // whether somebody holds the key
  EXPECT_EQ(not_json.code(), errc::invalid_argument);
  EXPECT_EQ(does_not_fit.code(), errc::invalid_argument);
  EXPECT_EQ(world.writes(), 0U);
  EXPECT_EQ(world.engine().figures().open, 0U);
}

TEST(engine_start, an_unknown_definition_or_version_is_not_found) {
  engine_world world{row_of_two};
  start_request what;
  what.saga = "row";
  what.version = definition_version{7};
  told<started> version;
  told<started> name;
  world.engine().start(what, version.callback());
  what.saga = "column";
  world.engine().start(what, name.callback());
  world.settle();
  EXPECT_EQ(version.code(), errc::not_found);
  EXPECT_EQ(name.code(), errc::not_found);
  EXPECT_EQ(world.writes(), 0U);
}

TEST(engine_start, above_the_limit_of_open_sagas_it_is_refused_until_one_ends) {
  runtime::engine_settings settings;
  settings.open_max = 2;
  engine_world world{sequence_of(1), settings};
  auto const first = world.begun();
  world.begun();
  EXPECT_EQ(world.start().code(), errc::exhausted);
  world.succeed(first, "s1");
  world.begun();
}

TEST(engine_start, above_the_limit_of_waiting_records_it_is_refused_until_they_are_written) {
  runtime::engine_settings settings;
  settings.queue_max = journal_batch::records_max + 10;  // more than one batch may hold
  engine_world world{row_of_two, settings};
  world.start();  // in flight
  for (std::size_t n = 0; n < settings.queue_max; ++n) ASSERT_FALSE(world.start().heard()) << n;
  auto const refused = world.start();
  ASSERT_TRUE(refused.heard());
  EXPECT_EQ(refused.code(), errc::exhausted);
  EXPECT_THAT(refused.message(), HasSubstr("records"));
  EXPECT_EQ(world.engine().figures().queue, settings.queue_max + 1);
  world.commit();
  world.commit();
  EXPECT_FALSE(world.start().heard());
}

TEST(engine_start, the_newest_version_is_taken_and_an_older_one_on_request) {
  engine_world world{row_of_two};
  auto newer = row_of_two;
  newer.replace(newer.find("version: 1"), 10, "version: 2");
  world.publish(newer);
  auto const newest = world.begun();
  start_request what;
  what.saga = "row";
  what.version = definition_version{1};
  told<started> older;
  world.engine().start(what, older.callback());
  world.settle();
  world.commit_all();
  EXPECT_EQ(world.stored(newest).definition.version, definition_version{2});
  EXPECT_EQ(world.stored(older.value().id).definition.version, definition_version{1});
}

// B-04: the client lost its answer; a stricter version has been published since.
TEST(engine_start, a_repeat_is_answered_by_its_saga_whatever_the_definition_is_now) {
  engine_world world{sequence_of(1)};
  auto const id = world.begun("order-1");
  auto stricter = sequence_of(1, "input: {type: object, required: [amount]}\n");
  stricter.replace(stricter.find("version: 1"), 10, "version: 2");
  world.publish(stricter);
  auto const again = world.start("order-1");
  while (world.reads() > 0) world.read();
  ASSERT_TRUE(again.fine()) << again.message();
  EXPECT_EQ(again.value().id, id);
  EXPECT_TRUE(again.value().replayed);
  auto const another = world.start("order-2");
  while (world.reads() > 0) world.read();
  EXPECT_EQ(another.code(), errc::invalid_argument);
}

}  // namespace
}  // namespace atone::test
