// Starting, listing, looking, waiting.
#include "api_harness.hpp"

namespace atone::api {
namespace {

using testing::HasSubstr;

using api_start = api_test;

TEST_F(api_start, gives_an_id_and_where_it_is) {
  auto const made = ask("POST", "/v1/sagas/two", R"({"amount": 990})");
  EXPECT_EQ(made.status, 201) << made.body;
  auto const id = text(read(made), "id");
  EXPECT_TRUE(saga_id::parse(id));
  EXPECT_EQ(made.headers.get("Location"), "/v1/sagas/" + id);
  EXPECT_FALSE(read(made).find("replayed")->as_bool());
}

TEST_F(api_start, the_same_key_and_body_is_the_same_saga) {
  auto const first = ask("POST", "/v1/sagas/two", R"({"amount": 990})", {{"Idempotency-Key", "order-1"}});
  auto const again = ask("POST", "/v1/sagas/two", R"( { "amount" : 990 } )", {{"Idempotency-Key", "order-1"}});
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(text(read(again), "id"), text(read(first), "id"));
  EXPECT_TRUE(read(again).find("replayed")->as_bool());
}

TEST_F(api_start, the_same_key_with_another_body_is_409) {
  ask("POST", "/v1/sagas/two", R"({"amount": 990})", {{"Idempotency-Key", "order-1"}});
  auto const other = ask("POST", "/v1/sagas/two", R"({"amount": 991})", {{"Idempotency-Key", "order-1"}});
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(text(problem_in(other), "code"), "conflict");
}

TEST_F(api_start, waits_for_the_end_when_asked) {
  auto const made = ask("POST", "/v1/sagas/two?wait=20s", R"({"amount": 990})", {{"Idempotency-Key", "order-7"}});
  EXPECT_EQ(made.status, 201);
  auto const saga = read(made);
  EXPECT_EQ(text(saga, "status"), "completed");
  EXPECT_EQ(text(saga, "saga"), "two");
  EXPECT_EQ(text(saga, "key"), "order-7");
  EXPECT_EQ(saga.find("version")->as_int64(), 1);
  EXPECT_EQ(saga.find("output")->raw(), R"({"receipt":9007199254740993})") << "not rounded";
  EXPECT_EQ(saga.find("steps")->size(), 2u);
  EXPECT_TRUE(parse_timestamp(text(saga, "ended_at")));
}

TEST_F(api_start, a_wait_that_runs_out_is_202_with_the_saga_as_it_stands) {
  hold_ship();
  auto const made = ask("POST", "/v1/sagas/two?wait=10ms", R"({"amount": 990})");
  EXPECT_EQ(made.status, 202);
  EXPECT_EQ(text(read(made), "status"), "running");
  EXPECT_TRUE(read(made).find("ended_at")->is_null());
  EXPECT_TRUE(read(made).find("output")->is_null());
}

struct refused_start {
  char const* target;
  std::string body;
  std::int32_t status;
  char const* field;
};

class api_start_refuses : public api_test, public testing::WithParamInterface<refused_start> {};

TEST_P(api_start_refuses, with_status_and_field) {
  auto const made = ask("POST", GetParam().target, GetParam().body);
  EXPECT_EQ(made.status, GetParam().status) << made.body;
  auto const field = problem_in(made).find("field");
  EXPECT_EQ(field ? field->as_string() : "", GetParam().field) << made.body;
  EXPECT_FALSE(text(problem_in(made), "message").empty());
}

INSTANTIATE_TEST_SUITE_P(
    requests, api_start_refuses,
    testing::Values(refused_start{"/v1/sagas/nobody", "{}", 404, ""}, refused_start{"/v1/sagas/two?version=9", R"({"amount":1})", 404, ""},
                    refused_start{"/v1/sagas/two?version=0", "{}", 400, "version"},
                    refused_start{"/v1/sagas/two?version=x", "{}", 400, "version"},
                    refused_start{"/v1/sagas/two?wait=soon", "{}", 400, "wait"}, refused_start{"/v1/sagas/two?wait=", "{}", 400, "wait"},
                    refused_start{"/v1/sagas/two", "{\"amount\":", 400, "body"},
                    refused_start{"/v1/sagas/two", R"({"amount":1,"amount":2})", 400, "body"},
                    refused_start{"/v1/sagas/two", R"({"amount":0})", 422, ""}, refused_start{"/v1/sagas/two", "", 422, ""}));

TEST_F(api_start, a_key_that_is_too_long_is_refused) {
  auto const made = ask("POST", "/v1/sagas/two", R"({"amount":1})", {{"Idempotency-Key", std::string(256, 'k')}});
  EXPECT_EQ(made.status, 400);
  EXPECT_EQ(text(problem_in(made), "field"), "Idempotency-Key");
}

using api_look = api_test;

TEST_F(api_look, shows_a_saga_with_its_steps) {
  auto const id = start();
  auto const made = get("/v1/sagas/" + id);
  EXPECT_EQ(made.status, 200);
  auto const steps = read(made).find("steps")->elements();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(text(steps[0], "path"), "charge");
  EXPECT_EQ(text(steps[0], "phase"), "done");
  EXPECT_EQ(text(steps[0], "undo"), "none");
  EXPECT_EQ(steps[1].find("attempts")->as_int64(), 1);
}

TEST_F(api_look, an_unknown_saga_is_404_and_what_is_no_id_400) {
  for (auto const* tail : {"", "/history", "/wait"}) {
    EXPECT_EQ(get("/v1/sagas/00000000000000000000000001" + std::string{tail}).status, 404) << tail;
    EXPECT_EQ(get("/v1/sagas/nonsense" + std::string{tail}).status, 400) << tail;
  }
}

TEST_F(api_look, history_has_payloads_byte_for_byte) {
  auto const id = start("", R"({"amount": 990, "note": [1E400, -0, 0.10, 9007199254740993, "é\u0000"]})");
  auto const made = get("/v1/sagas/" + id + "/history");
  EXPECT_EQ(made.status, 200);
  EXPECT_THAT(made.body, HasSubstr(R"("payload":{"amount": 990, "note": [1E400, -0, 0.10, 9007199254740993, "é\u0000"]})"));
  EXPECT_THAT(made.body, HasSubstr(R"("payload":{"receipt": 9007199254740993})"));
  auto const events = read(made).find("events")->elements();
  ASSERT_GE(events.size(), 3u);
  EXPECT_EQ(text(events[0], "kind"), "started");
  for (std::size_t at = 0; at < events.size(); ++at) {
    EXPECT_EQ(events[at].find("seq")->as_uint64(), at + 1);
    EXPECT_LE(*events[at].find("cause")->as_uint64(), at);
  }
}

using api_wait = api_test;

TEST_F(api_wait, answers_at_the_end) {
  auto const id = start();
  auto const made = get("/v1/sagas/" + id + "/wait?timeout=20s");
  EXPECT_EQ(made.status, 200);
  EXPECT_EQ(text(read(made), "status"), "completed");
}

TEST_F(api_wait, answers_with_what_there_is_when_the_time_has_passed) {
  hold_ship();
  auto const id = text(read(ask("POST", "/v1/sagas/two", R"({"amount": 990})")), "id");
  auto const made = get("/v1/sagas/" + id + "/wait?timeout=10ms");
  EXPECT_EQ(made.status, 200);
  EXPECT_EQ(text(read(made), "status"), "running");
}

TEST_F(api_wait, a_stopping_daemon_lets_those_who_wait_go) {
  hold_ship();
  auto const id = text(read(ask("POST", "/v1/sagas/two", R"({"amount": 990})")), "id");
  auto waiting = begin("GET", "/v1/sagas/" + id + "/wait?timeout=20s");
  served->release_waiting();
  auto const made = waiting.get();
  EXPECT_EQ(made.status, 503);
  EXPECT_EQ(made.headers.get("Retry-After"), "1");
  EXPECT_EQ(get("/v1/sagas/" + id + "/wait?timeout=20s").status, 503) << "later ones as well";
}

using api_list = api_test;

TEST_F(api_list, pages_through_everything_newest_first) {
  std::vector<std::string> started;
  for (int n = 0; n < 5; ++n) started.push_back(start("key-" + std::to_string(n)));
  std::vector<std::string> listed;
  std::string target = "/v1/sagas?limit=2";
  for (int page = 0; page < 5; ++page) {
    auto const made = read(get(target));
    for (auto const& one : made.find("sagas")->elements()) listed.push_back(text(one, "id"));
    auto const next = made.find("next").value();
    if (next.is_null()) break;
    target = "/v1/sagas?limit=2&before=" + next.as_string();
  }
  std::reverse(started.begin(), started.end());
  EXPECT_EQ(listed, started);
}

TEST_F(api_list, filters) {
  start("order-1");
  start("order-2");
  start("other-3");
  auto const count = [&](std::string const& query) { return read(get("/v1/sagas?" + query)).find("sagas")->size(); };
  EXPECT_EQ(count("key_prefix=order-"), 2u);
  EXPECT_EQ(count("key_prefix=order%25"), 0u) << "taken literally";
  EXPECT_EQ(count("saga=two"), 3u);
  EXPECT_EQ(count("definition=one"), 0u);
  EXPECT_EQ(count("status=completed"), 3u);
  EXPECT_EQ(count("status=parked"), 0u);
  EXPECT_EQ(count("since=2020-01-01T00:00:00Z"), 3u);
  EXPECT_EQ(count("since=2099-01-01T00:00:00Z"), 0u);
}

TEST_F(api_list, names_the_parameter_it_cannot_read) {
  for (auto const* query : {"limit=0", "limit=1001", "limit=-1", "limit=x", "status=finished", "since=yesterday", "before=me"}) {
    auto const made = get(std::string{"/v1/sagas?"} + query);
    EXPECT_EQ(made.status, 400) << query;
    EXPECT_EQ(text(problem_in(made), "field"), std::string{query}.substr(0, std::string{query}.find('='))) << query;
  }
}

}  // namespace
}  // namespace atone::api
