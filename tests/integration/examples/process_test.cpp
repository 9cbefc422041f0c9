// Child processes: started, heard, killed, stopped.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process.hpp"
#include "services_support.hpp"

namespace demo {
namespace {

using testing::HasSubstr;

constexpr atone::duration patience = std::chrono::seconds{30};

process shell(std::string const& text, std::string const& log) {
  auto started = process::start("/bin/sh", {"-c", text}, log);
  EXPECT_TRUE(started.has_value());
  return started ? std::move(*started) : process{};
}

TEST(child_process, its_port_is_heard) {
  examples_test::temporary_folder folder;
  auto child = shell("echo starting; echo listening on 127.0.0.1:4711; exec cat < /dev/zero > /dev/null", folder.file("log"));
  auto const port = wait_for_port(child, folder.file("log"), 0, patience);
  ASSERT_TRUE(port.has_value()) << port.error().message;
  EXPECT_EQ(*port, 4711);
  EXPECT_TRUE(child.running());
  child.kill_hard();
  EXPECT_FALSE(child.running());
  EXPECT_EQ(child.exit_text(), "ended by signal " + std::to_string(SIGKILL));
}

TEST(child_process, what_an_earlier_one_printed_does_not_count) {
  examples_test::temporary_folder folder;
  auto first = shell("echo listening on 127.0.0.1:1111", folder.file("log"));
  EXPECT_EQ(first.wait(), 0);
  auto const before = size_of(folder.file("log"));
  EXPECT_EQ(printed_port(folder.file("log"), 0), 1111);
  EXPECT_EQ(printed_port(folder.file("log"), before), 0);
}

TEST(child_process, an_early_end_is_reported_with_its_words) {
  examples_test::temporary_folder folder;
  auto child = shell("echo the port is taken >&2; exit 3", folder.file("log"));
  auto const port = wait_for_port(child, folder.file("log"), 0, patience);
  ASSERT_FALSE(port.has_value());
  EXPECT_THAT(port.error().message, HasSubstr("ended with status 3"));
  EXPECT_THAT(port.error().message, HasSubstr("the port is taken"));
}

TEST(child_process, stop_is_a_polite_signal_first) {
  examples_test::temporary_folder folder;
  auto child = shell("trap 'echo bye; exit 0' TERM; echo listening on 127.0.0.1:1; while :; do :; done", folder.file("log"));
  ASSERT_TRUE(wait_for_port(child, folder.file("log"), 0, patience).has_value());
  child.stop(patience);
  EXPECT_EQ(child.exit_text(), "ended with status 0");
}

TEST(child_process, who_does_not_stop_is_killed) {
  examples_test::temporary_folder folder;
  auto child = shell("trap '' TERM; echo listening on 127.0.0.1:1; while :; do :; done", folder.file("log"));
  ASSERT_TRUE(wait_for_port(child, folder.file("log"), 0, patience).has_value());
  child.stop(std::chrono::milliseconds{50});
  EXPECT_EQ(child.exit_text(), "ended by signal " + std::to_string(SIGKILL));
}

TEST(child_process, a_program_that_is_not_there_is_named) {
  auto const started = process::start("/no/such/program", {}, "/dev/null");
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().code, atone::errc::not_found);
  EXPECT_THAT(started.error().message, HasSubstr("/no/such/program"));
}

}  // namespace
}  // namespace demo
