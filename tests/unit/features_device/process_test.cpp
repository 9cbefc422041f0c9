// One worker's process: its answers belong to its questions, and it goes when it should.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare.hpp"
#include "device/flatten.hpp"
#include "device/worker_process.hpp"
#include "engine/requests.hpp"
#include "machine.hpp"
#include "workers.hpp"

namespace atone::features_test {
namespace {

using namespace features;
using namespace std::chrono_literals;
using testing::HasSubstr;

gpu_worker_options odd_worker(std::string oddity) {
  gpu_worker_options made;
  made.program = ATONE_ODD_WORKER;
  made.gpu.plugin = std::move(oddity);
  return made;
}

// A store and a question of it.
class small_job {
 public:
  small_job() {
    job_.plan = arrays_.view();
    job_.requests = requests_.data();
    job_.rows = requests_.size();
    for (auto const& column : table_.columns) results_.push_back(flat_result{column.cells.get(), column.states.get(), column.lanes});
    job_.results = flat_list<flat_result>{results_.data(), static_cast<std::uint32_t>(results_.size())};
  }
  flat_store store() const { return columns_.view(); }
  device_job const& job() const { return job_; }

 private:
  feature_set_ptr set_ = set_of(
      "feature_set: small\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\n"
      "columns: {user: integer, id: integer, at: timestamp}\nwindows: {ever: {since: epoch}}\nfeatures:\n"
      "  events: {count: events, over: [ever]}\n");
  event_store store_ = store_of(*set_, {{1, 1, 0}, {1, 2, 1}, {2, 3, 0}});
  feature_plan plan_ = compile(*set_);
  flat_plan_arrays arrays_{*set_, plan_, store_};
  flat_store_columns columns_{*set_, plan_, store_};
  std::vector<row_request> requests_ = requests_per_event(store_);
  feature_table table_ = empty_table(plan_, requests_.size());
  std::vector<flat_result> results_;
  device_job job_;
};

TEST(features_worker, refuses_to_be_started_by_people) {
  auto options = worker_on(0);
  options.gpu.plugin = "";
  auto const started = worker_process::start(options);
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("there is no plug-in for GPUs"));
}

TEST(features_worker, one_that_is_asked_again_before_it_was_heard_is_ended) {
  small_job const small;
  auto worker = worker_process::start(worker_on(0));
  ASSERT_TRUE(worker) << worker.error().message;
  ASSERT_TRUE((*worker)->keep(small.store()));
  ASSERT_TRUE((*worker)->begin(small.job()));
  EXPECT_TRUE((*worker)->is_asked());
  auto const again = (*worker)->begin(small.job());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, errc::unavailable);
  EXPECT_THAT(again.error().message, HasSubstr("before it was heard"));
  EXPECT_EQ((*worker)->process(), -1);
  EXPECT_FALSE((*worker)->finish());
}

TEST(features_worker, an_answer_to_another_question_is_none) {
  small_job const small;
  auto worker = worker_process::start(odd_worker("late"));
  ASSERT_TRUE(worker) << worker.error().message;
  auto const kept = (*worker)->keep(small.store());
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, errc::unavailable);
  EXPECT_THAT(kept.error().message, HasSubstr("answered another question"));
  EXPECT_EQ((*worker)->process(), -1);
}

// A child that stands for a worker which the kernel does not let go.
TEST(features_worker, none_is_started_beside_one_that_can_not_be_killed) {
  auto const child = fork();
  if (child == 0) {
    while (true) pause();
  }
  ASSERT_GT(child, 0);
  EXPECT_EQ(reap(child, 20ms), std::nullopt);
  auto const parked = std::make_shared<parked_process>();
  parked->put(child);
  auto const refused = worker_process::start(odd_worker(""), parked);
  kill(child, SIGKILL);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is still there"));
  auto const status = reap(child, 10s);
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFSIGNALED(*status));
  EXPECT_TRUE(parked->is_gone());
  EXPECT_TRUE(worker_process::start(odd_worker(""), parked));
}

// The core as a process that dies while its worker's device hangs; the worker becomes a child of this one.
TEST(features_worker, one_whose_core_has_died_in_the_midst_of_a_job_ends) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  std::array<int, 2> tell{};
  ASSERT_EQ(pipe(tell.data()), 0);
  auto const core = fork();
  if (core == 0) {
    small_job const small;
    auto worker = worker_process::start(worker_on(cuda_emulator::hangs_at_work));
    bool const is_at_work = worker && (*worker)->keep(small.store()) && (*worker)->begin(small.job());
    pid_t const process = is_at_work ? (*worker)->process() : -1;
    auto const told = write(tell[1], &process, sizeof process);
    _exit(told == sizeof process ? 0 : 1);
  }
  pid_t worker = -1;
  ASSERT_EQ(read(tell[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  close(tell[0]);
  close(tell[1]);
  EXPECT_EQ(reap(core, 30s), 0);
  ASSERT_GT(worker, 0);
  auto const ended = reap(worker, 30s);
  if (!ended) kill(worker, SIGKILL);
  ASSERT_TRUE(ended) << "it lives on and holds its device";
  EXPECT_TRUE(WIFEXITED(*ended));
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace atone::features_test
