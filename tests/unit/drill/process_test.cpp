// Processes of a drill: found or started, killed, stopped, continued, and left as they were found.
#include <signal.h>
#include <stdlib.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drill/clock_library.hpp"
#include "drill/process.hpp"
#include "pace.hpp"

namespace atone::drill {
namespace {

using namespace std::chrono_literals;
using test::comes_true;

constexpr test::span patience{10s};
constexpr auto waits = "tail -f /dev/null";

class drill_process : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "atone-drill-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    plan_.name = "waits";
    plan_.pid_file = folder_ / "the pid's file";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  pid_t written() const {
    std::ifstream file{plan_.pid_file};
    pid_t found = -1;
    file >> found;
    return found;
  }
  // 'T': stopped.
  static char state_of(pid_t pid) {
    std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
    std::string text{std::istreambuf_iterator<char>{stat}, {}};
    auto const end = text.rfind(')');
    return end == std::string::npos ? '-' : text[end + 2];
  }

  std::filesystem::path folder_;
  process_plan plan_;
};

TEST_F(drill_process, has_the_clock_that_it_is_given) {
  auto const library = find_clock_library();
  if (library.empty() && std::getenv("CI") == nullptr) GTEST_SKIP() << "skipped, because libfaketime is not installed (Debian: faketime)";
  ASSERT_FALSE(library.empty()) << "CI is set: libfaketime must be there";
  auto const told = folder_ / "told";
  // Its wall clock in hours, and how long the machine is up, in minutes.
  plan_.start =
      "python3 -c 'import signal, sys, time; print(int(time.time()), int(time.clock_gettime(time.CLOCK_BOOTTIME)), "
      "int(time.monotonic()), file=open(sys.argv[1], \"w\"), flush=True); signal.pause()' '" +
      told.string() + "'";
  managed_process one{plan_};
  auto const read = [&](std::array<std::int64_t, 3>& into) {
    std::ifstream file{told};
    return static_cast<bool>(file >> into[0] >> into[1] >> into[2]);
  };
  std::array<std::int64_t, 3> right{};
  ASSERT_TRUE(one.bring_up());
  ASSERT_TRUE(comes_true([&] { return read(right); }, patience));
  for (auto const off : {duration{1h}, duration{-1h}}) {
    ASSERT_TRUE(one.kill());
    std::filesystem::remove(told);
    one.set_clock(off, library);
    ASSERT_TRUE(one.start());
    std::array<std::int64_t, 3> wrong{};
    ASSERT_TRUE(comes_true([&] { return read(wrong); }, patience));
    EXPECT_NEAR(static_cast<double>(wrong[0] - right[0]), std::chrono::duration<double>(off).count(), 60);
    EXPECT_NEAR(static_cast<double>(wrong[1] - right[1]), 0, 60);
    EXPECT_NEAR(static_cast<double>(wrong[2] - right[2]), 0, 60);
    auto const pid = written();
    ASSERT_TRUE(one.kill());
    EXPECT_FALSE(std::filesystem::exists("/dev/shm/faketime_shm_" + std::to_string(pid)));
    one.set_clock(0h, library);
    ASSERT_TRUE(one.start());
  }
}

TEST_F(drill_process, leaves_nothing_of_its_clock_behind_when_it_is_ended) {
  auto const library = find_clock_library();
  if (library.empty() && std::getenv("CI") == nullptr) GTEST_SKIP() << "skipped, because libfaketime is not installed (Debian: faketime)";
  plan_.start = waits;
  std::string shared;
  {
    managed_process one{plan_};
    one.set_clock(1h, library);
    ASSERT_TRUE(one.bring_up());
    ASSERT_TRUE(comes_true([&] { return one.has_loaded(library); }, patience));
    shared = "/dev/shm/faketime_shm_" + std::to_string(written());
    ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(shared); }, patience));
  }
  EXPECT_FALSE(std::filesystem::exists(shared));
}

TEST_F(drill_process, what_the_drill_brings_up_it_ends) {
  plan_.start = waits;
  {
    managed_process one{plan_};
    ASSERT_TRUE(one.bring_up());
    EXPECT_TRUE(one.running());
    EXPECT_TRUE(comes_true([&] { return written() > 1; }, patience));
  }
  EXPECT_NE(::kill(written(), 0), 0);
}

TEST_F(drill_process, what_was_there_stays_and_is_continued) {
  auto other = command::start(std::string{"exec "} + waits, "", true);
  ASSERT_TRUE(other);
  std::ofstream{plan_.pid_file} << other->pid() << '\n';
  {
    managed_process one{plan_};
    ASSERT_TRUE(one.bring_up());
    ASSERT_TRUE(one.pause());
    EXPECT_TRUE(comes_true([&] { return state_of(other->pid()) == 'T'; }, patience));
  }
  EXPECT_TRUE(other->running());
  EXPECT_TRUE(comes_true([&] { return state_of(other->pid()) != 'T'; }, patience));
  other->signal(SIGKILL);
  other->reap();
}

// A number in a file that is left from some other day: whoever has the number now must not be touched.
TEST_F(drill_process, a_stale_pid_file_is_refused) {
  auto stranger = command::start(std::string{"exec "} + waits, "", true);
  ASSERT_TRUE(stranger);
  std::ofstream{plan_.pid_file} << stranger->pid() << '\n';
  std::filesystem::last_write_time(plan_.pid_file, std::filesystem::file_time_type::clock::now() - 1h);
  plan_.start = waits;
  managed_process one{plan_};
  auto const up = one.bring_up();
  ASSERT_FALSE(up);
  EXPECT_THAT(up.error().message, testing::HasSubstr("was started after " + plan_.pid_file + " was written"));
  EXPECT_FALSE(one.running());
  EXPECT_FALSE(one.kill());
  EXPECT_FALSE(one.pause());
  EXPECT_TRUE(stranger->running());
  stranger->signal(SIGKILL);
  stranger->reap();
}

TEST_F(drill_process, the_pid_file_of_what_the_drill_started_is_not_believed) {
  auto stranger = command::start(std::string{"exec "} + waits, "", true);
  ASSERT_TRUE(stranger);
  plan_.start = waits;
  managed_process one{plan_};
  ASSERT_TRUE(one.bring_up());
  EXPECT_TRUE(comes_true([&] { return written() > 1; }, patience));
  ASSERT_TRUE(one.kill());
  std::ofstream{plan_.pid_file} << stranger->pid() << '\n';
  EXPECT_FALSE(one.running());
  EXPECT_FALSE(one.kill());
  EXPECT_TRUE(stranger->running());
  stranger->signal(SIGKILL);
  stranger->reap();
}

TEST_F(drill_process, what_a_process_has_started_is_killed_with_it) {
  plan_.start = "sh -c 'tail -f /dev/null & echo $! > \"" + (folder_ / "child").string() + "\"; wait'";
  managed_process one{plan_};
  ASSERT_TRUE(one.bring_up());
  pid_t child = -1;
  EXPECT_TRUE(comes_true([&] { return static_cast<bool>(std::ifstream{folder_ / "child"} >> child); }, patience));
  ASSERT_TRUE(one.kill());
  EXPECT_TRUE(comes_true([&] { return state_of(child) == '-' || state_of(child) == 'Z'; }, patience));
}

TEST_F(drill_process, is_killed_and_started_again) {
  plan_.start = waits;
  managed_process one{plan_};
  ASSERT_TRUE(one.bring_up());
  EXPECT_TRUE(comes_true([&] { return written() > 1; }, patience));
  auto const first = written();
  ASSERT_TRUE(one.kill());
  EXPECT_FALSE(one.running());
  EXPECT_THAT(one.exit_text(), testing::HasSubstr("signal 9"));
  ASSERT_TRUE(one.start());
  EXPECT_TRUE(one.running());
  EXPECT_TRUE(comes_true([&] { return written() > 1 && written() != first; }, patience));
}

TEST_F(drill_process, says_what_is_in_the_way) {
  managed_process nowhere{plan_};
  auto const up = nowhere.bring_up();
  ASSERT_FALSE(up);
  EXPECT_THAT(up.error().message, testing::HasSubstr("is not running"));
  auto const killed = nowhere.kill();
  ASSERT_FALSE(killed);
  EXPECT_THAT(killed.error().message, testing::HasSubstr("it is not there"));
  plan_.start = waits;
  plan_.log = folder_ / "no" / "log";
  EXPECT_FALSE(nowhere.bring_up());
}

TEST_F(drill_process, a_command_tells_how_it_ended_and_what_it_printed) {
  auto const log = (folder_ / "log").string();
  auto one = command::start("echo $((40 + 2)); exit 3", log, true);
  ASSERT_TRUE(one);
  one->reap();
  EXPECT_FALSE(one->succeeded());
  EXPECT_EQ(one->exit_text(), "ended with status 3");
  std::ifstream file{log};
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "42");
}

}  // namespace
}  // namespace atone::drill
