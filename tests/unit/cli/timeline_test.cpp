#include "cli/timeline.hpp"

#include <gtest/gtest.h>

#include "cli_support.hpp"

namespace atone::cli {
namespace {

using namespace std::chrono_literals;

// Writes a history event by event; each names the one that caused it.
class story_writer {
 public:
  story_writer() {
    story_.row.id = *saga_id::parse("01JDZ4M6GQ5V7Y8N2W3X4R5T6K");
    story_.row.definition.name = "order-placed";
    story_.row.definition.version = definition_version{1};
    story_.row.key = business_key{"order-48113"};
    add(event_kind::started, 0ms, 0, "");
  }

  story_writer& add(event_kind kind, duration at, std::uint32_t cause, std::string step, operation op = operation::none,
                    std::uint32_t n = 0, std::int32_t status = 0) {
    event one;
    one.kind = kind;
    one.seq = sequence{static_cast<std::uint32_t>(story_.events.size() + 1)};
    one.cause = sequence{cause};
    one.at = timestamp{1'800'000'000s} + at;
    one.step = step_path{std::move(step)};
    one.op = op;
    one.n = attempt{n};
    one.status = status;
    story_.events.push_back(one);
    return *this;
  }
  story_writer& done(duration at, std::uint32_t cause, std::string step, operation op = operation::act, std::uint32_t n = 1) {
    return add(event_kind::step_succeeded, at, cause, std::move(step), op, n, 200);
  }
  story_writer& steps(std::vector<std::string> const& all) {
    for (auto const& one : all) story_.all_steps.emplace_back(one);
    return *this;
  }
  story_writer& view(std::string step, run_phase phase, undo_phase undo = undo_phase::none) {
    step_view one;
    one.path = step_path{std::move(step)};
    one.phase = phase;
    one.undo = undo;
    story_.steps.push_back(one);
    return *this;
  }
  saga_story ended(saga_status status, std::string cause = "") {
    story_.row.status = status;
    story_.row.cause = std::move(cause);
    return story_;
  }
  saga_story under_way(duration now) {
    story_.now = timestamp{1'800'000'000s} + now;
    return story_;
  }

 private:
  saga_story story_;
};

saga_story refused_order() {
  story_writer out;
  out.steps({"order", "fan", "fan/profile/profile", "fan/announce/announce", "features"});
  out.done(100ms, 1, "order");                                                                 // 2
  out.add(event_kind::step_refused, 300ms, 2, "fan/profile/profile", operation::act, 1, 409);  // 3
  out.done(250ms, 2, "fan/announce/announce");                                                 // 4
  out.done(600ms, 3, "fan/announce/announce", operation::compensate);                          // 5
  out.add(event_kind::attempt_failed, 700ms, 5, "order", operation::compensate, 1, 503);       // 6
  out.add(event_kind::timer_fired, 1200ms, 6, "order", operation::compensate);                 // 7
  out.add(event_kind::attempt_failed, 1300ms, 7, "order", operation::compensate, 2, 503);      // 8
  out.add(event_kind::timer_fired, 1800ms, 8, "order", operation::compensate);                 // 9
  out.done(1840ms, 9, "order", operation::compensate, 3);                                      // 10
  return out.ended(saga_status::compensated, "profile refused: 409 \"spending limit reached\" (attempt 1)");
}

TEST(timeline, a_compensated_saga_as_the_readme_shows_it) {
  captured seen;
  print_timeline(refused_order(), seen.screen());
  EXPECT_EQ(seen.out(),
            "order-placed@1  01JDZ4M6GQ5V7Y8N2W3X4R5T6K  key order-48113  compensated in 1.84 s\n"
            "cause  profile refused: 409 \"spending limit reached\" (attempt 1)\n"
            "\n"
            " step                    0 ms   500     1000    1500    attempts  outcome\n"
            " order                   ▇▇                             1         done, compensated\n"
            " fan/profile/profile      ▇▇▇▇                          1         refused: 409\n"
            " fan/announce/announce    ▇▇▇                           1         done, compensated\n"
            " features                                               -         not reached\n"
            " ~fan/announce/announce      ▒▒▒▒▒▒                     1         compensated\n"
            " ~order                           ▒▒▒······▒▒▒·······▒  3         compensated (2 transient failures: 503)\n");
}

TEST(timeline, without_utf8_it_draws_in_ascii) {
  terminal_traits traits;
  traits.utf8 = false;
  captured seen{traits};
  print_timeline(refused_order(), seen.screen());
  EXPECT_NE(seen.out().find("##"), std::string::npos);
  EXPECT_NE(seen.out().find("==="), std::string::npos);
  EXPECT_EQ(seen.out().find("▇"), std::string::npos);
}

TEST(timeline, bars_begin_where_their_cause_was_durable) {
  auto const rows = timeline_rows(refused_order());
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[1].bars, (std::vector{timeline_bar{100ms, 300ms, false}}));
  EXPECT_EQ(rows[5].label(), "~order");
  EXPECT_EQ(rows[5].bars,
            (std::vector{timeline_bar{600ms, 700ms, false}, timeline_bar{700ms, 1200ms, true}, timeline_bar{1200ms, 1300ms, false},
                         timeline_bar{1300ms, 1800ms, true}, timeline_bar{1800ms, 1840ms, false}}));
}

TEST(timeline, a_step_under_way_reaches_to_now) {
  story_writer out;
  out.done(10ms, 1, "a").add(event_kind::attempt_failed, 50ms, 2, "b", operation::act, 1, 503).view("a", run_phase::done);
  out.view("b", run_phase::waiting_retry);
  auto const rows = timeline_rows(out.under_way(200ms));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].outcome, "under way (1 transient failure: 503)");
  EXPECT_EQ(rows[1].bars.back(), (timeline_bar{50ms, 200ms, true}));
}

TEST(timeline, words_for_every_end_of_a_step) {
  story_writer out;
  out.view("a", run_phase::skipped).view("b", run_phase::maybe_done).view("c", run_phase::not_done).view("d", run_phase::parked);
  out.view("e", run_phase::pending).view("f", run_phase::active);
  std::vector<std::string> words;
  for (auto const& row : timeline_rows(out.under_way(1ms))) words.push_back(row.outcome);
  EXPECT_EQ(words, (std::vector<std::string>{"skipped", "unknown: may have been done", "not done", "parked", "not reached", "under way"}));
}

TEST(timeline, a_parked_compensation) {
  story_writer out;
  out.done(10ms, 1, "a").add(event_kind::step_refused, 20ms, 2, "a", operation::compensate, 1, 422);
  out.view("a", run_phase::done, undo_phase::parked);
  auto const rows = timeline_rows(out.ended(saga_status::parked));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].outcome, "done");
  EXPECT_EQ(rows[1].outcome, "parked");
}

TEST(timeline, a_fallback_has_a_row_of_its_own) {
  story_writer out;
  out.add(event_kind::attempt_failed, 10ms, 1, "features", operation::act, 1).done(20ms, 2, "features", operation::fallback);
  out.view("features", run_phase::maybe_done);
  auto story = out.ended(saga_status::completed);
  story.steps[0].fell_back = true;
  auto const rows = timeline_rows(story);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].outcome.substr(0, 9), "fell back");
  EXPECT_EQ(rows[1].label(), "features (fallback)");
}

TEST(timeline, text_from_outside_cannot_steer_the_terminal) {
  captured seen;
  story_writer out;
  print_timeline(out.ended(saga_status::compensated, "\x1b[2Jgone"), seen.screen());
  EXPECT_EQ(seen.out().find('\x1b'), std::string::npos);
  EXPECT_NE(seen.out().find("\\x1b[2Jgone"), std::string::npos);
  EXPECT_NE(seen.out().find("no step has been reached"), std::string::npos);
}

TEST(timeline, long_and_short_sagas_have_a_readable_axis) {
  for (auto const span : {duration{1us}, duration{3ms}, duration{9'999ms}, duration{10s}, duration{48h}}) {
    captured seen;
    story_writer out;
    print_timeline(out.done(span, 1, "a").ended(saga_status::completed), seen.screen());
    EXPECT_NE(seen.out().find(span < 10s ? "0 ms" : "0 s"), std::string::npos) << seen.out();
  }
}

TEST(timeline, narrow_terminals_keep_all_rows) {
  terminal_traits traits;
  traits.width = 40;
  captured seen{traits};
  print_timeline(refused_order(), seen.screen());
  EXPECT_NE(seen.out().find("~order"), std::string::npos);
}

}  // namespace
}  // namespace atone::cli
