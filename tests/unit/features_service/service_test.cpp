// The feature service: what is published, repeated, superseded, undone; and what a restart finds.
#include <algorithm>
#include <future>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/bytes.hpp"
#include "service/log.hpp"
#include "service/step_record.hpp"
#include "support.hpp"

namespace atone::features_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

raw_row bought(std::int64_t user, std::string const& id, std::int64_t time, std::int64_t cents, std::string const& product = "tea") {
  return {user, id, time * second, cents, product};
}

class features_service : public service_test {
 protected:
  // As a disk or memory that gives other bits: the last record again with another hash.
  void damage_the_newest_version() const {
    std::uint64_t last = 0;
    std::string entry;
    auto log = commit_log::open(folder.path() + "/data", {}, [&](std::uint64_t number, std::string_view payload) -> result<void> {
      last = number;
      entry = payload;
      return {};
    });
    ASSERT_TRUE(log) << log.error().message;
    byte_reader from{entry};
    from.number<std::uint8_t>();
    auto record = read_record(from.text());
    ASSERT_TRUE(record && record->is_version());
    record->key = record->origin = "";
    ++record->version.number;
    record->version.hash = content_hash::of("other bits");
    std::string bytes = entry.substr(0, 1);
    put_text(bytes, bytes_of(*record));
    ASSERT_TRUE(log->append(last + 1, bytes));
  }
  // Options of a service for ask_together(): while something is with the disk, requests gather.
  feature_service_options gathering() {
    auto made = options();
    made.batch_wait = std::chrono::minutes{1};
    return made;
  }
  // The answers of one batch.
  std::vector<std::string> ask_together(std::vector<recompute_request> const& wishes) {
    auto const syncs = gate.arrived();
    gate.close();
    service->async_append(table_of(*set, {bought(99, "batch " + std::to_string(syncs), 1, 1)}), [](auto const&) {});
    gate.await(syncs + 1);
    std::vector<std::promise<std::string>> told(wishes.size());
    for (std::size_t which = 0; which < wishes.size(); ++which) {
      service->async_recompute(wishes[which], [&told, which](result<recompute_answer> made) {
        told[which].set_value(made ? to_json(*made) : made.error().message);
      });
    }
    auto const batches = service->figures().batches;
    gate.open();
    std::vector<std::string> answers;
    for (auto& one : told) answers.push_back(one.get_future().get());
    EXPECT_LE(service->figures().batches, batches + 1);
    return answers;
  }
};

TEST_F(features_service, publishes_under_numbers_that_rise) {
  open();
  must_append({bought(7, "a", 1, 150), bought(7, "b", 5, 50, "milk"), bought(8, "c", 5, 1)});
  auto const first = service->recompute(wish("s1", "7", 4 * second));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->version.number, 1U);
  EXPECT_EQ(first->version.newest_event, at(1 * second));
  EXPECT_EQ(first->version.json,
            R"({"as_of":"1970-01-01T00:00:04.000000Z","windows":{"10s":{"n":1},"ever":{"n":1,"spent":1.50,"kinds":1,"newest":["tea"]}}})");
  EXPECT_EQ(first->version.hash, content_hash::of(first->version.json));
  EXPECT_THAT(recompute(wish("s2", "7", 6 * second)),
              AllOf(HasSubstr(R"("outcome":"published","version":2,)"), HasSubstr(R"("spent":2.00)")));
  EXPECT_THAT(recompute(wish("s3", "8", 6 * second)), HasSubstr(R"("version":1,)"));
  now = 103 * second;
  auto const is = served();
  EXPECT_EQ(is.version.number, 2U);
  EXPECT_EQ(is.age, duration{3 * second});
  EXPECT_FALSE(is.stale);
  EXPECT_EQ(service->read("9").error().code, errc::not_found);
}

TEST_F(features_service, an_entity_without_events_has_the_features_of_nobody) {
  open();
  EXPECT_THAT(recompute(wish("s", "7", second)), HasSubstr(R"("n":0,"spent":0.00,"kinds":0,"newest":[])"));
  EXPECT_THAT(recompute(wish("t", "no number", second)), HasSubstr("expected an integer"));
}

TEST_F(features_service, the_same_key_gets_the_same_bytes_after_other_events_and_a_restart_too) {
  open();
  must_append({bought(7, "a", 1, 150)});
  auto const answer = recompute(wish("s1", "7", 9 * second));
  must_append({bought(7, "b", 2, 1)});
  now = 200 * second;
  EXPECT_EQ(recompute(wish("s1", "7", 9 * second)), answer);
  recompute(wish("s2", "7", 10 * second));
  auto const older = recompute(wish("s3", "7", 5 * second));
  EXPECT_THAT(older, HasSubstr("superseded"));
  open();
  EXPECT_EQ(recompute(wish("s1", "7", 9 * second)), answer);
  EXPECT_EQ(recompute(wish("s3", "7", 5 * second)), older);
  EXPECT_EQ(service->figures().repeated, 2U);
  EXPECT_EQ(served().version.number, 2U) << "nothing was published by repeats";
}

TEST_F(features_service, one_entity_has_one_name) {
  open();
  must_append({bought(7, "a", 1, 150)});
  recompute(wish("s1", "7", 2 * second));
  EXPECT_THAT(recompute(wish("s2", "007", 3 * second)), HasSubstr(R"("entity":"7","outcome":"published","version":2,)"));
}

TEST_F(features_service, an_older_input_is_superseded_by_what_stands) {
  open();
  must_append({bought(7, "a", 1, 150)});
  auto newer = wish("s2", "7", 2 * second);
  newer.input = 12;
  recompute(newer);
  auto older = wish("s1", "7", 3 * second);
  older.input = 11;
  EXPECT_THAT(recompute(older), HasSubstr(R"("outcome":"superseded","version":1,"input":12)"));
  auto same_input_before = wish("s3", "7", 1 * second);
  same_input_before.input = 12;
  EXPECT_THAT(recompute(same_input_before), HasSubstr("superseded"));
  auto same_input = wish("s4", "7", 2 * second);
  same_input.input = 12;
  EXPECT_THAT(recompute(same_input), HasSubstr(R"("outcome":"published","version":2)"));
}

TEST_F(features_service, a_number_from_above_is_taken_when_it_is_above_the_last) {
  open();
  auto numbered = wish("s1", "7", second);
  numbered.number = 40;
  EXPECT_THAT(recompute(numbered), HasSubstr(R"("version":40)"));
  numbered.key = "s2";
  EXPECT_THAT(recompute(numbered), HasSubstr("superseded"));
  EXPECT_THAT(recompute(wish("s3", "7", second)), HasSubstr(R"("version":41)"));
}

TEST_F(features_service, a_number_that_can_not_be_one_is_refused_and_the_largest_leaves_room_above) {
  open();
  auto numbered = wish("s1", "7", 2 * second);
  for (auto const bad : {std::uint64_t{0}, std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max()}) {
    numbered.number = bad;
    auto const made = service->recompute(numbered);
    ASSERT_FALSE(made) << bad;
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    EXPECT_THAT(made.error().message, HasSubstr("expected 1 to 9223372036854775807"));
  }
  EXPECT_FALSE(service->read("7"));
  numbered.number = (std::uint64_t{1} << 63) - 1;
  EXPECT_TRUE(service->recompute(numbered));
  EXPECT_THAT(recompute(wish("s2", "7", 3 * second)), HasSubstr(R"("version":9223372036854775808)"));
  EXPECT_THAT(republish("s2"), HasSubstr(R"("version":9223372036854775809)"));
  open();
  EXPECT_EQ(served().version.number, 9223372036854775809U);
}

TEST_F(features_service, an_undo_publishes_the_version_before_under_a_new_number) {
  open();
  must_append({bought(7, "a", 1, 150)});
  recompute(wish("s1", "7", 2 * second));
  auto const before = served().version;
  must_append({bought(7, "b", 3, 50)});
  recompute(wish("s2", "7", 4 * second));
  auto const undone = republish("s2");
  EXPECT_THAT(undone, HasSubstr(R"("outcome":"republished","version":3,)"));
  auto const is = served();
  EXPECT_EQ(is.version.number, 3U);
  EXPECT_EQ(is.version.json, before.json);
  EXPECT_EQ(is.version.tag, version_tag::to_be_updated);
  EXPECT_TRUE(is.stale);
  EXPECT_EQ(republish("s2"), undone) << "once, whatever comes again";
  open();
  EXPECT_EQ(republish("s2"), undone);
  EXPECT_THAT(recompute(wish("s2", "7", 4 * second)), HasSubstr("has been undone"));
  EXPECT_EQ(served().version.number, 3U);
  EXPECT_THAT(recompute(wish("s3", "7", 3 * second)), HasSubstr(R"("outcome":"published","version":4)"))
      << "what was undone is no newer input any more";
}

TEST_F(features_service, undos_in_any_order_come_to_the_version_before_all_of_them) {
  for (bool const newest_first : {true, false}) {
    std::filesystem::remove_all(folder.path() + "/data");
    open();
    must_append({bought(7, "a", 1, 150)});
    recompute(wish("s0", "7", 1 * second));
    auto const before = served().version.json;
    recompute(wish("s1", "7", 2 * second));
    recompute(wish("s2", "7", 3 * second));
    republish(newest_first ? "s2" : "s1");
    republish(newest_first ? "s1" : "s2");
    EXPECT_EQ(served().version.json, before);
    EXPECT_EQ(served().version.number, 5U);
    service.reset();
  }
}

TEST_F(features_service, undoing_the_first_version_gives_the_features_of_nobody) {
  open();
  must_append({bought(7, "a", 1, 150)});
  recompute(wish("s1", "7", 2 * second));
  republish("s1");
  EXPECT_THAT(served().version.json, HasSubstr(R"("n":0)"));
  EXPECT_THAT(recompute(wish("s2", "7", 1 * second)), HasSubstr(R"("outcome":"published","version":3)"));
}

TEST_F(features_service, an_undo_before_its_recompute_does_no_harm_and_the_late_recompute_is_refused) {
  open();
  must_append({bought(7, "a", 1, 150)});
  recompute(wish("s1", "7", 2 * second));
  auto const answer = republish("s2");
  EXPECT_EQ(answer, R"({"entity":"7","outcome":"nothing","version":0,"features":null})");
  EXPECT_EQ(served().version.number, 1U);
  EXPECT_FALSE(served().stale);
  auto const late = service->recompute(wish("s2", "7", 3 * second));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, errc::conflict);
  open();
  EXPECT_EQ(republish("s2"), answer);
  EXPECT_FALSE(service->recompute(wish("s2", "7", 3 * second)));
}

TEST_F(features_service, what_came_after_a_version_makes_it_stale_and_catching_up_mends_it) {
  open();
  must_append({bought(7, "a", 1, 150), bought(8, "b", 1, 1)});
  auto first = wish("s1", "7", 2 * second);
  first.input = 5;
  recompute(first);
  EXPECT_EQ(service->figures().stale, 0U);
  must_append({bought(7, "c", 4, 50), bought(8, "d", 4, 1)});
  EXPECT_TRUE(served().stale);
  EXPECT_EQ(service->figures().stale, 1U) << "nobody asked for 8";
  open();
  EXPECT_TRUE(served().stale) << "over a restart too";
  EXPECT_EQ(service->catch_up(), 1U);
  recompute(wish("other", "8", second));  // behind it
  EXPECT_EQ(served().version.number, 2U);
  EXPECT_EQ(served().version.input, 5) << "whoever numbers inputs goes on from there";
  EXPECT_THAT(served().version.json, HasSubstr(R"("spent":2.00)"));
  EXPECT_FALSE(served().stale);
  EXPECT_EQ(service->catch_up(), 1U) << "8, published from an older moment than its newest event: nothing else";
}

TEST_F(features_service, an_event_that_lies_in_the_future_is_not_caught_up_with_again_and_again) {
  open();
  must_append({bought(7, "a", 1, 150), bought(7, "z", 500, 1)});
  recompute(wish("s1", "7", 2 * second));
  EXPECT_TRUE(served().stale);
  EXPECT_EQ(service->catch_up(), 0U);
  now = 500 * second;
  EXPECT_EQ(service->catch_up(), 1U);
  recompute(wish("other", "8", second));  // behind it
  EXPECT_THAT(served().version.json, HasSubstr(R"("spent":1.51)"));
}

TEST_F(features_service, catching_up_takes_no_turn_from_who_asks_and_counts_what_it_began) {
  auto with = options();
  with.waiting_max = 16;
  with.batch_requests = 1;
  with.bytes_waiting = 1;
  std::atomic<std::int64_t> ticks{0};
  with.now = [&] { return at(100 * second + ++ticks); };
  open(with);
  for (int entity = 0; entity < 5; ++entity) recompute(wish("s" + std::to_string(entity), std::to_string(entity), second));
  for (int entity = 0; entity < 5; ++entity) must_append({bought(entity, "late", 1, 1)});
  EXPECT_EQ(service->figures().stale, 5U);
  auto const counted = service->figures().recomputes;
  gate.close();
  for (int at = 0; at < 3; ++at) service->async_recompute(wish("", "9", (at + 1) * second), [](auto const&) {});
  while (service->figures().recomputes < counted + 3) std::this_thread::yield();  // then the worker waits for the disk
  EXPECT_EQ(service->catch_up(), 2U) << "an eighth of the queue";
  EXPECT_EQ(service->catch_up(), 0U) << "what was begun comes first";
  std::promise<result<recompute_answer>> told;
  service->async_recompute(wish("asked", "8", second), [&](result<recompute_answer> made) { told.set_value(std::move(made)); });
  gate.open();
  auto const asked = told.get_future().get();
  ASSERT_TRUE(asked);
  while (service->figures().stale > 3) std::this_thread::yield();
  ASSERT_TRUE(service->rewrite());  // all of it is durable
  int mended = 0;
  for (int entity = 0; entity < 5; ++entity) {
    auto const is = served(std::to_string(entity));
    if (is.stale) continue;
    ++mended;
    EXPECT_GT(is.version.published_at, asked->version.published_at) << "whoever asks comes first";
  }
  EXPECT_EQ(mended, 2);
}

TEST_F(features_service, a_key_belongs_to_one_entity) {
  open();
  recompute(wish("s1", "7", 2 * second));
  auto const other = service->recompute(wish("s1", "8", 2 * second));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, errc::conflict);
}

TEST_F(features_service, an_undo_for_another_entity_than_the_keys_is_refused) {
  open();
  recompute(wish("s1", "7", second));
  EXPECT_THAT(republish("s1", "8"), HasSubstr("was used for entity '7' before"));
  EXPECT_EQ(served().version.number, 1U);
  EXPECT_THAT(republish("s1", "007"), HasSubstr(R"("outcome":"republished")")) << "one entity, another spelling";
  EXPECT_THAT(republish("s1", "8"), HasSubstr("was used for entity '7' before"));
  EXPECT_THAT(republish("early", "9"), HasSubstr(R"("outcome":"nothing")"));
  EXPECT_THAT(republish("early", "8"), HasSubstr("was used for entity '9' before"));
}

// As one batch apart: the second entity never gets the first one's features as its own.
TEST_F(features_service, a_key_belongs_to_one_entity_within_a_batch_too) {
  open(gathering());
  recompute(wish("first", "7", 9 * second));
  auto const answers = ask_together({wish("a", "7", 10 * second), wish("a", "8", 10 * second), wish("b", "7", 2 * second),
                                     wish("b", "8", 2 * second), wish("b", "007", 2 * second)});
  EXPECT_THAT(answers[0], HasSubstr(R"("entity":"7","outcome":"published")"));
  EXPECT_EQ(answers[1], "key a was used for entity '7' before");
  EXPECT_THAT(answers[2], HasSubstr(R"("entity":"7","outcome":"superseded")"));
  EXPECT_EQ(answers[3], "key b was used for entity '7' before");
  EXPECT_EQ(answers[4], answers[2]);
  EXPECT_FALSE(service->read("8"));
}

TEST_F(features_service, another_set_of_the_same_columns_makes_every_version_stale) {
  open();
  must_append({bought(7, "a", 1, 150)});
  recompute(wish("s1", "7", 2 * second));
  set = set_of(
      "feature_set: shop\nversion: 2\nentity: user\nevent_id: id\nevent_time: at\ncolumns: {user: integer, id: text, at: timestamp, "
      "amount: "
      "{type: decimal, scale: 2}, product: text}\nwindows: {ever: {since: epoch}}\nfeatures: {mean: {mean: amount, over: [ever]}}\n");
  open();
  EXPECT_TRUE(served().stale);
  service->catch_up();
  recompute(wish("s2", "7", 3 * second));
  EXPECT_THAT(served().version.json, HasSubstr(R"("mean":1.5)"));
}

TEST_F(features_service, events_of_other_columns_are_refused_with_both) {
  open();
  service.reset();
  set = shop_set(true);
  auto const made = feature_service::open(set, options());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::conflict);
  EXPECT_THAT(made.error().message, AllOf(HasSubstr("other columns"), HasSubstr("told timestamp")));
}

TEST_F(features_service, rows_come_in_once_and_all_or_none) {
  open();
  EXPECT_EQ(append({bought(7, "a", 1, 150), bought(7, "a", 1, 150), bought(7, "b", 2, 50)})->taken, 2U);
  auto const again = append({bought(7, "a", 1, 150), bought(7, "c", 3, 1)});
  EXPECT_EQ(again->taken, 1U);
  EXPECT_EQ(again->left_out.duplicates, 1U);
  auto const bad = append({bought(9, "x", 1, 1), bought(7, "b", 2, 51)});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, AllOf(HasSubstr("event 'b' came with two contents"), HasSubstr("entity 7")));
  EXPECT_EQ(service->figures().events, 3U) << "9's row did not come in either";
  raw_row nobody = bought(7, "z", 1, 1);
  nobody[0] = raw_value{};
  EXPECT_EQ(append({nobody})->left_out.without_entity, 1U);
  open();
  EXPECT_EQ(service->figures().events, 3U);
}

TEST_F(features_service, a_deadline_that_has_passed_leaves_nothing_done) {
  open();
  auto late = wish("s1", "7", second);
  late.deadline = at(99 * second);
  auto const made = service->recompute(late);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::unavailable);
  EXPECT_FALSE(service->read("7"));
  late.deadline = at(100 * second);
  EXPECT_TRUE(service->recompute(late));
}

TEST_F(features_service, requests_that_wait_together_are_computed_once_an_entity_from_the_newest_input) {
  open();
  must_append({bought(7, "a", 1, 150), bought(8, "b", 1, 1)});
  auto const syncs = gate.arrived();
  gate.close();
  std::promise<std::string> told[6];
  auto const ask = [&](std::size_t which, recompute_request what) {
    service->async_recompute(std::move(what), [&told, which](result<recompute_answer> made) {
      told[which].set_value(made ? to_json(*made) : made.error().message);
    });
  };
  ask(0, wish("s0", "8", 2 * second));
  gate.await(syncs + 1);  // the first is with the disk: the others gather
  ask(1, wish("s1", "7", 3 * second));
  ask(2, wish("s2", "7", 9 * second));
  ask(3, wish("s3", "7", 5 * second));
  ask(4, wish("s2", "7", 9 * second));
  ask(5, wish("s4", "8", 5 * second));
  gate.open();
  std::vector<std::string> answers;
  for (auto& one : told) answers.push_back(one.get_future().get());
  auto const figures = service->figures();
  EXPECT_EQ(figures.recomputes, 5U);
  EXPECT_EQ(served().version.number + figures.coalesced, 3U) << "what was not computed together was published for itself";
  EXPECT_EQ(served().version.as_of, at(9 * second));
  EXPECT_THAT(answers[2], HasSubstr("published"));
  EXPECT_EQ(answers[4], answers[2]) << "one key, one answer";
  EXPECT_THAT(answers[3], HasSubstr(R"("as_of":"1970-01-01T00:00:09.000000Z")")) << answers[3];
  EXPECT_THAT(answers[5], HasSubstr(R"("version":2)"));
  EXPECT_EQ(recompute(wish("s3", "7", 5 * second)), answers[3]);
}

TEST_F(features_service, nothing_is_served_or_told_before_it_is_durable) {
  open();
  recompute(wish("s0", "7", second));
  auto const syncs = gate.arrived();
  gate.close();
  std::promise<void> told;
  std::atomic<bool> is_told{false};
  service->async_recompute(wish("s1", "7", 2 * second), [&](auto const&) {
    is_told = true;
    told.set_value();
  });
  gate.await(syncs + 1);
  EXPECT_FALSE(is_told);
  EXPECT_EQ(served().version.number, 1U);
  gate.open();
  told.get_future().wait();
  EXPECT_EQ(served().version.number, 2U);
}

TEST_F(features_service, after_a_failed_sync_it_refuses_until_it_is_opened_anew) {
  open();
  recompute(wish("s0", "7", second));
  gate.fail();
  EXPECT_EQ(service->recompute(wish("s1", "7", 2 * second)).error().code, errc::outcome_unknown);
  auto const syncs = gate.arrived();
  EXPECT_EQ(service->recompute(wish("s1", "7", 2 * second)).error().code, errc::unavailable);
  EXPECT_EQ(append({bought(7, "a", 1, 150)}).error().code, errc::unavailable);
  EXPECT_EQ(service->republish("s0", "7").error().code, errc::unavailable);
  EXPECT_EQ(gate.arrived(), syncs) << "a sync is never repeated";
  EXPECT_FALSE(service->figures().writable);
  EXPECT_EQ(served().version.number, 1U) << "what is durable is served on";
  auto with = options();
  with.sync = {};
  open(with);
  EXPECT_TRUE(service->recompute(wish("s1", "7", 2 * second)));
}

TEST_F(features_service, an_opening_that_can_not_make_durable_what_it_read_tells_nothing) {
  open();
  recompute(wish("s1", "7", 2 * second));
  service.reset();
  auto with = options();
  with.sync = [](int descriptor) { return std::filesystem::is_directory("/proc/self/fd/" + std::to_string(descriptor)) ? 0 : EIO; };
  auto const made = feature_service::open(set, with);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::unavailable);
}

TEST_F(features_service, after_a_rewriting_whose_name_may_not_last_it_takes_nothing) {
  auto with = options();
  std::atomic<bool> broken{false};
  with.sync = [&broken](int descriptor) {
    return broken && std::filesystem::is_directory("/proc/self/fd/" + std::to_string(descriptor)) ? EIO : 0;
  };
  open(with);
  recompute(wish("s1", "7", 2 * second));
  broken = true;
  EXPECT_FALSE(service->rewrite());
  EXPECT_FALSE(service->figures().writable);
  EXPECT_EQ(append({bought(7, "a", 1, 150)}).error().code, errc::unavailable);
  EXPECT_EQ(service->recompute(wish("s1", "7", 2 * second)).error().code, errc::unavailable) << "not even a repeat is told as durable";
  service.reset();
}

// The log as it stands after each byte of a life is what a crash may leave.
TEST_F(features_service, a_crash_after_any_byte_leaves_whole_versions_that_rise_and_keys_that_hold) {
  open();
  must_append({bought(7, "a", 1, 150)});
  std::vector<std::string> answers;
  for (std::int64_t n = 0; n < 3; ++n) {
    answers.push_back(recompute(wish("s" + std::to_string(n), "7", (n + 2) * second)));
    must_append({bought(7, "b" + std::to_string(n), n + 2, 10)});
  }
  answers.push_back(republish("s2"));
  auto const path = service->path();
  service.reset();
  auto const whole = read_file(path);
  auto with = options();
  with.sync = [](int) { return 0; };
  for (std::size_t size = 0; size <= whole.size(); size += size + 40 < whole.size() ? 7 : 1) {
    scratch_folder other;
    write_file(other.file("features.log"), whole.substr(0, size));
    with.folder = other.path();
    open(with);
    auto const is = service->read("7");
    auto const number = is ? is->version.number : 0;
    for (std::uint64_t n = 0; n < 3; ++n) {
      bool const undone = number == 4 && n == 2;
      auto const again = recompute(wish("s" + std::to_string(n), "7", static_cast<std::int64_t>(n + 2) * second));
      if (undone) {
        EXPECT_THAT(again, HasSubstr("has been undone"));
      } else if (n < number) {
        EXPECT_EQ(again, answers[n]) << size;
      } else {
        EXPECT_THAT(again, HasSubstr(R"("outcome":"published","version":)" + std::to_string(n + 1))) << size;
      }
    }
    republish("s2");
    EXPECT_EQ(served().version.number, 4U) << size;
    service.reset();
  }
}

TEST_F(features_service, the_same_input_with_other_features_is_an_alert_never_silent) {
  set = shop_set(true);
  open();
  auto row = bought(7, "a", 1, 150);
  row.emplace_back(1 * second);
  must_append({row});
  auto pinned = wish("s1", "7", 2 * second);
  pinned.known_at = at(2 * second);
  recompute(pinned);
  pinned.key = "s2";
  recompute(pinned);
  EXPECT_THAT(alerts(), IsEmpty()) << "the same bits";
  auto backfilled = bought(7, "b", 1, 1);
  backfilled.emplace_back(1 * second);  // comes now and says that it was known long ago
  must_append({backfilled});
  pinned.key = "s3";
  recompute(pinned);
  EXPECT_THAT(alerts(), IsEmpty()) << "other events, other features";
  service.reset();
  damage_the_newest_version();
  open();
  pinned.key = "s4";
  recompute(pinned);
  EXPECT_THAT(alerts(), ElementsAre(HasSubstr("the same input gave other features")));
  EXPECT_EQ(service->figures().differences, 1U);
}

TEST_F(features_service, what_becomes_known_later_makes_a_version_stale_when_its_time_has_come) {
  set = shop_set(true);
  open();
  auto later = bought(7, "a", 1, 150);
  later.emplace_back(200 * second);
  must_append({later});
  EXPECT_THAT(recompute(wish("s1", "7", 2 * second)), HasSubstr(R"("n":0)"));
  EXPECT_FALSE(served().stale);
  EXPECT_EQ(service->catch_up(), 0U);
  open();
  now = 200 * second;
  EXPECT_TRUE(served().stale);
  EXPECT_EQ(service->figures().stale, 1U);
  EXPECT_EQ(service->catch_up(), 1U);
  recompute(wish("s2", "8", 2 * second));
  EXPECT_THAT(served().version.json, HasSubstr(R"("n":1)"));
  EXPECT_FALSE(served().stale);
  EXPECT_EQ(service->catch_up(), 0U);
  EXPECT_THAT(alerts(), IsEmpty());
}

TEST_F(features_service, B73_a_saga_run_again_after_a_backfill_gets_the_same_bytes) {
  set = shop_set(true);
  open();
  auto const row = [](std::int64_t cents, std::int64_t known) {
    auto made = bought(7, "1", 1, cents);
    made.emplace_back(known * second);
    return made;
  };
  must_append({row(1000, 1)});
  auto const pinned = [](std::string key, std::int64_t known) {
    auto made = wish(std::move(key), "7", known * second);
    made.known_at = at(known * second);
    return made;
  };
  auto const first = service->recompute(pinned("saga", 3));
  EXPECT_THAT(first->version.json, HasSubstr(R"("spent":10.00)"));
  must_append({row(2000, 5)});
  EXPECT_THAT(recompute(pinned("later", 6)), HasSubstr(R"("spent":20.00)"));
  EXPECT_EQ(recompute(pinned("saga", 3)), to_json(*first)) << "its key has its answer";
  open();
  republish("later");
  EXPECT_EQ(service->recompute(pinned("the same input for another saga", 3))->version.hash, first->version.hash);
  EXPECT_THAT(alerts(), IsEmpty());
}

TEST_F(features_service, B74_a_column_of_nulls_null_keys_and_an_empty_batch_come_in) {
  open();
  auto nulls = bought(7, "a", 1, 0);
  nulls[3] = nulls[4] = raw_value{};
  raw_row keyless = bought(0, "b", 1, 1);
  keyless[0] = raw_value{};
  must_append({});
  EXPECT_EQ(append({nulls, keyless})->left_out.without_entity, 1U);
  EXPECT_THAT(recompute(wish("s1", "7", 2 * second)), HasSubstr(R"("n":1,"spent":0.00,"kinds":0,"newest":[])"));
  must_append({bought(7, "c", 3, 150)});
  open();
  EXPECT_THAT(recompute(wish("s2", "7", 4 * second)), HasSubstr(R"("n":2,"spent":1.50,"kinds":1,"newest":["tea"])"));
}

TEST_F(features_service, freshness_is_the_age_of_the_newest_event_applied_and_its_alarm_is_told_once) {
  open();
  EXPECT_EQ(service->figures().freshness, std::nullopt);
  must_append({bought(7, "a", 90, 150), bought(8, "b", 99, 1)});
  recompute(wish("s1", "7", 99 * second));
  EXPECT_EQ(service->figures().freshness, duration{10 * second}) << "8's event is not applied";
  now = 390 * second;
  service->look_after();
  EXPECT_THAT(alerts(), IsEmpty());
  now = 391 * second;
  service->look_after();
  service->look_after();
  EXPECT_THAT(alerts(), ElementsAre(HasSubstr("features are stale: the newest event in a published version is 301s old")));
  must_append({bought(7, "c", 390, 150)});
  recompute(wish("s2", "7", 391 * second));
  service->look_after();
  EXPECT_THAT(alerts(), ElementsAre(HasSubstr("stale"), HasSubstr("fresh again")));
  now = 400 * second;
  open();
  EXPECT_EQ(service->figures().freshness, duration{10 * second}) << "over a restart";
}

TEST_F(features_service, an_event_of_the_future_does_not_make_features_fresh_for_ever) {
  open();
  must_append({bought(7, "a", 1'000'000, 150)});
  recompute(wish("s1", "7", 2'000'000 * second));
  EXPECT_EQ(service->figures().freshness, duration{0});
  now = 401 * second;
  open();
  service->look_after();
  EXPECT_EQ(service->figures().freshness, duration{301 * second});
  EXPECT_THAT(alerts(), ElementsAre(HasSubstr("features are stale")));
}

// Each answer asks for the next recompute: the queue is never empty for as long as it takes to look.
TEST_F(features_service, freshness_is_looked_at_while_requests_keep_coming) {
  auto with = options();
  with.sync = [](int) { return 0; };
  with.look_every = std::chrono::milliseconds{100};
  with.rewrite_above = std::uint64_t{1} << 40;  // requests wait for a rewriting
  std::promise<std::string> told;
  std::atomic<bool> is_told{false};
  with.alert = [&](std::string const& words) {
    if (!is_told.exchange(true)) told.set_value(words);
  };
  open(with);
  must_append({bought(7, "a", 1, 150)});
  recompute(wish("s1", "7", 50 * second));
  now = 500 * second;
  std::atomic<int> asked{0};
  std::function<void()> ask = [&] {
    if (!is_told) service->async_recompute(wish("s" + std::to_string(++asked), "7", 51 * second), [&](auto const&) { ask(); });
  };
  for (int at = 0; at < 8; ++at) ask();
  auto words = told.get_future();
  bool const is_in_time = words.wait_for(std::chrono::seconds{10}) == std::future_status::ready;
  is_told = true;  // nobody asks any more
  auto const batches = service->figures().batches;
  service.reset();
  ASSERT_TRUE(is_in_time);
  EXPECT_THAT(words.get(), HasSubstr("features are stale"));
  EXPECT_GT(batches, 1U);
}

// A batch as large as one likes is frames that are no larger than others.
TEST_F(features_service, a_batch_of_large_versions_is_written_in_parts) {
  open(gathering());
  auto const product = std::string(std::size_t{1} << 20, 'p');
  must_append({bought(7, "a", 1, 150, product)});
  std::vector<recompute_request> wishes;
  for (int at = 0; at < 12; ++at) wishes.push_back(wish("s" + std::to_string(at), "7", (20 - at) * second));
  auto const commits = service->figures().commits;
  auto const answers = ask_together(wishes);
  EXPECT_GE(service->figures().commits, commits + 3) << "12 MiB, some 4 a frame";
  for (auto const& one : answers) EXPECT_THAT(one, HasSubstr(R"("version":1,)"));
  auto const path = service->path();
  service.reset();
  auto const whole = read_file(path);
  auto with = options();
  with.sync = [](int) { return 0; };
  for (auto const part : {7, 9, 11, 13}) {
    scratch_folder other;
    write_file(other.file("features.log"), whole.substr(0, whole.size() * part / 14));
    with.folder = other.path();
    open(with);
    auto const made = service->recompute(wishes.back());
    ASSERT_TRUE(made);
    EXPECT_TRUE(service->read("7")) << "no answer without its version";
    EXPECT_EQ(made->version.number, 1U);
    service.reset();
  }
}

TEST_F(features_service, what_is_too_large_for_a_frame_is_refused_and_leaves_nothing) {
  auto with = options();
  with.sync = [](int) { return 0; };
  open(with);
  must_append({bought(7, "a", 1, 150, std::string((std::size_t{64} << 20) + 1, 'p'))});
  EXPECT_THAT(recompute(wish("s1", "7", 2 * second)), HasSubstr("expected at most 67108864"));
  EXPECT_THAT(recompute(wish(std::string((std::size_t{1} << 20) + 1, 'k'), "7", 0)), HasSubstr("expected at most 1048576"));
  EXPECT_FALSE(service->read("7"));
  EXPECT_TRUE(service->recompute(wish("s1", "7", 0)));
}

TEST_F(features_service, recomputes_wait_while_too_much_waits_for_the_disk) {
  auto with = options();
  with.bytes_waiting = 4000;
  with.batch_requests = 1;
  with.waiting_max = 5;
  open(with);
  auto const syncs = gate.arrived();
  gate.close();
  std::vector<std::promise<errc>> told(20'000);
  std::atomic<int> refused{0};
  for (std::size_t asked = 0; asked < told.size(); ++asked) {
    auto const what = wish("s" + std::to_string(asked), "7", static_cast<std::int64_t>(asked) * second);
    service->async_recompute(what, [&told, &refused, asked](result<recompute_answer> made) {
      if (!made) ++refused;
      told[asked].set_value(made ? errc{} : made.error().code);
    });
    if (asked == 0) gate.await(syncs + 1);
    std::this_thread::yield();
  }
  EXPECT_GT(refused, 20'000 - 30) << "the queue fills, and what waits behind the disk is bounded";
  gate.open();
  int published = 0;
  for (auto& one : told) {
    auto const code = one.get_future().get();
    published += code == errc{} ? 1 : 0;
    EXPECT_TRUE(code == errc{} || code == errc::exhausted);
  }
  EXPECT_EQ(published + refused, 20'000);
}

// What a clock throws stands for memory that ends in the midst of a batch.
TEST_F(features_service, a_batch_that_throws_answers_everybody_and_the_service_goes_on) {
  auto with = gathering();
  std::atomic<int> left{-1};
  with.now = [&] {
    if (left == 0) throw std::bad_alloc{};
    if (left > 0) --left;
    return at(now.load());
  };
  open(with);
  recompute(wish("undone", "7", second));
  // Once each when it is admitted, once each when it is published.
  for (int calls = 0; calls <= 6; ++calls) {
    std::vector<recompute_request> wishes;
    for (int at = 0; at < 3; ++at)
      wishes.push_back(wish("s" + std::to_string(calls) + std::to_string(at), std::to_string(at), (calls * 10 + 10) * second));
    left = calls;
    auto const answers = ask_together(wishes);
    left = -1;
    bool const is_whole = calls == 6;
    for (auto const& one : answers) EXPECT_EQ(one == "out of memory", !is_whole) << calls << ": " << one;
  }
  left = 0;
  EXPECT_EQ(republish("undone"), "out of memory");
  left = -1;
  EXPECT_THAT(republish("undone"), HasSubstr("republished"));
  EXPECT_THAT(alerts(), testing::Each(HasSubstr("came to no end")));
}

TEST_F(features_service, written_anew_it_keeps_events_newest_versions_and_young_answers) {
  auto with = options();
  with.versions_kept = 2;
  with.answers_kept = std::chrono::seconds{50};
  open(with);
  must_append({bought(7, "a", 1, 150), bought(8, "b", 1, 1)});
  for (std::int64_t n = 0; n < 5; ++n) recompute(wish("old" + std::to_string(n), "7", (n + 2) * second));
  auto const kept = recompute(wish("old4", "7", 6 * second));
  republish("undone before");
  now = 200 * second;
  auto const young = recompute(wish("young", "8", 2 * second));
  auto const before = service->figures().log_bytes;
  ASSERT_TRUE(service->rewrite());
  EXPECT_LT(service->figures().log_bytes, before);
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_EQ(recompute(wish("young", "8", 2 * second)), young);
    EXPECT_EQ(recompute(wish("old4", "7", 6 * second)), kept) << "it is one of the newest two";
    EXPECT_EQ(service->figures().events, 2U);
    EXPECT_EQ(served().version.number, 5U + static_cast<std::uint64_t>(opened));
    auto const forgotten = "old" + std::to_string(opened);
    EXPECT_THAT(recompute(wish(forgotten, "7", 6 * second)), HasSubstr(R"("outcome":"published","version":)" + std::to_string(6 + opened)));
    open(with);
  }
  EXPECT_THAT(recompute(wish("undone before", "7", 8 * second)), HasSubstr("published")) << "what undid it was too old to be kept";
}

// Its version may be a year old: the key has the age of the answer.
TEST_F(features_service, a_young_answer_of_an_old_version_is_kept) {
  auto with = options();
  with.versions_kept = 1;
  with.answers_kept = std::chrono::seconds{50};
  open(with);
  recompute(wish("old", "7", 9 * second));
  now = 200 * second;
  auto const young = recompute(wish("young", "7", 8 * second));
  EXPECT_THAT(young, HasSubstr("superseded"));
  recompute(wish("newer", "7", 10 * second));
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(service->rewrite());
    EXPECT_EQ(recompute(wish("young", "7", 8 * second)), young);
    open(with);
  }
  now = 300 * second;
  ASSERT_TRUE(service->rewrite());
  EXPECT_THAT(recompute(wish("young", "7", 11 * second)), HasSubstr("published")) << "now it is old";
}

TEST_F(features_service, the_log_does_not_grow_for_ever) {
  auto with = options();
  with.sync = [](int) { return 0; };
  with.rewrite_above = 20'000;
  with.answers_kept = std::chrono::seconds{5};
  open(with);
  must_append({bought(7, "a", 1, 150)});
  std::uint64_t most = 0;
  for (std::int64_t n = 0; n < 2000; ++n) {
    now = now + second;
    recompute(wish("s" + std::to_string(n), "7", (n + 2) * second));
    most = std::max(most, service->figures().log_bytes);
  }
  EXPECT_LT(most, 60'000U) << "2000 versions of some 400 bytes";
  open(with);
  EXPECT_EQ(served().version.number, 2000U);
}

TEST_F(features_service, a_stop_answers_who_waits) {
  open();
  auto const syncs = gate.arrived();
  gate.close();
  std::promise<std::string> first;
  std::promise<std::string> second_one;
  auto const into = [](std::promise<std::string>& to) {
    return [&to](result<recompute_answer> made) { to.set_value(made ? "answered" : made.error().message); };
  };
  service->async_recompute(wish("s1", "7", second), into(first));
  gate.await(syncs + 1);
  std::thread stopping{[this] { service->stop(); }};
  gate.open();
  stopping.join();
  EXPECT_EQ(first.get_future().get(), "answered");
  service->async_recompute(wish("s2", "7", second), into(second_one));
  EXPECT_THAT(second_one.get_future().get(), HasSubstr("stopped"));
  EXPECT_FALSE(append({bought(7, "a", 1, 150)}));
  EXPECT_FALSE(service->rewrite());
}

TEST_F(features_service, a_folder_is_one_services) {
  open();
  auto const second_one = feature_service::open(set, options());
  ASSERT_FALSE(second_one);
  EXPECT_EQ(second_one.error().code, errc::conflict);
  auto without_clock = options();
  without_clock.now = {};
  EXPECT_EQ(feature_service::open(set, without_clock).error().code, errc::invalid_argument);
}

// Keys, entities, appends, undos and reads from several threads at once: each key has one answer, versions only rise.
TEST_F(features_service, many_threads_at_once_keep_every_promise) {
  auto with = options();
  with.sync = [](int) { return 0; };
  with.look_every = std::chrono::milliseconds{1};
  with.rewrite_above = 50'000;
  open(with);
  constexpr int threads = 4;
  constexpr int rounds = 150;
  std::mutex guard;
  std::map<std::string, std::string> answers;
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] {
      std::uint64_t seen = 0;
      for (int n = 0; n < rounds; ++n) {
        auto const name = std::to_string(thread) + "-" + std::to_string(n);
        EXPECT_TRUE(append({bought(n % 5, name, n, 100)}));
        auto const key = "k" + std::to_string(n);  // the same of all threads
        auto const answer = recompute(wish(key, std::to_string(n % 5), n * second));
        if (n % 7 == 0) republish("u" + name, std::to_string(n % 5));
        if (auto const is = service->read("3")) {
          EXPECT_GE(is->version.number, seen);
          seen = is->version.number;
        }
        if (n % 40 == 0) service->catch_up();
        std::lock_guard const held{guard};
        EXPECT_EQ(answers.emplace(key, answer).first->second, answer);
      }
    });
  }
  for (auto& one : all) one.join();
  auto const figures = service->figures();
  EXPECT_EQ(figures.events, static_cast<std::uint64_t>(threads * rounds));
  EXPECT_EQ(figures.repeated, static_cast<std::uint64_t>((threads - 1) * rounds)) << "repeats in one batch are counted too";
  open(with);
  for (auto const& [key, answer] : answers) {
    auto const n = std::stoi(key.substr(1));
    EXPECT_EQ(recompute(wish(key, std::to_string(n % 5), n * second)), answer);
  }
}

}  // namespace
}  // namespace atone::features_test
