// What operators do, who it is recorded for, and what participants report.
#include "api_harness.hpp"

namespace atone::api {
namespace {

using testing::HasSubstr;

struct api_operators : api_test {
  // A saga whose compensation was refused: it waits for a person.
  std::string park() {
    ship = [] { return refused("no truck"); };
    refund = [] { return refused("the till is closed"); };
    auto const made = ask("POST", "/v1/sagas/two?wait=20s", R"({"amount": 990})");
    EXPECT_EQ(text(read(made), "status"), "parked") << made.body;
    return text(read(made), "id");
  }
  std::vector<operator_action_row> actions(std::string const& id) {
    std::vector<operator_action_row> made;
    auto const done = sagas->read([&](journal_reader& from) -> result<void> {
      auto rows = from.actions(*saga_id::parse(id));
      if (!rows) return rows.error();
      made = *std::move(rows);
      return {};
    });
    EXPECT_TRUE(done);
    return made;
  }
};

TEST_F(api_operators, a_parked_saga_says_which_step_and_why) {
  auto const id = park();
  auto const saga = read(get("/v1/sagas/" + id));
  ASSERT_EQ(saga.find("parked")->size(), 1u);
  EXPECT_EQ(saga.find("parked")->at(0)->as_string(), "charge");
  EXPECT_THAT(text(saga, "cause"), HasSubstr("no truck"));
}

TEST_F(api_operators, retry_goes_on_with_the_parked_step) {
  auto const id = park();
  refund = [] { return done(); };
  auto const made = ask("POST", "/v1/sagas/" + id + "/retry", R"({"actor": "ada"})");
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(text(read(get("/v1/sagas/" + id + "/wait?timeout=20s")), "status"), "compensated");
}

TEST_F(api_operators, skip_needs_a_note_and_is_recorded_for_its_actor) {
  auto const id = park();
  auto const without = ask("POST", "/v1/sagas/" + id + "/skip", R"({"step": "charge"})");
  EXPECT_EQ(without.status, 422);
  EXPECT_THAT(text(problem_in(without), "message"), HasSubstr("note"));
  auto const made =
      ask("POST", "/v1/sagas/" + id + "/skip", R"({"step": "charge", "note": "paid back in cash"})", {{"X-Atone-Actor", "ada"}});
  EXPECT_EQ(made.status, 200) << made.body;
  auto const rows = actions(id);
  ASSERT_FALSE(rows.empty());
  auto const& last = rows.back();
  EXPECT_EQ(last.actor, "ada");
  EXPECT_EQ(last.action, "skip");
  EXPECT_EQ(last.note, "paid back in cash");
}

TEST_F(api_operators, complete_needs_an_output) {
  auto const id = park();
  auto const made = ask("POST", "/v1/sagas/" + id + "/complete", R"({"note": "done by hand"})");
  EXPECT_EQ(made.status, 400);
  EXPECT_EQ(text(problem_in(made), "field"), "output");
}

TEST_F(api_operators, what_the_state_does_not_allow_is_409) {
  auto const id = start();
  for (auto const* action : {"cancel", "pause", "resume", "retry"}) {
    EXPECT_EQ(ask("POST", "/v1/sagas/" + id + "/" + action, "{}").status, 409) << action;
  }
}

TEST_F(api_operators, of_an_unknown_saga_is_404) {
  EXPECT_EQ(ask("POST", "/v1/sagas/00000000000000000000000001/cancel").status, 404);
  EXPECT_EQ(ask("POST", "/v1/sagas/00000000000000000000000001/explode").status, 404) << "no such action";
}

TEST_F(api_operators, pause_and_resume) {
  hold_ship();
  auto const id = text(read(ask("POST", "/v1/sagas/two", R"({"amount": 990})")), "id");
  EXPECT_EQ(text(read(ask("POST", "/v1/sagas/" + id + "/pause")), "status"), "paused");
  EXPECT_EQ(text(read(ask("POST", "/v1/sagas/" + id + "/resume", "")), "status"), "running");
}

TEST_F(api_operators, a_body_with_strange_members_is_refused) {
  auto const id = start();
  for (auto const* body : {R"({"stpe": "charge"})", R"({"step": 1})", R"([1])", "nonsense", R"({"note": {}})"}) {
    EXPECT_EQ(ask("POST", "/v1/sagas/" + id + "/retry", body).status, 400) << body;
  }
}

using api_callbacks = api_test;

std::string callback(std::string const& id, std::string const& tail) {
  return "/v1/callbacks/" + id + tail;
}

TEST_F(api_callbacks, without_its_token_is_401_and_with_another_403) {
  hold_ship();
  auto const id = text(read(ask("POST", "/v1/sagas/two", R"({"amount": 990})")), "id");
  EXPECT_EQ(ask("POST", callback(id, "/do/1?step=ship"), "{}").status, 401);
  auto const wrong = ask("POST", callback(id, "/do/1?step=ship&token=guess"), "{}");
  EXPECT_EQ(wrong.status, 403);
  EXPECT_EQ(text(problem_in(wrong), "field"), "token");
  EXPECT_EQ(ask("POST", callback(id, "/do/1?step=ship"), "{}", {{"Atone-Token", "guess"}}).status, 403);
}

TEST_F(api_callbacks, name_what_they_cannot_read) {
  auto const id = start();
  EXPECT_EQ(ask("POST", callback("me", "/do/1?step=ship&token=x")).status, 400);
  EXPECT_EQ(ask("POST", callback(id, "/redo/1?step=ship&token=x")).status, 400);
  EXPECT_EQ(ask("POST", callback(id, "/do/0?step=ship&token=x")).status, 400);
  EXPECT_EQ(ask("POST", callback(id, "/do/1?token=x")).status, 400);
  EXPECT_EQ(ask("POST", callback(id, "/do/1?step=ship&token=x&status=100")).status, 400);
}

}  // namespace
}  // namespace atone::api
