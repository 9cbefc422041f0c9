// Three daemons on one database, as an operator has them: one is killed, one is stopped for a while, and what they drove goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/http.hpp>
#include <atone/json.hpp>

#include "daemon_process.hpp"
#include "nodes_harness.hpp"

namespace atone {
namespace {

using api::eventually;
using atone_test::daemon_process;
using atone_test::scratch;
using testing::HasSubstr;

http::response ask(std::string const& url, std::string method, std::string body = {}, std::string const& type = "application/json") {
  http::request what;
  what.method = std::move(method);
  what.body = std::move(body);
  if (!what.body.empty()) what.headers.add("Content-Type", type);
  return http::fetch(url, what, api::patience).response;
}

// One after another, each with a name and a port of its own.
class cluster {
 public:
  cluster() {
    auto& server = test::postgres_server::shared();
    store_ = server.address(server.make_database());
    for (auto const* name : {"a", "b", "c"}) start(name);
  }

  void start(std::string const& name) {
    auto made = std::make_unique<daemon_process>(
        std::vector<std::string>{"--store", store_, "--node", name, "--lease", "1s", "--service", "a=" + participant_.url()},
        folder_.file(name));
    urls_[name] = made->url();
    if (urls_[name].empty()) throw std::runtime_error{made->log()};
    processes_[name] = std::move(made);
  }
  daemon_process& process(std::string const& name) { return *processes_.at(name); }
  std::string const& url(std::string const& name) const { return urls_.at(name); }
  // As `asked` sees it; -1 where it is gone.
  int shards_of(std::string const& name, std::string const& asked) const {
    auto const list = json::parse(ask(url(asked) + "/v1/nodes", "GET").body);
    if (!list) return -1;
    for (auto const& one : list->find("nodes").value().elements()) {
      if (one.find("node")->as_string() != name || !one.find("alive")->as_bool()) continue;
      return static_cast<int>(one.find("shards")->as_int64().value());
    }
    return -1;
  }
  bool is_shared_out() const {
    return eventually([this] { return shards_of("a", "a") >= 21 && shards_of("b", "a") >= 21 && shards_of("c", "a") >= 21; });
  }

 private:
  scratch folder_;
  api::accepting_participant participant_;
  std::string store_;
  std::map<std::string, std::string> urls_;
  std::map<std::string, std::unique_ptr<daemon_process>> processes_;
};

std::string const one_step = R"(saga: one
version: 1
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - {id: s, call: a POST /s, in: {n: =input.n}, attempt_timeout: 1h, compensate: {call: a DELETE /s, in: {n: =input.n}}}
)";

std::string start_on(cluster const& with, std::string const& name) {
  auto const made = ask(with.url(name) + "/v1/sagas/one", "POST", R"({"n": 1})");
  auto const parsed = json::parse(made.body);
  EXPECT_EQ(made.status, 201) << made.body;
  return parsed && parsed->find("id") ? parsed->find("id")->as_string() : "";
}

TEST(daemons, go_on_with_what_a_killed_one_drove) {
  ATONE_NEED_POSTGRES();
  cluster with;
  ASSERT_TRUE(with.is_shared_out());
  EXPECT_EQ(ask(with.url("b") + "/v1/definitions", "POST", one_step, "application/yaml").status, 201);
  auto const id = start_on(with, "a");
  EXPECT_EQ(ask(with.url("c") + "/v1/sagas/" + id + "/pause", "POST").status, 200) << "passed on";
  with.process("a").signal(SIGKILL);
  EXPECT_EQ(with.process("a").wait(), -SIGKILL);
  auto const resumed = ask(with.url("c") + "/v1/sagas/" + id + "/resume", "POST");
  EXPECT_EQ(resumed.status, 200) << resumed.body << ": looked for until it was taken over";
  EXPECT_TRUE(eventually([&] { return with.shards_of("b", "b") == 32 && with.shards_of("c", "b") == 32; }));
  EXPECT_EQ(with.shards_of("a", "b"), -1);
  with.start("a");  // under its name again
  EXPECT_TRUE(with.is_shared_out());
  EXPECT_EQ(ask(with.url("a") + "/v1/sagas/" + id + "/cancel", "POST").status, 200);
}

TEST(daemons, one_that_was_stopped_for_a_while_finds_itself_replaced) {
  ATONE_NEED_POSTGRES();
  cluster with;
  ASSERT_TRUE(with.is_shared_out());
  EXPECT_EQ(ask(with.url("b") + "/v1/definitions", "POST", one_step, "application/yaml").status, 201);
  auto const id = start_on(with, "a");
  with.process("a").signal(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return with.shards_of("a", "b") == -1 && with.shards_of("b", "b") == 32; }));
  EXPECT_EQ(ask(with.url("b") + "/v1/sagas/" + id + "/pause", "POST").status, 200);
  with.process("a").signal(SIGCONT);
  EXPECT_EQ(with.process("a").wait(), 1) << "whoever starts it begins anew";
  EXPECT_THAT(with.process("a").log(), HasSubstr("drives sagas no more"));
}

}  // namespace
}  // namespace atone
