// Golden table of every stored enumeration: value and word. A line may be added; none may change.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <atone/event.hpp>
#include <atone/ids.hpp>
#include <atone/records.hpp>
#include <atone/result.hpp>

namespace atone {
namespace {

using table = std::vector<std::string>;

// "1 do" for each value that has a word.
template <class Enum>
table words() {
  constexpr int values_looked_at = 64;
  table found;
  for (int value = 0; value < values_looked_at; ++value) {
    auto const word = name(static_cast<Enum>(value));
    if (word != "unknown") found.push_back(std::to_string(value) + " " + std::string{word});
  }
  return found;
}

TEST(stored_words, operation) {
  EXPECT_EQ(words<operation>(),
            (table{"0 none", "1 do", "2 compensate", "3 try", "4 confirm", "5 cancel", "6 prepare", "7 commit", "8 abort", "9 fallback"}));
}

TEST(stored_words, event_kind) {
  EXPECT_EQ(words<event_kind>(),
            (table{"1 started", "2 step_succeeded", "3 step_refused", "4 attempt_failed", "5 timer_fired", "6 last_output_found",
                   "7 last_output_missing", "8 late_answer", "9 cancel_requested", "10 pause_requested", "11 resume_requested",
                   "12 operator_retry", "13 operator_skip", "14 operator_complete", "15 parked", "16 lock_granted"}));
  EXPECT_EQ(event_format, 1);
}

TEST(stored_words, certainty) {
  EXPECT_EQ(static_cast<int>(certainty::none), 0);
  EXPECT_EQ(static_cast<int>(certainty::not_done), 1);
  EXPECT_EQ(static_cast<int>(certainty::unknown), 2);
  EXPECT_EQ(name(certainty::none), "none");
  EXPECT_EQ(name(certainty::not_done), "not_done");
  EXPECT_EQ(name(certainty::unknown), "unknown");
}

TEST(stored_words, timer_kind) {
  EXPECT_EQ(words<timer_kind>(), (table{"0 none", "1 retry", "2 step_timeout", "3 deadline"}));
}

TEST(stored_words, saga_status) {
  EXPECT_EQ(words<saga_status>(),
            (table{"1 running", "2 compensating", "3 waiting", "4 paused", "5 completed", "6 compensated", "7 parked"}));
}

TEST(stored_words, compensation_status) {
  EXPECT_EQ(words<compensation_status>(), (table{"1 pending", "2 success", "3 failed", "4 skipped"}));
}

TEST(stored_words, alert_level) {
  EXPECT_EQ(words<alert_level>(), (table{"1 info", "2 warn", "3 page"}));
}

TEST(stored_words, error_codes) {
  EXPECT_EQ(words<errc>(), (table{"1 invalid argument", "2 not found", "3 conflict", "4 unavailable", "5 outcome unknown", "6 fenced",
                                  "7 bad data", "8 serialization conflict", "9 limit reached", "10 unsupported", "11 corrupt",
                                  "12 internal error", "13 statement failed", "14 driven elsewhere"}));
}

TEST(words_read_back, operation) {
  for (int value = 0; value <= 9; ++value) {
    auto const op = static_cast<operation>(value);
    EXPECT_EQ(parse_operation(name(op)), op);
  }
  EXPECT_FALSE(parse_operation("Do"));
  EXPECT_FALSE(parse_operation(""));
  EXPECT_FALSE(parse_operation("unknown"));
}

TEST(words_read_back, saga_status) {
  for (int value = 1; value <= 7; ++value) {
    auto const status = static_cast<saga_status>(value);
    EXPECT_EQ(parse_saga_status(name(status)), status);
    EXPECT_EQ(is_final(status), status == saga_status::completed || status == saga_status::compensated);
  }
  EXPECT_FALSE(parse_saga_status("done"));
}

TEST(errors, which_are_worth_another_try) {
  for (int value = 1; value <= 13; ++value) {
    auto const code = static_cast<errc>(value);
    bool const again = code == errc::unavailable || code == errc::outcome_unknown || code == errc::serialization;
    EXPECT_EQ((error{code, ""}.retryable()), again) << name(code);
  }
}

TEST(result_type, holds_one_side) {
  result<int> const good{5};
  result<int> const bad{error{errc::not_found, "no saga"}};
  EXPECT_TRUE(good);
  EXPECT_EQ(*good, 5);
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "no saga");
  result<void> const done;
  result<void> const failed{error{errc::conflict, "taken"}};
  EXPECT_TRUE(done);
  EXPECT_EQ(failed.error().code, errc::conflict);
}

TEST(result_type_death, the_wrong_side_aborts) {
  result<int> const bad{error{errc::not_found, "no saga"}};
  EXPECT_DEATH(static_cast<void>(bad.value()), "broken invariant");
  result<int> const good{5};
  EXPECT_DEATH(static_cast<void>(good.error()), "broken invariant");
}

}  // namespace
}  // namespace atone
