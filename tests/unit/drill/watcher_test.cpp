// Processes that end by themselves: each end is counted, each is started again, and not for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drill/watcher.hpp"
#include "pace.hpp"

namespace atone::drill {
namespace {

using namespace std::chrono_literals;
using test::comes_true;

constexpr test::span patience{10s};

drill_plan plan_of(std::string const& start) {
  drill_plan made;
  made.processes.emplace_back();
  made.processes.back().name = "one";
  made.processes.back().start = start;
  return made;
}

class drill_watcher : public testing::Test {
 protected:
  managed_process& one() { return *there_->processes()[0]; }
  void begin(std::string const& start) {
    plan_ = plan_of(start);
    there_ = std::make_unique<installation>(plan_);
    ASSERT_TRUE(one().bring_up());
    watch_ = std::make_unique<watcher>(*there_);
  }
  bool ends() {
    return comes_true([&] { return !one().running(); }, patience);
  }
  std::uint64_t ended() const { return watch_->ended().contains("one") ? watch_->ended().at("one") : 0; }

  drill_plan plan_;
  std::unique_ptr<installation> there_;
  std::unique_ptr<watcher> watch_;
  watcher::moment now_ = watcher::moment{} + 1h;
};

TEST_F(drill_watcher, an_end_is_counted_and_what_ended_is_started_again) {
  begin("tail -f /dev/null");
  ASSERT_TRUE(watch_->look(now_, nullptr));
  EXPECT_EQ(ended(), 0U);
  ASSERT_TRUE(one().kill());
  ASSERT_TRUE(watch_->look(now_, &one()));  // down on purpose
  EXPECT_EQ(ended(), 0U);
  EXPECT_FALSE(one().running());
  ASSERT_TRUE(watch_->look(now_, nullptr));
  EXPECT_EQ(ended(), 1U);
  EXPECT_TRUE(one().running());
}

TEST_F(drill_watcher, one_that_ends_again_and_again_is_started_with_pauses_and_given_up) {
  begin("false");
  ASSERT_TRUE(ends());
  ASSERT_TRUE(watch_->look(now_, nullptr));
  ASSERT_TRUE(ends());
  ASSERT_TRUE(watch_->look(now_, nullptr));  // from now on with a pause
  EXPECT_EQ(ended(), 2U);
  ASSERT_TRUE(watch_->look(now_ + watcher::pause / 2, nullptr));
  EXPECT_EQ(ended(), 2U);
  for (std::uint32_t n = 2; n < watcher::restarts_max; ++n) {
    now_ += watcher::pause;
    ASSERT_TRUE(watch_->look(now_, nullptr));
    ASSERT_TRUE(ends());
    ASSERT_TRUE(watch_->look(now_, nullptr));
  }
  EXPECT_EQ(ended(), watcher::restarts_max);
  now_ += watcher::pause;
  ASSERT_TRUE(watch_->look(now_, nullptr));
  ASSERT_TRUE(ends());
  auto const given_up = watch_->look(now_, nullptr);
  ASSERT_FALSE(given_up);
  EXPECT_THAT(given_up.error().message, testing::HasSubstr("process one ends again and again: ended with status 1"));
}

TEST_F(drill_watcher, ends_that_are_far_apart_are_never_too_many) {
  begin("tail -f /dev/null");
  for (std::uint32_t n = 0; n < 2 * watcher::restarts_max; ++n) {
    ASSERT_TRUE(one().kill());
    ASSERT_TRUE(watch_->look(now_, nullptr));
    EXPECT_TRUE(one().running());
    now_ += watcher::in_order_after;
    ASSERT_TRUE(watch_->look(now_, nullptr));
  }
  EXPECT_EQ(ended(), 2 * watcher::restarts_max);
}

}  // namespace
}  // namespace atone::drill
