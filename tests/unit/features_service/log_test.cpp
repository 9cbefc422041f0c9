// The log: whole frames come back, a torn end is cut off, damage in the middle is an error, a failed sync is the end.
#include "service/log.hpp"

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/crc32c.hpp"
#include "support.hpp"

namespace atone::features_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t head = 20;  // bytes of a frame before its payload

class features_log : public testing::Test {
 protected:
  // What the folder's log holds; its words where it can't be opened.
  std::vector<std::string> read(std::string const& in) {
    std::vector<std::string> found;
    auto const opened = commit_log::open(in, {}, [&](std::uint64_t number, std::string_view payload) -> result<void> {
      found.push_back(std::to_string(number) + " " + std::string{payload});
      return {};
    });
    if (!opened) return {opened.error().message};
    cut = opened->cut_off();
    return found;
  }
  static result<void> nothing(std::uint64_t, std::string_view) { return {}; }
  void write_three() {
    auto log = commit_log::open(folder.path(), {}, nothing);
    ASSERT_TRUE(log) << log.error().message;
    ASSERT_TRUE(log->append(1, "first"));
    ASSERT_TRUE(log->append(4, "second one"));
    ASSERT_TRUE(log->append(5, "third"));
    EXPECT_EQ(log->bytes(), 3 * head + 20);
  }

  scratch_folder folder;
  std::uint64_t cut = 0;
};

TEST(crc32c, is_that_of_castagnoli) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c("6789", crc32c("12345")), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
}

TEST_F(features_log, gives_back_what_was_appended) {
  write_three();
  EXPECT_THAT(read(folder.path()), ElementsAre("1 first", "4 second one", "5 third"));
  EXPECT_EQ(cut, 0U);
}

TEST_F(features_log, a_last_frame_torn_at_any_byte_is_cut_off_and_told) {
  write_three();
  auto const whole = read_file(folder.file(log_name));
  auto const two = whole.size() - head - 5;
  for (auto size = two + 1; size < whole.size(); ++size) {
    scratch_folder other;
    write_file(other.file(log_name), whole.substr(0, size));
    EXPECT_THAT(read(other.path()), ElementsAre("1 first", "4 second one")) << size;
    EXPECT_EQ(cut, size - two);
    EXPECT_EQ(std::filesystem::file_size(other.file(log_name)), two);
    EXPECT_THAT(read(other.path()), ElementsAre("1 first", "4 second one"));
    EXPECT_EQ(cut, 0U) << "it is cut off once";
  }
}

TEST_F(features_log, pages_of_a_torn_frame_that_were_never_written_are_cut_off) {
  write_three();
  auto bytes = read_file(folder.file(log_name));
  for (auto byte = bytes.size() - 3; byte < bytes.size(); ++byte) bytes[byte] = '\0';
  write_file(folder.file(log_name), bytes + std::string(5000, '\0'));
  EXPECT_THAT(read(folder.path()), ElementsAre("1 first", "4 second one"));
}

TEST_F(features_log, a_changed_byte_anywhere_before_the_last_frame_is_an_error_with_its_place_and_changes_nothing) {
  write_three();
  auto const whole = read_file(folder.file(log_name));
  for (std::size_t byte = 0; byte < whole.size() - head - 5; ++byte) {
    auto bytes = whole;
    bytes[byte] = static_cast<char>(bytes[byte] ^ 0x41);
    scratch_folder other;
    write_file(other.file(log_name), bytes);
    auto const opened = commit_log::open(other.path(), {}, nothing);
    ASSERT_FALSE(opened) << byte;
    EXPECT_EQ(opened.error().code, errc::corrupt);
    auto const frame = byte < head + 5 ? std::size_t{0} : head + 5;
    EXPECT_THAT(opened.error().message, HasSubstr(other.file(log_name) + " is damaged at byte " + std::to_string(frame))) << byte;
    EXPECT_EQ(read_file(other.file(log_name)), bytes);
  }
}

TEST_F(features_log, another_file_under_its_name_is_not_cut_off) {
  write_file(folder.file(log_name), "user,amount\n7,12.50\n");
  EXPECT_THAT(read(folder.path()), ElementsAre(HasSubstr("is no log of features")));
  EXPECT_EQ(std::filesystem::file_size(folder.file(log_name)), 20U);
}

TEST_F(features_log, belongs_to_one_process) {
  auto const first = commit_log::open(folder.path(), {}, nothing);
  ASSERT_TRUE(first);
  auto const second = commit_log::open(folder.path(), {}, nothing);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::conflict);
  EXPECT_THAT(second.error().message, HasSubstr("in use"));
}

TEST_F(features_log, takes_nothing_after_a_failed_sync_and_never_repeats_it) {
  int syncs = 0;
  int bad = 0;
  auto log = commit_log::open(folder.path(), [&](int) { return ++syncs == bad ? EIO : 0; }, nothing);
  ASSERT_TRUE(log);
  syncs = 0;
  bad = 2;
  ASSERT_TRUE(log->append(1, "first"));
  EXPECT_EQ(log->append(2, "second").error().code, errc::outcome_unknown);
  EXPECT_EQ(log->append(3, "third").error().code, errc::unavailable);
  EXPECT_EQ(log->rewrite([](std::string_view of) -> result<std::string> { return std::string{of}; }).error().code, errc::unavailable);
  EXPECT_EQ(syncs, 2);
}

TEST_F(features_log, is_written_anew_with_what_is_kept) {
  write_three();
  {
    auto log = commit_log::open(folder.path(), {}, nothing);
    ASSERT_TRUE(log);
    auto const kept = [](std::string_view of) -> result<std::string> { return std::string{of == "second one" ? "" : of.substr(0, 3)}; };
    ASSERT_TRUE(log->rewrite(kept));
    EXPECT_EQ(log->bytes(), 2 * head + 6);
    ASSERT_TRUE(log->append(6, "more"));
  }
  EXPECT_THAT(read(folder.path()), ElementsAre("1 fir", "5 thi", "6 more"));
}

// What is read may be in the kernel's memory only: nobody is told of it before it is durable.
TEST_F(features_log, is_made_durable_at_the_opening_with_its_last_frame_written_again) {
  write_three();
  auto const path = folder.file(log_name);
  auto const whole = read_file(path);
  std::vector<std::string> synced;
  auto const open = [&](int failure) {
    synced.clear();
    return commit_log::open(
        folder.path(),
        [&](int descriptor) {
          auto const name = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor)).filename().string();
          synced.push_back(name);
          return name == log_name ? failure : 0;
        },
        nothing);
  };
  EXPECT_TRUE(open(0));
  EXPECT_EQ(std::count(synced.begin(), synced.end(), log_name), 1) << "closed in peace or not: nobody can know";
  auto const failing = open(EIO);
  ASSERT_FALSE(failing);
  EXPECT_THAT(failing.error().message, HasSubstr("what was read can't be made durable"));
  auto const before = std::filesystem::last_write_time(path) - std::chrono::hours{1};
  std::filesystem::last_write_time(path, before);
  EXPECT_TRUE(open(0));
  EXPECT_NE(std::filesystem::last_write_time(path), before) << "its pages are dirty again, whatever the kernel believed";
  EXPECT_EQ(read_file(path), whole);
}

TEST_F(features_log, says_that_it_failed_when_a_new_files_name_may_not_last) {
  bool broken = false;
  auto const is_folder = [](int descriptor) { return std::filesystem::is_directory("/proc/self/fd/" + std::to_string(descriptor)); };
  auto log = commit_log::open(folder.path(), [&](int descriptor) { return broken && is_folder(descriptor) ? EIO : 0; }, nothing);
  ASSERT_TRUE(log);
  ASSERT_TRUE(log->append(1, "first"));
  EXPECT_FALSE(log->has_failed());
  broken = true;
  EXPECT_FALSE(log->rewrite([](std::string_view of) -> result<std::string> { return std::string{of}; }));
  EXPECT_TRUE(log->has_failed());
  EXPECT_EQ(log->append(2, "second").error().code, errc::unavailable);
}

// A crash before the rename leaves the old file and a beginning of the new one.
TEST_F(features_log, a_rewriting_that_did_not_come_to_its_end_changes_nothing) {
  write_three();
  write_file(folder.file(std::string{log_name} + ".new"), "half a fr");
  EXPECT_THAT(read(folder.path()), ElementsAre("1 first", "4 second one", "5 third"));
  EXPECT_FALSE(std::filesystem::exists(folder.file(std::string{log_name} + ".new")));
}

TEST_F(features_log, a_rewriting_that_fails_leaves_the_log_as_it_was_and_at_work) {
  bool broken = false;
  auto log = commit_log::open(folder.path(), [&](int) { return broken ? ENOSPC : 0; }, nothing);
  ASSERT_TRUE(log);
  ASSERT_TRUE(log->append(1, "first"));
  broken = true;
  EXPECT_FALSE(log->rewrite([](std::string_view of) -> result<std::string> { return std::string{of}; }));
  EXPECT_FALSE(log->rewrite([](std::string_view) -> result<std::string> { return error{errc::corrupt, "no"}; }));
  broken = false;
  EXPECT_TRUE(log->append(2, "second"));
  log = error{errc::unavailable, "closed"};
  EXPECT_THAT(read(folder.path()), ElementsAre("1 first", "2 second"));
}

}  // namespace
}  // namespace atone::features_test
