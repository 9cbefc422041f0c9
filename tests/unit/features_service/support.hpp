// A feature service in a folder of its own, with a clock that the test sets and alerts that it reads.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <atone/features/service.hpp>

#include "../features/support.hpp"

namespace atone::features_test {

using namespace features;

constexpr std::int64_t second = 1'000'000;
inline timestamp at(std::int64_t microseconds) {
  return timestamp{duration{microseconds}};
}

class scratch_folder {
 public:
  scratch_folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "atone-features-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~scratch_folder() { std::filesystem::remove_all(path_); }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;
  std::string file(std::string const& name) const { return path_ + "/" + name; }
  std::string const& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string read_file(std::string const& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}
inline void write_file(std::string const& path, std::string const& bytes) {
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
  std::ofstream{path, std::ios::binary | std::ios::trunc} << bytes;
}

// Users and what they bought; with `known_at` where it is asked for.
inline feature_set_ptr shop_set(bool known = false) {
  return set_of(
      std::string{"feature_set: shop\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\n"} + (known ? "known_at: told\n" : "") +
      "columns: {user: integer, id: text, at: timestamp, amount: {type: decimal, scale: 2}, product: text" +
      (known ? ", told: timestamp" : "") +
      "}\nwindows: {10s: {last: 10s}, ever: {since: epoch}}\n"
      "features: {n: {count: events, over: [10s, ever]}, spent: {sum: amount, over: [ever]}, kinds: {distinct: product, over: [ever]}, "
      "newest: {last_values: product, keep: 2, over: [ever]}}\n");
}

// What stands between a commit and the disk: closed, commits wait there.
class disk_gate {
 public:
  int sync(int descriptor) {
    std::unique_lock guard{guard_};
    ++arrived_;
    changed_.notify_all();
    changed_.wait(guard, [this] { return open_; });
    return fails_ ? EIO : ::fdatasync(descriptor) == 0 ? 0 : errno;
  }
  void close() {
    std::lock_guard const guard{guard_};
    open_ = false;
  }
  void open() {
    std::lock_guard const guard{guard_};
    open_ = true;
    changed_.notify_all();
  }
  void fail() {
    std::lock_guard const guard{guard_};
    fails_ = true;
  }
  // Until so many commits have come in all.
  void await(int count) {
    std::unique_lock guard{guard_};
    changed_.wait(guard, [&] { return arrived_ >= count; });
  }
  int arrived() {
    std::lock_guard const guard{guard_};
    return arrived_;
  }

 private:
  std::mutex guard_;
  std::condition_variable changed_;
  int arrived_ = 0;
  bool open_ = true;
  bool fails_ = false;
};

class service_test : public testing::Test {
 protected:
  ~service_test() override { gate.open(); }

  feature_service_options options() {
    feature_service_options made;
    made.folder = folder.path() + "/data";
    made.now = [this] { return at(now.load()); };
    made.alert = [this](std::string const& words) {
      std::lock_guard const guard{alerts_guard_};
      alerts_.push_back(words);
    };
    made.look_every = duration{};
    made.sync = [this](int descriptor) { return gate.sync(descriptor); };
    return made;
  }
  void open(feature_service_options with) {
    service.reset();
    auto made = feature_service::open(set, std::move(with));
    ASSERT_TRUE(made) << made.error().message;
    service = *std::move(made);
  }
  void open() { open(options()); }

  // user, id, time, cents, product; and when it was known.
  result<append_outcome> append(raw_rows const& rows) { return service->append(table_of(*set, rows)); }
  void must_append(raw_rows const& rows) {
    auto const done = append(rows);
    ASSERT_TRUE(done) << done.error().message;
  }
  static recompute_request wish(std::string key, std::string entity, std::int64_t as_of) {
    recompute_request made;
    made.key = std::move(key);
    made.entity = std::move(entity);
    made.as_of = at(as_of);
    return made;
  }
  // The answer as JSON, or the error's message.
  std::string recompute(recompute_request const& what) {
    auto const made = service->recompute(what);
    return made ? to_json(*made) : made.error().message;
  }
  std::string republish(std::string const& key, std::string const& entity = "7") {
    auto const made = service->republish(key, entity);
    return made ? to_json(*made) : made.error().message;
  }
  served_features served(std::string const& entity = "7") {
    auto const made = service->read(entity);
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : served_features{};
  }
  std::vector<std::string> alerts() {
    std::lock_guard const guard{alerts_guard_};
    return alerts_;
  }

  scratch_folder folder;
  std::atomic<std::int64_t> now{100 * second};
  disk_gate gate;
  feature_set_ptr set = shop_set();
  std::unique_ptr<feature_service> service;

 private:
  std::mutex alerts_guard_;
  std::vector<std::string> alerts_;
};

}  // namespace atone::features_test
