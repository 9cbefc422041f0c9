// atoned with a feature set: sagas whose step recomputes, killed in the middle, without features for a while, and back again.
#include <signal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include <atone/features/service.hpp>
#include <atone/http.hpp>
#include <atone/json.hpp>

#include "../daemon/daemon_process.hpp"
#include "http_scripted_peer.hpp"
#include "pace.hpp"

namespace atone {
namespace {

using namespace std::chrono_literals;
using namespace atone_test;
using testing::AllOf;
using testing::HasSubstr;

constexpr duration patience = 20s;
constexpr std::int64_t second = 1'000'000;
constexpr int users = 6;

std::string const shop_set = R"(feature_set: shop
version: 1
entity: user
event_id: id
event_time: at
columns: {user: integer, id: text, at: timestamp, amount: {type: decimal, scale: 2}}
windows: {ever: {since: epoch}}
features: {n: {count: events, over: [ever]}, spent: {sum: amount, over: [ever]}}
)";

std::string definition(std::string const& shop) {
  return R"(saga: order
version: 1
input: {type: object, required: [user, at], properties: {user: {type: integer}, at: {type: integer}, refuse: {type: boolean}}}
services: {features: {local: feature_recompute}, shop: {http: ")" +
         shop + R"("}}
defaults:
  attempt_timeout: 5s
  retry: {attempts: 20, delay: 1ms, cap: 100ms, jitter: none}
  compensate: {attempts: 20, delay: 1ms, cap: 100ms, jitter: none}
steps:
  - id: features
    call: features recompute
    in: {set: shop, entity: =input.user, as_of: =input.at}
    out: {type: object, required: [version]}
    timeout: 1500ms
    fallback: {on: [timeout, unavailable], use: last_output, key: =input.user, max_age: 24h, alert: page}
    compensate: {call: features republish, in: {set: shop, entity: =input.user}}
  - id: ship
    call: shop POST /ship
    in: {refuse: "=has(input.refuse) && input.refuse"}
    compensate: {call: shop POST /unship, in: {}}
output: =steps.features.out
)";
}

// Ships, or has no van.
void serve_shop(raw_connection& c) {
  for (auto request = c.read_message(); !request.empty(); request = c.read_message()) {
    bool const refuses = request.find(R"("refuse":true)") != std::string::npos;
    c.send(refuses ? "HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\n{}" : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  }
}

http::exchange ask(std::string const& url, std::string method, std::string body = {}, std::string const& key = {}) {
  http::request what;
  what.method = std::move(method);
  what.body = std::move(body);
  if (!key.empty()) what.headers.add("Idempotency-Key", key);
  return http::fetch(url, what, patience);
}

json::value read(std::string const& body) {
  auto const parsed = json::parse(body);
  return parsed ? *parsed : json::value{};
}
std::string text(json::value const& from, std::string_view key) {
  auto const found = from.type() == json::kind::object ? from.find(key) : std::nullopt;
  if (!found) return {};
  return found->type() == json::kind::string ? found->as_string() : std::string{found->raw()};
}
std::int64_t integer(json::value const& from, std::string_view key) {
  auto const found = from.find(key);
  return found ? found->as_int64().value_or(-1) : -1;
}

class features_daemon : public testing::Test {
 protected:
  features_daemon() {
    std::filesystem::create_directory(folder.file("sets"));
    std::ofstream{folder.file("sets/shop.yaml")} << shop_set;
  }
  void start(bool with_features = true) {
    std::vector<std::string> flags{"--store", folder.store(), "--node", "one"};
    if (with_features) flags.insert(flags.end(), {"--features", folder.file("sets"), "--handler-threads", "8"});
    atoned.emplace(flags, folder.file("log"));
    url = atoned->url();
    ASSERT_FALSE(url.empty()) << atoned->log();
  }
  void publish() {
    auto const made = ask(url + "/v1/definitions", "PUT", definition(shop.url()));
    ASSERT_EQ(made.response.status, 201) << made.response.body;
  }
  void append(std::string const& rows) {
    auto const made = ask(url + "/v1/features/shop/events", "POST", R"({"rows":)" + rows + "}");
    ASSERT_EQ(made.response.status, 200) << made.response.body;
  }
  json::value served(int user) { return read(ask(url + "/v1/features/shop/entities/" + std::to_string(user), "GET").response.body); }
  static std::string input(int n) {
    return R"({"user":)" + std::to_string(n % users) + R"(,"at":)" + std::to_string(n * second) + (n % 9 == 4 ? R"(,"refuse":true})" : "}");
  }

  scratch folder;
  scripted_peer shop{serve_shop};
  std::optional<daemon_process> atoned;
  std::string url;
};

TEST_F(features_daemon, killed_in_the_middle_every_saga_ends_and_each_published_once) {
  constexpr int sagas = 120;
  start();
  publish();
  std::string rows;
  for (int n = 0; n < sagas; ++n) {
    rows += (n == 0 ? "[" : ",") + std::string{R"({"user":)"} + std::to_string(n % users) + R"(,"id":"e)" + std::to_string(n) +
            R"(","at":)" + std::to_string(n * second) + R"(,"amount":0.50})";
  }
  append(rows + "]");
  std::map<int, std::string> ids;
  int restarts = 0;  // each catches up, at most once a user
  for (int n = 0; n < sagas; ++n) {
    ids[n] = text(read(ask(url + "/v1/sagas/order", "POST", input(n), "order-" + std::to_string(n)).response.body), "id");
    ASSERT_FALSE(ids[n].empty());
    if (n % 40 != 25) continue;
    atoned->signal(SIGKILL);
    atoned.reset();
    start();
    ++restarts;
  }
  std::map<int, std::set<std::int64_t>> numbers;
  std::map<int, std::string> outputs;
  std::map<int, int> compensated;
  for (auto const& [n, id] : ids) {
    auto const ended = read(ask(url + "/v1/sagas/" + id + "/wait?timeout=20s", "GET").response.body);
    auto const status = text(ended, "status");
    EXPECT_EQ(status, n % 9 == 4 ? "compensated" : "completed") << text(ended, "cause");
    if (status != "completed") {
      ++compensated[n % users];
      continue;
    }
    auto const output = ended.find("output").value();
    outputs[n] = output.raw();
    auto const steps = ended.find("steps").value();
    EXPECT_FALSE(steps.at(0)->find("fell_back")->as_bool());
    if (text(output, "outcome") != "published") continue;
    EXPECT_TRUE(numbers[n % users].insert(integer(output, "version")).second) << "a number was published twice";
  }
  for (int user = 0; user < users; ++user) {
    auto const version = integer(served(user), "version");
    EXPECT_LE(*numbers[user].rbegin(), version);
    EXPECT_LE(version, static_cast<std::int64_t>(numbers[user].size()) + 2 * compensated[user] + restarts)
        << "more was published than was asked for";
  }
  atoned->signal(SIGTERM);
  EXPECT_EQ(atoned->wait(), 0);

  // Every key has its answer in the folder, byte for byte.
  features::feature_service_options with;
  with.folder = folder.file("sets/data/shop");
  with.now = [] { return timestamp{}; };
  auto const service = features::feature_service::open(features::load_feature_set(shop_set).set, with);
  ASSERT_TRUE(service) << service.error().message;
  for (auto const& [n, id] : ids) {
    features::recompute_request again;
    again.key = id + "/features";
    again.entity = std::to_string(n % users);
    again.as_of = timestamp{duration{n * second}};
    auto const answer = (*service)->recompute(again);
    if (outputs.contains(n)) {
      ASSERT_TRUE(answer) << answer.error().message;
      EXPECT_EQ(to_json(*answer), outputs[n]);
    } else {
      EXPECT_THAT(answer.error().message, HasSubstr("has been undone"));
    }
  }
  EXPECT_EQ((*service)->figures().published, 0U) << "they were all known";
}

TEST_F(features_daemon, without_features_sagas_complete_with_the_last_version_and_a_page_and_afterwards_they_catch_up) {
  start();
  publish();
  append(R"([{"user":1,"id":"a","at":1000000,"amount":2.50}])");
  auto const first = read(ask(url + "/v1/sagas/order?wait=20s", "POST", input(1), "first").response.body);
  ASSERT_EQ(text(first, "status"), "completed");
  append(R"([{"user":1,"id":"b","at":2000000,"amount":1}])");
  EXPECT_EQ(text(served(1), "stale"), "true");
  atoned->signal(SIGKILL);
  atoned.reset();

  start(false);
  auto const away = read(ask(url + "/v1/sagas/order?wait=20s", "POST", input(7), "away").response.body);
  EXPECT_EQ(text(away, "status"), "completed") << text(away, "cause");
  EXPECT_EQ(text(away, "output"), text(first, "output")) << "the last version, byte for byte";
  EXPECT_TRUE(away.find("steps")->at(0)->find("fell_back")->as_bool());
  EXPECT_THAT(ask(url + "/v1/alerts", "GET").response.body, HasSubstr(R"("level":"page")"));
  atoned->signal(SIGTERM);
  EXPECT_EQ(atoned->wait(), 0);
  atoned.reset();

  start();
  EXPECT_TRUE(test::comes_true([&] { return text(served(1), "stale") == "false"; }, 20s)) << atoned->log();
  EXPECT_THAT(atoned->log(), HasSubstr("stale features are computed anew"));
  EXPECT_THAT(text(served(1), "features"), HasSubstr(R"("n":2,"spent":3.50)"));
  auto const back = read(ask(url + "/v1/sagas/order?wait=20s", "POST", input(19), "back").response.body);
  EXPECT_THAT(text(back, "output"), AllOf(HasSubstr(R"("outcome":"published","version":3)"), HasSubstr(R"("spent":3.50)")));
}

TEST_F(features_daemon, a_folder_that_can_not_be_used_is_a_clear_end) {
  std::ofstream{folder.file("sets/shop.yaml")} << "feature_set: shop\n";
  daemon_process broken{{"--store", folder.store(), "--features", folder.file("sets")}, folder.file("log-broken")};
  EXPECT_TRUE(broken.url().empty());
  EXPECT_EQ(broken.wait(), 1);
  EXPECT_THAT(broken.log(), HasSubstr("shop.yaml:"));
  daemon_process nowhere{{"--store", folder.store(), "--features", folder.file("nowhere")}, folder.file("log-nowhere")};
  EXPECT_EQ(nowhere.wait(), 1);
  EXPECT_THAT(nowhere.log(), HasSubstr("can't be read"));
  std::ofstream{folder.file("sets/shop.yaml")} << shop_set;
  start();
  daemon_process second_one{{"--store", "memory:", "--features", folder.file("sets")}, folder.file("log-second")};
  EXPECT_EQ(second_one.wait(), 1);
  EXPECT_THAT(second_one.log(), HasSubstr("in use"));
}

// A device that is asked for in vain would be found out by nobody: batches that are worth it are rare.
TEST_F(features_daemon, devices_without_the_plug_in_are_a_clear_end) {
  auto const plugin = std::filesystem::path{ATONED}.parent_path() / ".." / ATONE_LIBRARY_FOLDER "/atone/libatone_features_cuda.so";
  daemon_process made{{"--store", folder.store(), "--features", folder.file("sets"), "--feature-gpus", "0"}, folder.file("log-gpu")};
  if (std::filesystem::exists(plugin)) {
    EXPECT_FALSE(made.url().empty()) << made.log();
  } else {
    EXPECT_EQ(made.wait(), 1);
    EXPECT_THAT(made.log(), HasSubstr("libatone_features_cuda.so; expected the GPU plug-in"));
  }
}

}  // namespace
}  // namespace atone
