// GPUs in worker processes, emulated: who computes what, and what becomes of work whose device breaks, hangs, dies or lies.
#include <atone/features/recompute.hpp>

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare.hpp"
#include "machine.hpp"
#include "workers.hpp"

namespace atone::features_test {
namespace {

using namespace features;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

timestamp moment(std::int64_t microseconds) {
  return timestamp{duration{microseconds}};
}

// A set, a history, and somebody who computes it on some GPUs, with a clock that stands until it is moved.
class features_workers : public testing::Test {
 protected:
  void use(std::vector<gpu_worker_options> gpus, std::size_t rows_least = 0) {
    std::mt19937_64 random{5};
    random_case drawn;
    do {
      drawn = draw_case(random, 60);
    } while (store_of(*drawn.set, drawn.rows).entities.size() < 3 || drawn.set->windows.size() < 2);
    compute(std::move(drawn), std::move(gpus), rows_least);
  }

  void compute(random_case what, std::vector<gpu_worker_options> gpus, std::size_t rows_least) {
    drawn_ = std::move(what);
    store_ = store_of(*drawn_.set, drawn_.rows);
    recompute_options options;
    options.gpus = std::move(gpus);
    options.gpu_rows_least = rows_least;
    options.now = [this] {
      if (clock_throws_after_ == 0) throw std::runtime_error{"no clock"};
      if (clock_throws_after_ > 0) --clock_throws_after_;
      return now_;
    };
    options.alert = [this](std::string const& words) {
      alerts_.push_back(words);
      if (throwing_alerts_) throw std::runtime_error{"nobody is there"};
    };
    auto made = recomputer::make(drawn_.set, std::move(options));
    ASSERT_TRUE(made);
    here_ = std::make_unique<recomputer>(std::move(*made));
    here_->keep(store_);
  }

  // All ways of asking, each with the bits of the CPU.
  void expect_right() {
    feature_engine const cpu{drawn_.set};
    auto const events = here_->per_event();
    ASSERT_TRUE(events) << events.error().message;
    expect_same_bits(*drawn_.set, *events, *cpu.per_event(store_));
    auto const at = moment(9'000'000);
    auto const entities = here_->as_of(at, at);
    ASSERT_TRUE(entities) << entities.error().message;
    expect_same_bits(*drawn_.set, *entities, *cpu.as_of(store_, at, at));
  }
  std::uint64_t rows_asked() const { return store_.rows() + store_.entities.size(); }

  random_case drawn_;
  event_store store_;
  timestamp now_{};
  int clock_throws_after_ = -1;  // questions; negative: never
  bool throwing_alerts_ = false;
  std::vector<std::string> alerts_;
  std::unique_ptr<recomputer> here_;
};

TEST_F(features_workers, divide_the_rows_and_give_the_bits_of_the_cpu) {
  use({worker_on(0), worker_on(1)});
  expect_right();
  EXPECT_EQ(here_->workers(), 2U);
  EXPECT_EQ(here_->counts().rows_by_gpu, rows_asked());
  EXPECT_EQ(here_->counts().rows_by_cpu, 0U);
  here_->look_after();
  EXPECT_EQ(here_->workers(), 2U);
  expect_right();
  EXPECT_THAT(alerts_, IsEmpty());
}

TEST_F(features_workers, small_jobs_are_the_cpus_and_start_no_process) {
  use({worker_on(0)}, 1'000'000);
  expect_right();
  EXPECT_EQ(here_->counts().worker_starts, 0U);
  EXPECT_EQ(here_->counts().rows_by_cpu, rows_asked());
}

TEST_F(features_workers, another_gpu_does_the_work_of_one_that_fails) {
  use({worker_on(cuda_emulator::fails_at_work), worker_on(1)});
  expect_right();
  EXPECT_EQ(here_->workers(), 1U);
  EXPECT_EQ(here_->counts().rows_by_gpu, rows_asked());
  EXPECT_THAT(alerts_, ElementsAre(HasSubstr("GPU 10: the GPU's worker gave up: a launch failed")));
}

TEST_F(features_workers, the_cpu_does_the_work_when_no_gpu_is_left) {
  use({worker_on(cuda_emulator::fails_at_work), worker_on(cuda_emulator::kills_its_process_at_work)});
  expect_right();
  EXPECT_EQ(here_->workers(), 0U);
  EXPECT_EQ(here_->counts().rows_by_cpu, rows_asked());
  EXPECT_EQ(here_->counts().worker_failures, 2U);
  EXPECT_THAT(alerts_, testing::Contains(HasSubstr("GPU 13: the GPU's worker ended by signal 6")));
}

TEST_F(features_workers, one_that_hangs_is_killed_in_time) {
  auto hanging = worker_on(cuda_emulator::hangs_at_work);
  hanging.answer_within = 300ms;
  use({hanging});
  expect_right();
  EXPECT_EQ(here_->counts().rows_by_cpu, rows_asked());
  EXPECT_THAT(alerts_, ElementsAre(HasSubstr("did not answer within 300ms and was ended")));
}

TEST_F(features_workers, one_with_other_bits_never_gets_work) {
  use({worker_on(cuda_emulator::wrong_from_the_beginning)});
  expect_right();
  EXPECT_EQ(here_->counts().rows_by_gpu, 0U);
  EXPECT_THAT(alerts_, ElementsAre(HasSubstr("the GPU gives other bits than the CPU: feature 'events'")));
}

TEST_F(features_workers, rows_that_are_checked_find_one_that_lies_at_work) {
  use({worker_on(cuda_emulator::wrong_at_work)});
  expect_right();
  EXPECT_EQ(here_->counts().rows_by_cpu, rows_asked());
  EXPECT_THAT(alerts_, ElementsAre(HasSubstr("in a row that was checked")));
}

TEST_F(features_workers, a_heartbeat_finds_one_that_has_become_wrong) {
  use({worker_on(cuda_emulator::wrong_at_a_heartbeat)});
  expect_right();
  EXPECT_EQ(here_->counts().rows_by_cpu, 0U);
  here_->look_after();
  EXPECT_EQ(here_->workers(), 0U);
  EXPECT_THAT(alerts_, ElementsAre(HasSubstr("other bits than the CPU")));
  expect_right();
  EXPECT_EQ(here_->counts().rows_by_cpu, rows_asked());
}

TEST_F(features_workers, one_that_failed_is_left_alone_for_a_while_and_then_tried_again) {
  auto const broken = worker_on(cuda_emulator::fails_at_work);
  use({broken});
  expect_right();
  EXPECT_EQ(here_->counts().worker_starts, 1U);
  now_ += 59s;
  here_->look_after();
  EXPECT_EQ(here_->counts().worker_starts, 1U);
  now_ += 1s;
  here_->look_after();
  EXPECT_EQ(here_->counts().worker_starts, 2U);
  EXPECT_EQ(here_->workers(), 1U);
}

TEST_F(features_workers, a_program_that_is_not_there_is_said_once_and_the_cpu_computes) {
  auto none = worker_on(0);
  none.program = "nowhere/atone_gpu_worker";
  use({none});
  expect_right();
  EXPECT_THAT(alerts_, ElementsAre(HasSubstr("'nowhere/atone_gpu_worker' can't be started: No such file")));
}

// Refused: the worker stays, the CPU computes.
TEST_F(features_workers, what_is_too_large_for_a_device_is_the_cpus_and_no_failure) {
  auto small = worker_on(0);
  small.gpu.result_bytes = 50'000;  // one row of the canary fits, one of 120 columns does not
  std::string yaml =
      "feature_set: wide\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\n"
      "columns: {user: integer, id: integer, at: timestamp}\nwindows: {ever: {since: epoch}}\nfeatures:\n";
  for (int at = 0; at < 120; ++at) yaml += "  f" + std::to_string(at) + ": {count: events, over: [ever]}\n";
  random_case wide;
  wide.set = set_of(yaml);
  wide.rows = {{1, 1, 0}, {1, 2, 1}, {2, 3, 0}};
  compute(std::move(wide), {small}, 0);
  expect_right();
  EXPECT_EQ(here_->counts().rows_by_cpu, rows_asked());
  EXPECT_EQ(here_->workers(), 1U);
  EXPECT_THAT(alerts_, IsEmpty());
}

TEST_F(features_workers, one_whose_device_the_plugin_is_not_built_for_is_never_tried_again) {
  use({worker_on(cuda_emulator::too_old)});
  expect_right();
  EXPECT_THAT(alerts_, ElementsAre(HasSubstr("no device that this plug-in is built for: found compute capability 7.5")));
  now_ += 24h;
  here_->look_after();
  expect_right();
  EXPECT_EQ(here_->counts().worker_starts, 1U);
  EXPECT_EQ(alerts_.size(), 1U);
}

TEST_F(features_workers, pauses_double_up_to_a_bound_and_the_same_alert_is_said_once) {
  use({worker_on(cuda_emulator::wrong_from_the_beginning)});
  std::vector<std::int64_t> minutes_of_starts;
  for (std::int64_t minute = 0; minute < 260; ++minute) {
    auto const before = here_->counts().worker_starts;
    here_->look_after();
    if (here_->counts().worker_starts != before) minutes_of_starts.push_back(minute);
    now_ += 1min;
  }
  EXPECT_THAT(minutes_of_starts, ElementsAre(0, 1, 3, 7, 15, 31, 63, 123, 183, 243));
  EXPECT_EQ(alerts_.size(), 1U);
}

TEST_F(features_workers, one_that_has_worked_for_as_long_as_it_paused_is_well_again) {
  use({worker_on(cuda_emulator::wrong_at_a_heartbeat)});
  expect_right();
  here_->look_after();
  EXPECT_EQ(alerts_.size(), 1U);
  now_ += 1min;
  expect_right();
  EXPECT_EQ(here_->workers(), 1U);
  EXPECT_EQ(alerts_.size(), 1U) << "it has only begun";
  now_ += 1min;
  expect_right();
  EXPECT_THAT(alerts_, ElementsAre(HasSubstr("other bits"), HasSubstr("works again")));
}

TEST_F(features_workers, a_store_that_does_not_fit_is_not_copied_for_each_job) {
  auto full = worker_on(0);
  full.program = ATONE_ODD_WORKER;
  full.gpu.plugin = "full";  // it would end, were it asked to keep a store twice
  use({full});
  expect_right();
  expect_right();
  EXPECT_EQ(here_->workers(), 1U);
  EXPECT_EQ(here_->counts().rows_by_cpu, 2 * rows_asked());
  EXPECT_THAT(alerts_, ElementsAre(HasSubstr("no work until another store fits it")));
  here_->keep(store_);
  expect_right();
  EXPECT_THAT(alerts_, ElementsAre(testing::_, HasSubstr("ended with status 9"))) << "another store is another matter";
}

TEST_F(features_workers, another_gpu_takes_the_rows_when_the_store_fits_only_it) {
  auto full = worker_on(0);
  full.program = ATONE_ODD_WORKER;
  full.gpu.plugin = "full";
  use({full, worker_on(1)});
  expect_right();
  EXPECT_EQ(here_->counts().rows_by_gpu, rows_asked());
}

TEST_F(features_workers, no_memory_for_the_canary_is_no_failure_of_the_device) {
  auto small = worker_on(0);
  small.gpu.result_bytes = 100;
  use({small, worker_on(cuda_emulator::no_memory_at_a_heartbeat)});
  expect_right();
  EXPECT_EQ(here_->counts().worker_failures, 0U);
  EXPECT_EQ(here_->workers(), 1U);
  here_->look_after();
  EXPECT_EQ(here_->workers(), 1U) << "full at a heartbeat";
  EXPECT_EQ(here_->counts().worker_failures, 0U);
  EXPECT_THAT(alerts_, ElementsAre(HasSubstr("no memory for the canary")));
}

TEST_F(features_workers, an_alert_that_throws_is_lost_and_nothing_else) {
  throwing_alerts_ = true;
  use({worker_on(cuda_emulator::fails_at_work), worker_on(1)});
  expect_right();
  EXPECT_EQ(here_->counts().rows_by_gpu, rows_asked());
}

// The first worker fails; the clock throws when that is noted, and the second has not been heard.
TEST_F(features_workers, a_job_that_is_left_by_an_exception_leaves_no_worker_unheard) {
  use({worker_on(cuda_emulator::fails_at_work), worker_on(1)});
  clock_throws_after_ = 2;
  EXPECT_THROW((void)here_->per_event(), std::runtime_error);
  clock_throws_after_ = -1;
  expect_right();
  EXPECT_THAT(alerts_, testing::Not(testing::Contains(HasSubstr("before it was heard"))));
}

}  // namespace
}  // namespace atone::features_test
