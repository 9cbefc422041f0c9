// Requests that meet the wrong node of two on one database: passed on to the one that drives the saga, once, or refused by name.
#include "http_scripted_peer.hpp"
#include "http_test_certificate.hpp"
#include "nodes_harness.hpp"

namespace atone::api {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

std::string action(std::string const& saga, std::string const& what) {
  return "/v1/sagas/" + saga + "/" + what;
}

node_settings short_patience() {
  node_settings made;
  made.service.forward.patience = std::chrono::milliseconds{100};
  return made;
}

// Two nodes for all tests that leave them as they are.
struct nodes_as_they_are : testing::Test {
  static std::unique_ptr<two_nodes> shared;

  void SetUp() override {
    ATONE_NEED_POSTGRES();
    if (!shared) shared = std::make_unique<two_nodes>();
  }
  static void TearDownTestSuite() { shared.reset(); }
};
std::unique_ptr<two_nodes> nodes_as_they_are::shared;

TEST_F(nodes_as_they_are, an_action_reaches_the_driver_through_any_node) {
  auto& with = *shared;
  auto const id = with.a->start();
  auto const paused = with.b->ask("POST", action(id, "pause"), R"({"note": "wait"})", {{"X-Atone-Actor", "ada"}});
  EXPECT_EQ(paused.status, 200) << paused.body;
  EXPECT_EQ(paused.headers.get("Content-Type"), "application/json");
  EXPECT_THAT(paused.body, HasSubstr(R"("status":"paused")"));
  EXPECT_THAT(with.a->ask("GET", action(id, "history")).body, HasSubstr(R"("actor":"ada")")) << "recorded for who asked";
  EXPECT_THAT(with.b->metrics(), Not(HasSubstr("atone_forwarded_requests_total{outcome=\"answered\"} 0\n")));
  EXPECT_THAT(with.b->metrics(), HasSubstr("\natone_nodes_alive 2\n"));
  EXPECT_EQ(with.b->ask("POST", action(id, "resume")).status, 200);
}

TEST_F(nodes_as_they_are, what_the_driver_refuses_comes_back_as_it_is) {
  auto& with = *shared;
  auto const id = with.a->start();
  auto const refused = with.b->ask("POST", action(id, "skip"), R"({"note": "by hand"})");
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_EQ(error_code(refused), "conflict");
  EXPECT_EQ(with.b->ask("POST", action(id, "skip"), R"({"nto": ""})").status, 400) << "what can't be read goes nowhere";
  EXPECT_EQ(with.b->ask("POST", action("00000000000000000000000001", "cancel")).status, 404);
}

TEST_F(nodes_as_they_are, a_report_ends_the_step_through_any_node_and_a_wait_sees_it) {
  auto& with = *shared;
  auto const id = with.a->start();
  auto waited = with.b->begin("GET", action(id, "wait") + "?timeout=15s");
  auto const target = with.participant.report_target(id);
  auto wrong = target;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  EXPECT_EQ(with.b->ask("POST", wrong, "{}").status, 403) << "the key of tokens is the same on both";
  auto const told = with.b->ask("POST", target, R"({"n": 1E400})", {{"Content-Type", "application/json"}});
  EXPECT_EQ(told.status, 200) << told.body;
  EXPECT_THAT(test_node::come(std::move(waited)).body, HasSubstr(R"("status":"completed","started_at")"));
  EXPECT_THAT(with.b->ask("GET", "/v1/sagas/" + id).body, HasSubstr(R"("output":{"n": 1E400})"));
}

TEST_F(nodes_as_they_are, a_start_with_wait_is_answered_by_the_node_that_was_asked) {
  auto& with = *shared;
  auto const id = with.a->start({{"Idempotency-Key", "k-1"}});
  auto waited = with.b->begin("POST", "/v1/sagas/one?wait=15s", R"({"n": 1})", {{"Idempotency-Key", "k-1"}});
  EXPECT_EQ(with.b->ask("POST", with.participant.report_target(id), "{}").status, 200);
  auto const made = test_node::come(std::move(waited));
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_THAT(made.body, HasSubstr(R"("status":"completed")"));
}

TEST(nodes, the_callers_token_goes_along) {
  ATONE_NEED_POSTGRES();
  node_settings guarded;
  guarded.service.tokens.emplace_back("ops", "0123456789abcdef");
  two_nodes with{guarded, guarded};
  test_node::fields const shown{{"Authorization", "Bearer 0123456789abcdef"}};
  auto const id = with.a->start(shown);
  EXPECT_EQ(with.b->ask("POST", action(id, "pause")).status, 401);
  EXPECT_EQ(with.b->ask("POST", action(id, "pause"), "", shown).status, 200);
  EXPECT_THAT(with.a->ask("GET", action(id, "history"), "", shown).body, HasSubstr(R"("actor":"ops")"));
}

TEST_F(nodes_as_they_are, what_was_passed_on_goes_no_further) {
  auto& with = *shared;
  auto const id = with.a->start();
  auto const refused = with.b->ask("POST", action(id, "pause"), "", {{"Atone-Forwarded", "c"}});
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(error_code(refused), "elsewhere");
  EXPECT_EQ(refused.headers.get("Retry-After"), "1");
  EXPECT_THAT(with.b->metrics(), HasSubstr("{outcome=\"second_hop\"} 1\n"));
  EXPECT_THAT(with.a->ask("GET", "/v1/sagas/" + id).body, HasSubstr(R"("status":"running")"));
}

TEST(nodes, a_driver_behind_tls_is_asked_by_who_trusts_it) {
  ATONE_NEED_POSTGRES();
  atone_test::test_certificate const certificate{"IP:127.0.0.1"};
  node_settings secure;
  secure.tls.emplace();
  secure.tls->certificate_file = certificate.certificate_file();
  secure.tls->key_file = certificate.key_file();
  node_settings trusting;
  trusting.service.forward.tls.ca_file = certificate.certificate_file();
  two_nodes with{secure, trusting};
  auto const id = with.a->start();
  EXPECT_EQ(with.b->ask("POST", action(id, "pause")).status, 200);
}

TEST(nodes, a_driver_without_an_address_is_named) {
  ATONE_NEED_POSTGRES();
  node_settings silent;
  silent.address = "";
  two_nodes with{silent};
  auto const id = with.a->start();
  auto const refused = with.b->ask("POST", action(id, "pause"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(error_code(refused), "elsewhere");
  EXPECT_THAT(refused.body, HasSubstr("is driven by a, which has no address"));
  EXPECT_EQ(with.a->ask("POST", action(id, "pause")).status, 200) << "asked itself, it does";
}

TEST(nodes, a_driver_that_takes_no_connection_is_looked_for_again_and_then_named) {
  ATONE_NEED_POSTGRES();
  two_nodes with{node_settings{}, short_patience()};
  auto const id = with.a->start();
  with.a->close_door();
  auto const refused = with.b->ask("POST", action(id, "pause"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.get("Retry-After"), "1");
  EXPECT_THAT(refused.body, HasSubstr("is driven by a at http://127.0.0.1:"));
  EXPECT_THAT(with.b->metrics(), HasSubstr("{outcome=\"unreachable\"} 1\n"));
}

TEST(nodes, a_saga_that_comes_here_meanwhile_is_acted_on_here) {
  ATONE_NEED_POSTGRES();
  node_settings patient;
  patient.service.forward.patience = patience;
  two_nodes with{node_settings{}, patient};
  auto const id = with.a->start();
  with.a->close_door();
  auto paused = with.b->begin("POST", action(id, "pause"));
  with.a->stop();
  auto const made = test_node::come(std::move(paused));
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_THAT(with.b->metrics(), HasSubstr("{outcome=\"here\"} 1\n"));
}

TEST(nodes, a_lost_answer_is_unknown_and_not_asked_again) {
  ATONE_NEED_POSTGRES();
  std::promise<std::string> came;
  atone_test::scripted_peer driver{[&](atone_test::raw_connection& c) { came.set_value(c.read_message()); }};
  node_settings misled;
  misled.address = driver.url();
  two_nodes with{misled};
  auto const id = with.a->start();
  auto const lost = with.b->ask("POST", action(id, "pause"), R"({"note": "0.10"})", {{"Authorization", "Bearer x"}, {"Cookie", "c=1"}});
  EXPECT_EQ(lost.status, 503);
  EXPECT_EQ(error_code(lost), "outcome_unknown");
  EXPECT_THAT(lost.body, HasSubstr("it may have taken effect"));
  EXPECT_EQ(driver.connections(), 1u);
  auto const sent = came.get_future().get();
  EXPECT_THAT(sent, testing::StartsWith("POST " + action(id, "pause") + " HTTP/1.1\r\n"));
  EXPECT_THAT(sent, HasSubstr("Atone-Forwarded: b\r\n"));
  EXPECT_THAT(sent, HasSubstr("Authorization: Bearer x\r\n"));
  EXPECT_THAT(sent, Not(HasSubstr("Cookie")));
  EXPECT_THAT(sent, testing::EndsWith(R"({"note": "0.10"})"));
}

TEST(nodes, more_than_may_be_on_their_way_are_refused) {
  ATONE_NEED_POSTGRES();
  node_settings narrow;
  narrow.service.forward.in_flight_max = 0;
  two_nodes with{node_settings{}, narrow};
  auto const id = with.a->start();
  auto const refused = with.b->ask("POST", action(id, "pause"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.get("Retry-After"), "1");
  EXPECT_THAT(with.b->metrics(), HasSubstr("{outcome=\"too_many\"} 1\n"));
}

TEST(nodes, a_stop_lets_go_of_who_waits_for_a_driver) {
  ATONE_NEED_POSTGRES();
  node_settings patient;
  patient.service.forward.patience = std::chrono::hours{1};
  two_nodes with{node_settings{}, patient};
  auto const id = with.a->start();
  with.a->close_door();
  auto waiting = with.b->begin("POST", action(id, "pause"));
  with.b->served->release_waiting();
  EXPECT_EQ(test_node::come(std::move(waiting)).status, 503);
}

TEST(nodes, are_listed_also_after_one_has_left) {
  ATONE_NEED_POSTGRES();
  two_nodes with;
  auto const both = with.b->ask("GET", "/v1/nodes");
  EXPECT_EQ(both.status, 200);
  EXPECT_THAT(both.body,
              StartsWith(R"({"nodes":[{"node":"a","address":")" + with.a->url() + R"(","alive":true,"here":false,"shards":32},)" +
                         R"({"node":"b","address":")" + with.b->url() + R"(","alive":true,"here":true,"shards":32,)"));
  // One machine, one clock: what is measured is the way to the database and back.
  EXPECT_THAT(both.body, MatchesRegex(R"(.*,"clock_offset_ms":-?[0-9]{1,3}\}\]\})"));
  with.a->stop();
  auto const gone = [&] {  // what it drove is handed over first, then it leaves
    return with.b->shards() == 64 &&
           with.b->ask("GET", "/v1/nodes").body.find(R"("alive":false,"here":false,"shards":0})") != std::string::npos;
  };
  EXPECT_TRUE(eventually(gone)) << with.b->ask("GET", "/v1/nodes").body;
  EXPECT_THAT(with.b->metrics(), HasSubstr("\natone_nodes_alive 1\n"));
}

}  // namespace
}  // namespace atone::api
