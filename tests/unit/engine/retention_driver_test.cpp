// When finished sagas are deleted, how many at a time, and what is left alone: the driver over a store in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "library/retention_driver.hpp"
#include "store_batches.hpp"

namespace atone::library {
namespace {

using runtime::deletion_pace;
using testing::IsEmpty;
using testing::SizeIs;

// Of the store's clock, which stands still. So short a one makes for short pauses between passes.
constexpr duration term = std::chrono::seconds{1};
constexpr std::chrono::seconds patience{20};

TEST(deletion_pace, nine_tenths_of_the_time_are_the_stores_own) {
  deletion_pace pace;
  EXPECT_EQ(pace.after(std::chrono::milliseconds{10}), std::chrono::milliseconds{90});
  EXPECT_EQ(pace.after(duration{0}), duration{0});
}

TEST(deletion_pace, a_batch_grows_while_it_is_quick_and_shrinks_when_it_is_slow) {
  deletion_pace pace;
  for (int times = 0; times < 10; ++times) pace.after(std::chrono::milliseconds{1});
  EXPECT_EQ(pace.batch(), retention::batch_max);
  pace.after(std::chrono::milliseconds{10});  // neither
  EXPECT_EQ(pace.batch(), retention::batch_max);
  pace.after(std::chrono::milliseconds{30});
  EXPECT_EQ(pace.batch(), retention::batch_max / 2);
  for (int times = 0; times < 20; ++times) pace.after(std::chrono::seconds{1});
  EXPECT_EQ(pace.batch(), 1u);
}

TEST(deletion_pace, a_store_that_does_not_answer_is_asked_less_and_for_less) {
  deletion_pace pace;
  auto const before = pace.batch();
  EXPECT_EQ(pace.after_failure(), deletion_pace::failure_pause_first);
  EXPECT_EQ(pace.after_failure(), deletion_pace::failure_pause_first * 2);
  EXPECT_EQ(pace.batch(), before / 4);
  for (int times = 0; times < 20; ++times) pace.after_failure();
  EXPECT_EQ(pace.after_failure(), deletion_pace::failure_pause_max);
  pace.after(std::chrono::milliseconds{1});
  EXPECT_EQ(pace.after_failure(), deletion_pace::failure_pause_first);
}

TEST(deletion_pace, passes_come_often_enough_for_what_is_kept_a_short_time_and_no_more_than_once_a_minute_else) {
  EXPECT_EQ(deletion_pace::after_pass(std::chrono::seconds{1}), deletion_pace::pass_pause_min);
  EXPECT_EQ(deletion_pace::after_pass(std::chrono::seconds{64}), std::chrono::seconds{1});
  EXPECT_EQ(deletion_pace::after_pass(std::chrono::hours{720}), deletion_pace::pass_pause_max);
}

// A store, sagas in it, and a driver whose every question to the coordinator is answered by the test.
class retention_driver_test : public testing::Test {
 protected:
  retention_driver_test() { writer_->take_over(node_id{"node-1"}).value(); }
  ~retention_driver_test() override { stop(); }

  void commit(journal_batch const& batch) { ASSERT_TRUE(writer_->commit(batch, batch_number{++last_})); }

  // Ended `ago`.
  void ended(std::uint32_t number, duration ago, std::string key = {}) {
    auto batch = key.empty() ? test::starting(number) : test::starting_with_key(number, std::move(key));
    batch.changes.push_back(test::change_of(number, saga_status::completed, 1));
    batch.changes.back().row.ended_at = now_.load() - ago;
    commit(batch);
  }

  void begin(duration sagas = term, duration keys = 30 * term) {
    retention_terms keep;
    keep.sagas = sagas;
    keep.keys = keys;
    retention_ports to;
    to.with_store = [this](retention_ports::store_work const& work) { return ask_store(work); };
    to.held = [this] {
      std::lock_guard const held{lock_};
      ++passes_;
      told_.notify_all();
      return std::vector<shard>{shard{0}};
    };
    to.at_rest = [this](std::vector<finished_saga> sagas_found) {
      std::lock_guard const held{lock_};
      std::erase_if(sagas_found, [this](finished_saga const& one) { return under_way_.contains(one.id); });
      return sagas_found;
    };
    to.stuck = [this](error const& why) {
      std::lock_guard const held{lock_};
      stuck_.push_back(why);
      told_.notify_all();
    };
    driver_ = std::make_unique<retention_driver>(keep, std::move(to));
    driver_->start();
  }

  result<void> ask_store(retention_ports::store_work const& work) {
    {
      std::lock_guard const held{lock_};
      ++asked_;
      told_.notify_all();
      if (!failures_.empty()) {
        auto const failure = failures_.front();
        if (failures_.size() > 1 || !failing_on_) failures_.pop_front();
        return failure;
      }
    }
    auto done = work(*writer_->own_retention());
    if (driver_) longest_lag_ = std::max(longest_lag_.load(), driver_->figures().lag.count());
    return done;
  }

  bool comes(std::function<bool()> const& condition) {
    std::unique_lock held{lock_};
    return told_.wait_for(held, patience, condition);
  }
  // Two whole passes from now on: what could go has gone.
  void await_passes() {
    auto const from = [this] {
      std::lock_guard const held{lock_};
      return passes_;
    }();
    ASSERT_TRUE(comes([&] { return passes_ >= from + 2; }));
  }
  void stop() {
    if (!driver_) return;
    driver_->ask_to_stop();
    driver_->join();
  }
  bool is_there(std::uint32_t number) { return reader_->find(test::numbered(number)).value().has_value(); }

  std::atomic<timestamp> now_{
      std::chrono::time_point_cast<duration>(std::chrono::system_clock::time_point{std::chrono::hours{24 * 365 * 56}})};
  std::unique_ptr<store> store_ = make_memory_store([this] { return now_.load(); });
  std::unique_ptr<journal> writer_ = store_->open_journal().value();
  std::unique_ptr<journal_reader> reader_ = store_->open_reader().value();
  std::uint64_t last_ = 0;
  std::mutex lock_;
  std::condition_variable told_;
  int passes_ = 0;
  int asked_ = 0;
  bool failing_on_ = false;  // the last failure stays
  std::deque<error> failures_;
  std::set<saga_id> under_way_;
  std::vector<error> stuck_;
  std::atomic<std::int64_t> longest_lag_{0};
  std::unique_ptr<retention_driver> driver_;
};

TEST_F(retention_driver_test, what_has_ended_long_enough_ago_goes_and_nothing_else) {
  for (std::uint32_t number = 1; number <= 300; ++number) ended(number, number % 3 == 0 ? term / 2 : 2 * term);
  commit(test::starting(301, 50));
  begin();
  await_passes();
  stop();
  auto const left = reader_->counts().value();
  EXPECT_EQ(left.at(saga_status::completed), 100u);
  EXPECT_EQ(left.at(saga_status::running), 50u);
  auto const figures = driver_->figures();
  EXPECT_EQ(figures.deleted_sagas, 200u);
  EXPECT_EQ(figures.deleted_keys, 0u);
  EXPECT_GE(figures.passes, 1u);
  EXPECT_EQ(figures.sagas, term);
}

TEST_F(retention_driver_test, what_grows_old_later_goes_in_a_later_pass_also_from_behind_what_stayed) {
  commit(test::starting(1));  // open: in the way for good
  ended(2, term / 2);
  ended(3, 2 * term);
  begin();
  await_passes();
  EXPECT_TRUE(is_there(2));
  EXPECT_FALSE(is_there(3));
  now_ = now_.load() + term;
  await_passes();
  EXPECT_FALSE(is_there(2));
  EXPECT_TRUE(is_there(1));
}

TEST_F(retention_driver_test, a_saga_that_memory_still_knows_is_left_until_it_does_not) {
  ended(1, 2 * term);
  ended(2, 2 * term);
  under_way_.insert(test::numbered(1));
  begin();
  await_passes();
  EXPECT_TRUE(is_there(1));
  EXPECT_FALSE(is_there(2));
  {
    std::lock_guard const held{lock_};
    under_way_.clear();
  }
  await_passes();
  EXPECT_FALSE(is_there(1));
}

TEST_F(retention_driver_test, keys_go_later_than_their_sagas) {
  ended(1, 2 * term, "order-1");
  ended(2, 40 * term, "order-2");
  begin();
  await_passes();
  EXPECT_FALSE(is_there(1));
  EXPECT_TRUE(reader_->claim_of("order-placed", business_key{"order-1"}).value());
  EXPECT_FALSE(reader_->claim_of("order-placed", business_key{"order-2"}).value());
  now_ = now_.load() + 29 * term;
  await_passes();
  EXPECT_FALSE(reader_->claim_of("order-placed", business_key{"order-1"}).value());
  EXPECT_EQ(driver_->figures().deleted_keys, 2u);
}

TEST_F(retention_driver_test, says_how_far_behind_it_is_and_that_it_is_not_any_more) {
  ended(1, 5 * term);
  begin();
  await_passes();
  stop();
  EXPECT_EQ(duration{longest_lag_.load()}, 4 * term);
  EXPECT_EQ(driver_->figures().lag, duration{0});
}

TEST_F(retention_driver_test, pauses_while_the_store_is_away_and_goes_on_after_it) {
  ended(1, 2 * term);
  for (int times = 0; times < 3; ++times) failures_.emplace_back(errc::unavailable, "away");
  begin();
  ASSERT_TRUE(comes([this] { return asked_ >= 4; }));
  await_passes();
  EXPECT_FALSE(is_there(1));
  EXPECT_THAT(stuck_, IsEmpty());
}

TEST_F(retention_driver_test, ends_when_the_coordinator_is_fenced) {
  ended(1, 2 * term);
  failures_.emplace_back(errc::fenced, "another took over");
  begin();
  driver_->join();  // by itself
  EXPECT_EQ(asked_, 1);
  EXPECT_TRUE(is_there(1));
}

TEST_F(retention_driver_test, tells_a_person_when_no_repeating_helps) {
  ended(1, 2 * term);
  failures_.emplace_back(errc::corrupt, "a row can't be read");
  begin();
  ASSERT_TRUE(comes([this] { return !stuck_.empty(); }));
  stop();  // its pause is a minute, and ends with the word
  ASSERT_THAT(stuck_, SizeIs(1));
  EXPECT_EQ(stuck_.front().message, "a row can't be read");
  EXPECT_TRUE(is_there(1));
}

TEST_F(retention_driver_test, a_stop_does_not_wait_for_a_pause) {
  constexpr duration long_kept = std::chrono::hours{720};
  ASSERT_GT(deletion_pace::after_pass(long_kept), 2 * patience) << "else a stop that waits would pass";
  // The moment at which it begins to pause is told to nobody: stopped ever later, it is met in its pause.
  for (int round = 0; round < 50; ++round) {
    asked_ = 0;
    begin(long_kept);
    ASSERT_TRUE(comes([this] { return asked_ >= 1; }));
    for (int turn = 0; turn < 20 * round; ++turn) std::this_thread::yield();
    auto const asked = std::chrono::steady_clock::now();
    stop();
    ASSERT_LT(std::chrono::steady_clock::now() - asked, patience) << round;
  }
}

TEST_F(retention_driver_test, without_a_retention_nothing_is_ever_asked) {
  ended(1, 2 * term);
  begin(duration{0});
  driver_->join();
  EXPECT_EQ(passes_, 0);
  EXPECT_TRUE(is_there(1));
}

}  // namespace
}  // namespace atone::library
