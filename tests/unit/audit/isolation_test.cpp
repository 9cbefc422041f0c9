// What sagas of one key saw of each other: forbidden under a lock, told without one. And that every event names its cause, and that an
// audit goes on where an earlier one stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/load.hpp>

#include "audit_script.hpp"

namespace atone::audit::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

definition_ptr tied_by(std::string const& tie) {
  auto const loaded = load_definition("saga: tied\nversion: 1\n" + tie + R"(
services: {orders: {http: "http://127.0.0.1:1"}, profiles: {http: "http://127.0.0.1:2"}}
steps:
  - id: order
    call: orders POST /order
    in: {}
    compensate: {call: orders POST /undo, in: {}}
  - id: look
    when: =input.user > 100
    call: profiles GET /look
    in: {}
    read_only: true
)");
  ATONE_ASSERT(loaded.ok());
  return loaded.definition;
}
definition_ptr const locked = tied_by("lock: =input.user");
definition_ptr const sharded = tied_by("shard_key: =input.user");

timestamp at(int milliseconds) {
  return timestamp{} + std::chrono::milliseconds{milliseconds};
}

// A saga of the user, at work from `begin` until `end`.
script at_work(definition_ptr const& of, std::uint8_t number, int begin, int end, saga_status as = saga_status::completed, int user = 5) {
  script made{as, number};
  auto& facts = made.facts();
  facts.definition = of;
  facts.row.definition = of->ref;
  facts.events.front().payload = "{\"user\": " + std::to_string(user) + "}";
  facts.events.front().at = of->lock ? timestamp{} : at(begin);
  event granted;
  granted.kind = event_kind::lock_granted;
  granted.at = at(begin);
  if (of->lock) made.journal(granted);
  made.succeeded("order").applied("orders", "order", operation::act);
  if (as == saga_status::compensated) {
    event refused;
    refused.kind = event_kind::cancel_requested;
    made.journal(refused).succeeded("order", operation::compensate).applied("orders", "order", operation::compensate);
  }
  facts.events.back().at = at(end);
  return made;
}

report judged(std::vector<script> sagas) {
  auditor by{{"orders", "profiles"}};
  for (auto const& each : sagas) {
    for (auto const& one : each.effects()) ATONE_ASSERT(by.add(one).has_value());
  }
  for (auto& each : sagas) by.judge(each.facts());
  return by.finish();
}

TEST(isolation, sagas_that_take_turns_are_apart) {
  auto const found = judged({at_work(locked, 1, 0, 1000), at_work(locked, 2, 1000, 2000), at_work(locked, 3, 2000, 3000)});
  EXPECT_EQ(found.verdict(), verdict::proven);
  EXPECT_EQ(found.isolation.keys, 1U);
  EXPECT_EQ(found.isolation.sagas, 3U);
  EXPECT_EQ(found.isolation.beside, 0U);
}

TEST(isolation, two_that_have_one_lock_at_once_are_a_violation) {
  auto const found = judged({at_work(locked, 1, 0, 1000), at_work(locked, 2, 500, 2000)});
  EXPECT_EQ(found.violated, 1U);
  EXPECT_EQ(found.proven, 1U);
  EXPECT_EQ(only_finding(found), finding_kind::lock_broken);
  EXPECT_EQ(found.findings[0].saga, id_of(2));
  EXPECT_THAT(found.findings[0].text, HasSubstr("lock 5"));
  EXPECT_THAT(found.findings[0].text, HasSubstr(id_of(1).text()));
  EXPECT_EQ(exit_code(found), 1);
}

TEST(isolation, a_long_holder_is_seen_behind_a_short_one) {
  auto const found =
      judged({at_work(locked, 1, 0, 9000), at_work(locked, 2, 9500, 9600), at_work(locked, 3, 500, 700), at_work(locked, 4, 8000, 9950)});
  EXPECT_EQ(found.violated, 3U) << to_text(found);
}

TEST(isolation, times_of_two_nodes_may_differ_a_little) {
  EXPECT_EQ(judged({at_work(locked, 1, 0, 1000), at_work(locked, 2, 950, 2000)}).verdict(), verdict::proven);
}

TEST(isolation, one_that_ended_while_it_waited_has_had_no_lock) {
  script waited{saga_status::compensated, 2};
  waited.facts().definition = locked;
  waited.facts().row.definition = locked->ref;
  waited.facts().events.front().payload = R"({"user": 5})";
  event cancelled;
  cancelled.kind = event_kind::cancel_requested;
  cancelled.at = at(500);
  waited.journal(cancelled);
  auto const found = judged({at_work(locked, 1, 0, 1000), waited});
  EXPECT_EQ(found.verdict(), verdict::proven) << to_text(found);
  EXPECT_EQ(found.proven, 2U);
}

TEST(isolation, a_step_without_the_lock_is_a_violation) {
  auto hasty = at_work(locked, 1, 0, 1000);
  auto& events = hasty.facts().events;
  std::swap(events[1].kind, events[2].kind);
  std::swap(events[1].step, events[2].step);
  std::swap(events[1].op, events[2].op);
  auto const found = judged({hasty});
  EXPECT_EQ(only_finding(found), finding_kind::lock_broken);
  EXPECT_THAT(found.findings[0].text, HasSubstr("order began without the saga's lock"));
}

TEST(isolation, other_values_and_other_locks_do_not_meet) {
  auto const found =
      judged({at_work(locked, 1, 0, 1000), at_work(locked, 2, 0, 1000, saga_status::completed, 6), at_work(sharded, 3, 0, 1000)});
  EXPECT_EQ(found.verdict(), verdict::proven);
  EXPECT_EQ(found.isolation.keys, 3U);
  EXPECT_EQ(found.isolation.beside, 0U);
}

TEST(isolation, without_a_lock_it_is_allowed_and_told) {
  auto const found = judged({at_work(sharded, 1, 0, 1000, saga_status::compensated), at_work(sharded, 2, 500, 2000),
                             at_work(sharded, 3, 1500, 1600), at_work(sharded, 4, 5000, 6000)});
  EXPECT_EQ(found.verdict(), verdict::proven);
  EXPECT_EQ(found.isolation.beside, 2U);
  EXPECT_EQ(found.isolation.beside_undone, 1U);
  ASSERT_EQ(found.isolation.examples.size(), 2U);
  EXPECT_EQ(found.isolation.examples[0].saga, id_of(2)) << "beside an undone one: first";
  EXPECT_EQ(found.isolation.examples[0].beside, id_of(1));
  EXPECT_TRUE(found.isolation.examples[0].undone);
  EXPECT_THAT(to_text(found), HasSubstr("at work beside another of their key 2, of them beside one that was undone 1"));
  EXPECT_THAT(to_json(found), HasSubstr(R"("isolation":{"keys":1,"sagas":4,"beside":2,"beside_undone":1,"examples":[{"key":"5")"));
}

TEST(isolation, a_step_that_only_reads_leaves_nothing_to_see) {
  auto reader = at_work(sharded, 2, 500, 2000);
  auto& events = reader.facts().events;
  events[1].step = step_path{"look"};  // instead of the order
  script quiet{saga_status::completed, 2};
  quiet.facts() = reader.facts();
  auto const found = judged({at_work(sharded, 1, 0, 1000), quiet});
  EXPECT_EQ(found.isolation.beside, 0U);
}

TEST(audit_causes, every_event_names_an_earlier_one) {
  for (auto const bad : {0U, 3U, 9U}) {
    auto saga = completed();
    saga.facts().events[2].cause = sequence{bad};  // event 3
    auto const found = saga.judge();
    EXPECT_EQ(only_finding(found), finding_kind::cause_missing) << bad;
    EXPECT_EQ(found.violated, 1U);
    EXPECT_THAT(found.findings[0].text, HasSubstr("event 3 (step_succeeded)"));
  }
}

TEST(audit_that_goes_on, passes_over_what_was_judged_and_takes_up_what_was_open) {
  auditor by{{"orders", "profiles"}};
  by.judged_before(id_of(3), {id_of(2)});
  for (std::uint8_t number = 1; number <= 4; ++number) {
    auto const saga = completed(number);
    for (auto const& one : saga.effects()) ASSERT_TRUE(by.add(one).has_value());
  }
  auto open_then = completed(2);
  auto later = completed(4);
  EXPECT_EQ(by.judge(open_then.facts()), verdict::proven);
  EXPECT_EQ(by.judge(later.facts()), verdict::proven);
  auto const found = by.finish();
  EXPECT_EQ(found.proven, 2U);
  EXPECT_EQ(found.effects, 6U);
  EXPECT_EQ(found.orphans, 0U);
  EXPECT_EQ(exit_code(found), 0);
}

TEST(audit_that_goes_on, nothing_new_is_no_failure) {
  auditor by{{"orders"}};
  by.judged_before(id_of(3), {});
  auto const found = by.finish();
  EXPECT_EQ(exit_code(found), 0);
  EXPECT_THAT(to_text(found), HasSubstr("nothing new since the last audit"));
  EXPECT_THAT(found.findings, IsEmpty());
}

}  // namespace
}  // namespace atone::audit::test
