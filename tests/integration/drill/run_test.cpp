// A whole drill against a coordinator of the test's own, which can lose sagas and stop working: what the drill must find, it finds; what it
// broke, it mends; what it brought up, it ends.
#include <signal.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drill/clock_library.hpp"
#include "drill/run.hpp"
#include "http_loop.hpp"
#include "http_scripted_peer.hpp"
#include "pace.hpp"

namespace atone::drill {
namespace {

using namespace std::chrono_literals;
using atone_test::test_server;
using testing::HasSubstr;

// Every saga completes at once, or as it is told.
class fake_coordinator {
 public:
  http::response answer(http::request const& to) {
    ++requests;
    std::lock_guard const lock{mutex_};
    if (to.method == "POST" && to.target == "/v1/definitions") return {200, "{}"};
    if (to.method == "POST") return start(to);
    if (to.target == "/ready") return {200, "{}"};
    if (to.target.starts_with("/v1/sagas?")) return list(to.target);
    if (to.target.starts_with("/v1/alerts")) return {200, R"({"alerts": [)" + alerts_ + "]}"};
    auto const id = to.target.substr(std::string_view{"/v1/sagas/"}.size(), saga_id::text_size);
    if (id == lost_ && to.target.find("/wait") == std::string::npos) return {404, "{}"};
    if (std::filesystem::exists(broken)) return {503, "{}"};
    return {200, R"({"id": ")" + id + R"(", "status": "completed", "steps": [{"path": "features", "fell_back": true}]})"};
  }
  void lose_one() { losing_ = true; }
  void refuse_starts() { refusing_ = true; }
  void double_one() { doubling_ = true; }
  void know_every_key() { knowing_ = true; }

  std::atomic<int> requests{0};
  std::string broken;  // while this file is there, nothing ends
  std::string deaf;    // while this one is there, no start is answered

 private:
  http::response start(http::request const& to) {
    if (std::filesystem::exists(deaf)) return {503, "{}"};
    if (refusing_) return {422, "no such input"};
    std::array<std::uint8_t, 16> bytes{};
    bytes[0] = 1;
    auto const whole = std::string{to.headers.get("Idempotency-Key")};
    auto const key = std::stoull(whole.substr(whole.rfind('-') + 1));
    for (std::size_t n = 0; n < 8; ++n) bytes[15 - n] = static_cast<std::uint8_t>(key >> (8 * n));
    auto const id = saga_id{bytes}.text();
    alerts_ += (alerts_.empty() ? "" : ", ") + (R"({"saga": ")" + id) + R"(", "kind": "fallback"})";
    if (losing_ && lost_.empty()) lost_ = id;
    stored_[whole].insert(id);
    bytes[0] = 2;
    if (doubling_.exchange(false)) stored_[whole].insert(saga_id{bytes}.text());
    return {knowing_ ? 200 : 201, R"({"id": ")" + id + R"(", "replayed": )" + (knowing_ ? "true}" : "false}")};
  }
  // One saga a page, the newest first as the text of its id says.
  http::response list(std::string const& target) const {
    std::map<std::string, std::string, std::greater<>> keys;
    for (auto const& [key, ids] : stored_) {
      for (auto const& id : ids) keys[id] = key;
    }
    auto const at = target.find("&before=");
    auto const from = at == std::string::npos ? keys.begin() : keys.upper_bound(target.substr(at + 8));
    if (from == keys.end()) return {200, R"({"sagas": [], "next": null})"};
    return {200, R"({"sagas": [{"id": ")" + from->first + R"(", "key": ")" + from->second + R"("}], "next": ")" + from->first + "\"}"};
  }

  std::mutex mutex_;
  std::string alerts_;  // one a saga
  std::string lost_;
  std::atomic<bool> losing_{false};
  std::atomic<bool> refusing_{false};
  std::atomic<bool> doubling_{false};
  std::atomic<bool> knowing_{false};
  std::map<std::string, std::set<std::string>> stored_;  // ids by key
};

class drill_run_test : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "atone-drill-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    coordinator_.broken = folder_ / "broken";
    coordinator_.deaf = folder_ / "deaf";
    plan_.name = "test";
    plan_.coordinators = {"http://127.0.0.1:" + std::to_string(server_.port())};
    plan_.load.saga = "order";
    plan_.load.input = "{}";
    plan_.load.in_flight = 4;
    plan_.load.rate = 200;
    plan_.load.warm_up = 300ms;
    plan_.rest = 50ms;
    plan_.must.back_to = 50;  // other tests run beside it
    plan_.must.stays = 300ms;
    with_.interrupted = [this] { return interrupted_.load(); };
    with_.tell = [](std::string const&) {};
    with_.audit = [](std::string const&) {
      audit::report clean;
      clean.proven = 1;
      return result<audit::report>{clean};
    };
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  fault_plan& add(fault_plan::kind_of kind) {
    plan_.faults.emplace_back();
    plan_.faults.back().kind = kind;
    plan_.faults.back().lasts = 50ms;
    return plan_.faults.back();
  }
  void add_proxy(std::string const& name, std::uint16_t port) {
    plan_.proxies.emplace_back();
    auto& proxy = plan_.proxies.back();
    proxy.name = name;
    proxy.listen.address = "127.0.0.1";
    proxy.listen.port = port;
    proxy.to.address = "127.0.0.1";
    proxy.to.port = server_.port();
  }
  void add_reset(std::string const& proxy) {
    auto& fault = add(fault_plan::kind_of::network);
    fault.target = proxy;
    fault.network.kind = fault_kind::reset;
  }
  drill_report run() {
    auto done = run_drill(plan_, with_);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return done ? std::move(*done) : drill_report{};
  }
  int code(drill_report const& of) const { return exit_code(verdict(judge(of, plan_.must))); }

  std::filesystem::path folder_;
  fake_coordinator coordinator_;
  test_server server_{[this](http::request to, http::responder by) { by.send(coordinator_.answer(to)); }};
  drill_plan plan_;
  drill_world with_;
  std::atomic<bool> interrupted_{false};
};

TEST_F(drill_run_test, a_process_is_killed_and_everything_is_well) {
  plan_.processes.emplace_back();
  auto& process = plan_.processes.back();
  process.name = "waits";
  process.start = "tail -f /dev/null";
  process.pid_file = folder_ / "pid";
  process.ready = "tcp://127.0.0.1:" + std::to_string(server_.port());
  add(fault_plan::kind_of::kill).target = "waits";
  plan_.faults[0].lasts.reset();
  auto& paused = add(fault_plan::kind_of::pause);
  paused.target = "waits";
  paused.expect.fallback = "features";
  paused.expect.alert = "fallback";
  auto const seen = run();
  EXPECT_EQ(code(seen), 0) << to_text(seen, plan_.must);
  EXPECT_EQ(seen.kills(), 1U);
  EXPECT_EQ(seen.applied(), 2U);
  EXPECT_GT(seen.sagas.accepted, 20U);
  EXPECT_EQ(seen.sagas.completed, seen.sagas.accepted);
  EXPECT_GT(seen.faults[1].fell_back.at("features"), 0U);
  pid_t pid = -1;
  std::ifstream{process.pid_file} >> pid;
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(drill_run_test, a_process_that_ends_by_itself_is_found) {
  plan_.processes.emplace_back();
  plan_.processes.back().name = "fragile";
  plan_.processes.back().start = "tail -f /dev/null";
  plan_.processes.back().pid_file = folder_ / "pid";
  add(fault_plan::kind_of::command).run = "kill $(cat '" + plan_.processes.back().pid_file + "')";
  plan_.rest = 300ms;
  auto const seen = run();
  EXPECT_EQ(seen.ended, (std::map<std::string, std::uint64_t>{{"fragile", 1}}));
  EXPECT_EQ(code(seen), 1);
  plan_.must.ended_by_themselves = 1;
  EXPECT_EQ(code(run()), 0);
}

TEST_F(drill_run_test, a_wrong_clock_is_left_out_where_the_library_is_not_there) {
  plan_.processes.emplace_back();
  plan_.processes.back().name = "timed";
  plan_.processes.back().start = "tail -f /dev/null";
  plan_.processes.back().pid_file = folder_ / "pid";
  add(fault_plan::kind_of::clock).target = "timed";
  plan_.faults.back().off = 1h;
  add(fault_plan::kind_of::command).run = "true";
  auto const seen = run();
  EXPECT_EQ(seen.faults[0].times, 0U);
  EXPECT_THAT(seen.faults[0].left_out, HasSubstr("libfaketime"));
  EXPECT_EQ(code(seen), 0) << to_text(seen, plan_.must);
  with_.must_be_whole = true;
  EXPECT_EQ(code(run()), 2);
}

TEST_F(drill_run_test, a_wrong_clock_ends_with_a_right_one) {
  with_.clock_library = find_clock_library();
  if (with_.clock_library.empty() && std::getenv("CI") == nullptr) GTEST_SKIP() << "skipped, because libfaketime is not installed";
  plan_.processes.emplace_back();
  plan_.processes.back().name = "timed";
  plan_.processes.back().start = "sh -c 'date +%Y >> " + (folder_ / "years").string() + "; exec tail -f /dev/null'";
  plan_.processes.back().pid_file = folder_ / "pid";
  add(fault_plan::kind_of::clock).target = "timed";
  plan_.faults.back().off = 24h * 3650;
  plan_.faults.back().lasts = 300ms;
  auto const seen = run();
  EXPECT_EQ(code(seen), 0) << to_text(seen, plan_.must);
  EXPECT_EQ(seen.faults[0].recoveries.size(), 1U);
  std::ifstream file{folder_ / "years"};
  std::vector<int> years;
  for (int year = 0; file >> year;) years.push_back(year);
  EXPECT_EQ(seen.faults[0].hit_nothing, 0U);
  ASSERT_EQ(years.size(), 3U) << "at the beginning, with the wrong clock, and after it";
  EXPECT_GE(years[1], years[0] + 9);
  EXPECT_LE(years[2], years[0] + 1);
}

// As of a program that is linked statically: the library never comes into it.
TEST_F(drill_run_test, a_clock_that_stayed_right_has_hit_nothing) {
  with_.clock_library = find_clock_library();
  if (with_.clock_library.empty() && std::getenv("CI") == nullptr) GTEST_SKIP() << "skipped, because libfaketime is not installed";
  plan_.processes.emplace_back();
  plan_.processes.back().name = "timed";
  plan_.processes.back().start = "env -u LD_PRELOAD tail -f /dev/null";
  plan_.processes.back().pid_file = folder_ / "pid";
  add(fault_plan::kind_of::clock).target = "timed";
  plan_.faults.back().off = 1h;
  plan_.faults.back().lasts = 300ms;
  auto const seen = run();
  EXPECT_EQ(seen.faults[0].hit_nothing, 1U);
  EXPECT_EQ(code(seen), 2) << to_text(seen, plan_.must);
}

TEST_F(drill_run_test, a_lost_saga_is_found) {
  coordinator_.lose_one();
  add(fault_plan::kind_of::command).run = "true";
  auto const seen = run();
  EXPECT_EQ(seen.sagas.missing, 1U);
  EXPECT_EQ(seen.sagas.missing_ids.size(), 1U);
  EXPECT_EQ(code(seen), 1);
}

// The load was told of one saga; the store has two under its key.
TEST_F(drill_run_test, a_doubled_start_is_found) {
  coordinator_.double_one();
  add(fault_plan::kind_of::command).run = "true";
  auto const seen = run();
  EXPECT_EQ(seen.sagas.doubled, 1U);
  EXPECT_EQ(code(seen), 1);
  EXPECT_THAT(to_text(seen, plan_.must), HasSubstr("doubled: key drill-1-1 has the sagas "));
}

TEST_F(drill_run_test, a_key_sent_for_the_first_time_must_be_new) {
  coordinator_.know_every_key();
  add(fault_plan::kind_of::command).run = "true";
  auto const seen = run();
  EXPECT_THAT(seen.trouble, HasSubstr("was sent once, and answered as one that was accepted before"));
  EXPECT_EQ(code(seen), 2);
  // A proxy that doubles requests may do so to the first one.
  plan_.faults[0].network.kind = fault_kind::duplicate;
  EXPECT_EQ(code(run()), 0);
}

TEST_F(drill_run_test, a_load_that_does_not_go_on_is_found) {
  auto& fault = add(fault_plan::kind_of::command);
  fault.run = "touch " + coordinator_.broken;
  plan_.must.settle = 300ms;
  plan_.must.give_up = 500ms;
  auto const seen = run();
  EXPECT_EQ(seen.faults[0].unrecovered, 1U);
  EXPECT_EQ(code(seen), 1) << to_text(seen, plan_.must);
  std::filesystem::remove(coordinator_.broken);
  plan_.must = demands{};
  fault.undo = "rm " + coordinator_.broken;
  auto const mended = run();
  EXPECT_EQ(code(mended), 0) << to_text(mended, plan_.must);
}

TEST_F(drill_run_test, starts_that_are_never_answered_are_no_pass) {
  plan_.load.in_flight = 1;
  plan_.must.give_up = 500ms;
  plan_.must.settle = 300ms;
  auto& fault = add(fault_plan::kind_of::command);
  fault.run = "touch " + coordinator_.deaf;
  auto const seen = run();
  EXPECT_EQ(seen.sagas.unanswered, 1U);
  auto const all = judge(seen, plan_.must);
  auto const lost = std::find_if(all.begin(), all.end(), [](auto const& one) { return one.about == "lost"; });
  ASSERT_NE(lost, all.end());
  EXPECT_EQ(lost->stands, standing::unknown) << lost->text;
  EXPECT_THAT(seen.trouble, HasSubstr("not every start was answered, within 300ms"));
}

// A slow rest must not make the next fault's recovery easier.
TEST_F(drill_run_test, the_usual_rate_is_that_of_the_warm_up) {
  add(fault_plan::kind_of::command).run = "true";
  plan_.rest = 3s;
  auto const seen = run();
  EXPECT_GE(seen.took, 3s);
  EXPECT_LT(seen.usual.calm, 3s);
}

TEST_F(drill_run_test, what_was_expected_and_did_not_come_is_found) {
  auto& fault = add(fault_plan::kind_of::command);
  fault.run = "true";
  fault.expect.fallback = "another step";
  auto const seen = run();
  EXPECT_EQ(seen.faults[0].fallback_missed, 1U);
  EXPECT_EQ(code(seen), 1);
}

TEST_F(drill_run_test, an_interrupted_drill_undoes_its_fault_and_is_no_pass) {
  auto& fault = add(fault_plan::kind_of::command);
  fault.run = "touch " + coordinator_.broken;
  fault.undo = "rm " + coordinator_.broken;
  fault.lasts = 1h;
  with_.interrupted = [this] { return std::filesystem::exists(coordinator_.broken); };
  auto const seen = run();
  EXPECT_TRUE(seen.interrupted);
  EXPECT_GT(seen.sagas.accepted, 0U);
  EXPECT_FALSE(std::filesystem::exists(coordinator_.broken));
  EXPECT_EQ(code(seen), 2);
}

TEST_F(drill_run_test, refusals_and_failing_commands_end_it) {
  add(fault_plan::kind_of::command).run = "exit 3";
  auto const failed = run();
  EXPECT_THAT(failed.trouble, HasSubstr("`exit 3` ended with status 3"));
  EXPECT_EQ(code(failed), 2);
  coordinator_.refuse_starts();
  auto const refused = run();
  EXPECT_THAT(refused.trouble, HasSubstr("no such input"));
  EXPECT_EQ(code(refused), 2);
}

TEST_F(drill_run_test, a_process_that_does_not_come_up_is_an_error) {
  plan_.processes.emplace_back();
  plan_.processes.back().name = "ends";
  plan_.processes.back().start = "false";
  plan_.processes.back().ready = "http://127.0.0.1:1/";
  add(fault_plan::kind_of::kill).target = "ends";
  auto const done = run_drill(plan_, with_);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("process ends ended with status 1"));
}

TEST_F(drill_run_test, a_proxy_before_the_coordinator_is_broken_and_healed) {
  add_proxy("door", atone_test::closed_port());
  plan_.coordinators = {"http://127.0.0.1:" + std::to_string(plan_.proxies[0].listen.port)};
  add_reset("door");
  auto const seen = run();
  EXPECT_EQ(code(seen), 0) << to_text(seen, plan_.must);
  EXPECT_GT(seen.faults[0].hits, 0U);
  EXPECT_EQ(seen.faults[0].hit_nothing, 0U);
}

// A fault that meets nobody shows nothing, however well sagas go on.
TEST_F(drill_run_test, a_proxy_that_nothing_goes_through_is_no_pass) {
  add_proxy("aside", 0);
  add_reset("aside");
  auto const seen = run();
  EXPECT_EQ(code(seen), 2) << to_text(seen, plan_.must);
  EXPECT_EQ(seen.faults[0].hit_nothing, 1U);
  EXPECT_THAT(to_text(seen, plan_.must),
              HasSubstr("proxy aside reset for 50ms: met no connection, or nothing went through proxy aside, 1 of 1"));
}

}  // namespace
}  // namespace atone::drill
