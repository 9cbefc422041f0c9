// What is watched: health, readiness, figures, metrics, alerts, the compensation log.
#include <regex>
#include <sstream>

#include "api_harness.hpp"

namespace atone::api {
namespace {

using testing::HasSubstr;

using api_watch = api_test;

TEST_F(api_watch, is_alive_and_ready) {
  EXPECT_EQ(get("/health").body, R"({"status":"alive"})");
  EXPECT_EQ(get("/ready").body, R"({"status":"ready"})");
}

TEST_F(api_watch, is_alive_but_not_ready_once_the_store_takes_no_write) {
  sagas->stop();
  auto const made = get("/ready");
  EXPECT_EQ(made.status, 503);
  EXPECT_EQ(text(problem_in(made), "code"), "not_ready");
  EXPECT_EQ(get("/health").status, 200);
}

TEST_F(api_watch, stats_count) {
  start();
  start();
  auto const made = read(get("/v1/stats"));
  EXPECT_EQ(text(made, "version"), "1.2.3");
  EXPECT_EQ(made.find("started")->as_int64(), 2);
  EXPECT_EQ(made.find("completed")->as_int64(), 2);
  EXPECT_EQ(made.find("parked")->as_int64(), 0);
  EXPECT_EQ(made.find("sagas")->find("completed")->as_int64(), 2);
  EXPECT_TRUE(made.find("writable")->as_bool());
}

TEST_F(api_watch, metrics_are_prometheus_text) {
  start();
  get("/v1/nonsense");
  auto const made = get("/metrics");
  EXPECT_EQ(made.headers.get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(made.body, HasSubstr("atone_sagas_completed_total 1"));
  EXPECT_THAT(made.body, HasSubstr("atone_build_info{version=\"1.2.3\"} 1"));
  EXPECT_THAT(made.body, HasSubstr(R"(atone_http_requests_total{method="POST",route="/v1/sagas/{id}",status="201"} 1)"));
  EXPECT_THAT(made.body, HasSubstr(R"(atone_http_requests_total{method="other",route="none",status="404"} 1)"));
  std::istringstream lines{made.body};
  std::string line;
  std::regex const form{R"re((# (HELP|TYPE) .+|[a-z_]+(\{.*\})? [-+0-9.eEinfNa]+))re"};
  while (std::getline(lines, line)) EXPECT_TRUE(std::regex_match(line, form)) << line;
}

TEST_F(api_watch, a_parked_saga_raises_an_alert_and_its_log_tells_what_was_tried) {
  ship = [] { return refused("no truck"); };
  refund = [] { return refused("the till is closed"); };
  auto const id = text(read(ask("POST", "/v1/sagas/two?wait=20s", R"({"amount": 990})")), "id");
  auto const alerts = read(get("/v1/alerts?limit=10")).find("alerts")->elements();
  ASSERT_FALSE(alerts.empty());
  EXPECT_EQ(text(alerts[0], "saga"), id);
  auto const log = read(get("/v1/compensations/" + id)).find("compensations")->elements();
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(text(log[0], "step"), "charge");
  EXPECT_EQ(text(log[0], "op"), "compensate");
  EXPECT_EQ(text(log[0], "trace_id"), trace_id::of(*saga_id::parse(id), step_path{"charge"}, operation::compensate).text());
  EXPECT_THAT(text(log[0], "last_error"), HasSubstr("till"));
  EXPECT_EQ(get("/v1/compensations/00000000000000000000000001").status, 404);
  EXPECT_EQ(get("/v1/alerts?limit=0").status, 400);
}

}  // namespace
}  // namespace atone::api
