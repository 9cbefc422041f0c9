// atone drill: a plan's mistakes, and what would be done. (What is done: tests/integration/drill.)
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_daemon.hpp"

namespace atone::cli {
namespace {

using testing::HasSubstr;

constexpr auto plan = R"(drill: weekly
coordinators: ["http://127.0.0.1:7070"]
load: {saga: order, input: '{"id": {n}}'}
processes: {atoned: {start: atoned}}
faults: [{kill: atoned}, {pause: atoned, for: 3s}]
rounds: 2
)";

TEST(drill_command, dry_run_says_what_would_be_done) {
  command_line line;
  line.standard_input = plan;
  EXPECT_EQ(line.run({"drill", "-", "--dry-run", "--seed", "7"}), exit_code::done) << line.err();
  EXPECT_THAT(line.out(), HasSubstr("drill weekly   seed 7"));
  EXPECT_THAT(line.out(), HasSubstr(R"(input {"id": 1})"));
  EXPECT_THAT(line.out(),
              HasSubstr("faults      4, one after another; the first ones:\n    kill atoned\n    pause atoned for 3s\n    kill atoned\n"));
}

TEST(drill_command, mistakes_are_told_with_their_places) {
  command_line line;
  line.standard_input = std::string{plan}.replace(0, 5, "dril");
  EXPECT_EQ(line.run({"drill", "-"}), exit_code::usage);
  EXPECT_THAT(line.err(), HasSubstr("standard input:1:1  dril   unknown key `dril` in the plan; did you mean `drill`?"));
  EXPECT_EQ(line.run({"drill", "-", "--seed", "many"}), exit_code::usage);
  EXPECT_EQ(line.run({"drill", "no such file"}), exit_code::usage);
  EXPECT_EQ(line.run({"drill", "/", "--dry-run"}), exit_code::usage);  // there, and can't be read
}

// A terminal that is closed ends a drill in good order, as Ctrl-C does.
TEST(drill_command, a_hang_up_ends_it_as_an_interruption) {
  for (int const signal : {SIGHUP, SIGINT, SIGTERM}) {
    command_line line;
    line.standard_input = R"(drill: weekly
coordinators: ["http://127.0.0.1:1"]
load: {saga: order, input: '{}'}
processes: {stops: {start: "sh -c 'kill -)" +
                          std::to_string(signal) + R"( $PPID; tail -f /dev/null'"}}
faults: [{kill: stops}]
)";
    EXPECT_EQ(line.run({"drill", "-"}), exit_code::usage);
    EXPECT_THAT(line.err(), HasSubstr("interrupted before the first saga"));
  }
}

}  // namespace
}  // namespace atone::cli
