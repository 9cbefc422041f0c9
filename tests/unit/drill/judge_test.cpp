// What follows from what a drill saw: each way of failing is found, and what was not seen is no pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/json.hpp>

#include "drill/report.hpp"
#include "drill/tally.hpp"

namespace atone::drill {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

drill_report good() {
  drill_report made;
  made.name = "weekly";
  made.usual.add(10s, 1000);
  made.faults.emplace_back();
  auto& fault = made.faults.back();
  fault.text = "kill atoned";
  fault.kills = true;
  fault.times = 3;
  fault.recoveries = {700ms, 4s, 600ms};
  fault.gaps = {900ms, 3s, 200ms};
  made.sagas.accepted = 100;
  made.sagas.completed = 100;
  made.audit.emplace();
  made.audit->proven = 100;
  return made;
}

int code(drill_report const& of, demands const& must = {}) {
  return exit_code(verdict(judge(of, must)));
}

TEST(drill_judge, a_good_run_passes) {
  EXPECT_EQ(code(good()), 0);
  auto const text = to_text(good(), {});
  EXPECT_THAT(text, HasSubstr("recovery     kept           longest 4.00 s (kill atoned), of 3 faults; longest time without a saga that "
                              "ended 3.00 s; wanted: at most 5s"));
  EXPECT_THAT(text, HasSubstr("0 of 100 accepted sagas lost"));
  EXPECT_THAT(text, HasSubstr("0.70 s    4.00 s    3.00 s"));
  EXPECT_TRUE(text.ends_with("\npassed\n"));
}

TEST(drill_judge, slow_or_missing_recovery_is_a_violation) {
  auto slow = good();
  slow.faults[0].recoveries[1] = 5001ms;
  EXPECT_EQ(code(slow), 1);
  demands patient;
  patient.recover_within = 6s;
  EXPECT_EQ(code(slow, patient), 0);
  auto never = good();
  never.faults[0].unrecovered = 1;
  EXPECT_EQ(code(never, patient), 1);
}

TEST(drill_judge, what_is_left_out_is_told_and_is_no_pass_where_all_is_asked_for) {
  auto partly = good();
  partly.faults.emplace_back();
  partly.faults.back().text = "clock atoned +1h for 1s";
  partly.faults.back().left_out = "libfaketime is not there";
  EXPECT_EQ(code(partly), 0);
  EXPECT_THAT(to_text(partly, {}), HasSubstr("left out     kept           clock atoned +1h for 1s: libfaketime is not there"));
  EXPECT_THAT(to_text(partly, {}), Not(HasSubstr("never applied")));
  EXPECT_THAT(to_text(partly, {}), testing::EndsWith("\npassed, 1 fault left out\n"));
  EXPECT_THAT(to_text(good(), {}), testing::EndsWith("\npassed\n"));
  EXPECT_EQ(json::parse(to_json(partly, {}))->find("left_out")->as_int64(), 1);
  partly.must_be_whole = true;
  EXPECT_EQ(code(partly), 2);
}

TEST(drill_judge, whatever_is_lost_is_a_violation) {
  auto missing = good();
  missing.sagas.missing = 1;
  EXPECT_EQ(code(missing), 1);
  auto open = good();
  open.sagas.open = 1;
  EXPECT_EQ(code(open), 1);
  auto effects = good();
  effects.audit->violated = 1;
  EXPECT_EQ(code(effects), 1);
  effects.audit.reset();
  effects.sagas.missing = 1;
  EXPECT_EQ(code(effects), 1);
}

ledger_row row_of(std::string const& key, std::uint8_t id) {
  ledger_row made;
  made.key = key;
  made.id = saga_id{{id}};
  return made;
}
held_key stored(std::string const& key, std::uint8_t id) {
  held_key made;
  made.key = key;
  made.id = saga_id{{id}};
  return made;
}

TEST(drill_judge, one_saga_a_key_and_one_key_a_saga) {
  auto const doubled = [](std::vector<ledger_row> const& told, std::vector<held_key> const& held) {
    auto seen = good();
    add_doubled(told, held, seen.sagas);
    EXPECT_EQ(code(seen), seen.sagas.doubled == 0 ? 0 : 1);
    EXPECT_EQ(seen.sagas.doubled_keys.size(), seen.sagas.doubled);
    return seen.sagas.doubled;
  };
  std::vector<ledger_row> told{row_of("a", 1), row_of("b", 2)};
  EXPECT_EQ(doubled(told, {stored("b", 2), stored("a", 1)}), 0U);
  EXPECT_EQ(doubled(told, {stored("b", 2), stored("a", 1), stored("a", 3)}), 1U);
  EXPECT_EQ(doubled(told, {stored("b", 2), stored("a", 3)}), 1U);  // told of one, and another is there
  told[0].id = saga_id{};                                          // never answered, and accepted twice
  EXPECT_EQ(doubled(told, {stored("b", 2), stored("a", 1), stored("a", 3)}), 1U);
  EXPECT_EQ(doubled({row_of("a", 1), row_of("b", 1)}, {}), 1U);
}

TEST(drill_judge, a_start_that_nobody_answered_is_no_pass) {
  auto silent = good();
  silent.sagas.unanswered = 1;
  EXPECT_EQ(code(silent), 2);
  EXPECT_THAT(to_text(silent, {}),
              HasSubstr("lost         not checkable  0 of 100 accepted sagas lost, 0 not ended, 0 doubled, 1 start never answered"));
  EXPECT_THAT(to_text(silent, {}), HasSubstr("accepted 100   unanswered 1"));
  EXPECT_THAT(to_json(silent, {}), HasSubstr(R"("unanswered":1)"));
  silent.sagas.missing = 1;
  EXPECT_EQ(code(silent), 1);
}

TEST(drill_judge, parked_sagas_are_told_apart) {
  auto parked = good();
  parked.sagas.parked = 2;
  EXPECT_EQ(code(parked), 1);
  demands lenient;
  lenient.parked = 2;
  EXPECT_EQ(code(parked, lenient), 0);
  EXPECT_THAT(to_text(parked, lenient), HasSubstr("parked       kept           2 sagas; wanted: at most 2"));
}

TEST(drill_judge, processes_that_end_by_themselves_are_judged) {
  auto ended = good();
  ended.ended = {{"atoned", 2}, {"orders", 1}};
  EXPECT_EQ(code(ended), 1);
  demands lenient;
  lenient.ended_by_themselves = 3;
  EXPECT_EQ(code(ended, lenient), 0);
  EXPECT_THAT(to_text(ended, lenient),
              HasSubstr("processes    kept           3 ended by themselves (atoned 2, orders 1); wanted: at most 3"));
  EXPECT_THAT(to_json(ended, lenient), HasSubstr(R"("ended_by_themselves":{"atoned":2,"orders":1})"));
}

TEST(drill_judge, degradation_that_was_expected_must_be_there) {
  auto calm = good();
  calm.faults[0].expect.fallback = "features";
  calm.faults[0].expect.alert = "fallback";
  calm.faults[0].fell_back["features"] = 7;
  calm.faults[0].alerts["fallback"] = 7;
  EXPECT_EQ(code(calm), 0);
  EXPECT_THAT(to_text(calm, {}), HasSubstr("kill atoned: fallback of features 7 alert `fallback` 7"));
  calm.faults[0].alert_missed = 1;
  EXPECT_EQ(code(calm), 1);
}

TEST(drill_judge, a_fault_that_was_never_applied_is_listed_and_shows_nothing) {
  auto cut_short = good();
  cut_short.faults.emplace_back();
  cut_short.faults[1].text = "pause features for 6s";
  EXPECT_EQ(code(cut_short), 0);
  EXPECT_THAT(to_text(cut_short, {}), HasSubstr("  never applied: pause features for 6s\n"));
  cut_short.faults[1].expect.fallback = "features";
  EXPECT_EQ(code(cut_short), 2);
  EXPECT_THAT(to_text(cut_short, {}), HasSubstr("degradation  not checkable  pause features for 6s: never applied"));
}

TEST(drill_judge, a_proxys_fault_that_met_nobody_is_no_pass) {
  auto aside = good();
  aside.faults[0].text = "proxy orders reset for 1s";
  aside.faults[0].proxy = "orders";
  aside.faults[0].hits = 12;
  EXPECT_EQ(code(aside), 0);
  EXPECT_THAT(to_text(aside, {}), HasSubstr("the proxies' faults met 12 connections"));
  aside.faults[0].hit_nothing = 1;
  EXPECT_EQ(code(aside), 2);
  EXPECT_THAT(to_text(aside, {}), HasSubstr("nothing went through proxy orders, 1 of 3 times"));
  auto const parsed = json::parse(to_json(aside, {}));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->find("faults")->elements()[0].find("hits")->as_int64(), 12);
  EXPECT_EQ(parsed->find("faults")->elements()[0].find("hit_nothing")->as_int64(), 1);
}

TEST(drill_judge, a_clock_that_stayed_right_is_no_pass) {
  auto right = good();
  right.faults[0].text = "clock atoned +1h for 1s";
  right.faults[0].hit_nothing = 2;
  EXPECT_EQ(code(right), 2);
  EXPECT_THAT(to_text(right, {}),
              HasSubstr("clock atoned +1h for 1s: the process kept its clock: libfaketime was not in it at the end, 2 of 3 times"));
}

TEST(drill_judge, what_could_not_be_seen_is_no_pass) {
  auto unaudited = good();
  unaudited.audit.reset();
  EXPECT_EQ(code(unaudited), 2);
  auto nothing = good();
  nothing.audit->proven = 0;
  EXPECT_EQ(code(nothing), 2);
  auto interrupted = good();
  interrupted.interrupted = true;
  interrupted.sagas.open = 5;  // under way when it was interrupted: neither ended nor lost
  EXPECT_EQ(code(interrupted), 2);
  auto trouble = good();
  trouble.trouble = "process atoned ends again and again";
  EXPECT_EQ(code(trouble), 2);
  auto unmeasured = good();
  unmeasured.faults[0].recoveries.clear();
  EXPECT_EQ(code(unmeasured), 2);
}

TEST(drill_judge, json_says_the_same) {
  auto lost = good();
  lost.sagas.missing = 1;
  lost.sagas.missing_ids.push_back("01JDZ4M6GQ5V7Y8N2W3X4R5T6K");
  auto const parsed = json::parse(to_json(lost, {}));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->find("verdict")->as_string(), "violated");
  EXPECT_EQ(parsed->find("kills")->as_int64(), 3);
  EXPECT_EQ(parsed->find("sagas")->find("missing")->as_int64(), 1);
  EXPECT_EQ(parsed->find("faults")->elements()[0].find("recovery_longest_ms")->as_int64(), 4000);
  EXPECT_EQ(parsed->find("faults")->elements()[0].find("gap_longest_ms")->as_int64(), 3000);
  EXPECT_EQ(parsed->find("faults")->elements()[0].find("gap_median_ms")->as_int64(), 900);
  EXPECT_EQ(parsed->find("faults")->elements()[0].find("left_out")->as_string(), "");
}

}  // namespace
}  // namespace atone::drill
