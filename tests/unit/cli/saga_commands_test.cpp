// start, wait, list, show, history, watch, alerts and the operators' commands against a daemon of answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fake_daemon.hpp"

namespace atone::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr auto id = "01JDZ4M6GQ5V7Y8N2W3X4R5T6K";
std::string const at_saga = std::string{"GET /v1/sagas/"} + id;

std::string saga_json(std::string const& status, std::string const& more = "") {
  return std::string{R"({"id": ")"} + id + R"(", "saga": "order-placed", "version": 1, "key": "order-7", "status": ")" + status +
         R"(", "started_at": "2027-01-15T08:00:00.000000Z")" + more + "}";
}
std::string const completed =
    saga_json("completed", R"(, "ended_at": "2027-01-15T08:00:01.500000Z", "output": {"order": 9007199254740993})");
std::string const compensated = saga_json("compensated", R"(, "ended_at": "2027-01-15T08:00:02.000000Z", "cause": "pay refused: 409")");

std::string const history = R"({"events": [
  {"seq": 1, "cause": 0, "at": "2027-01-15T08:00:00.000000Z", "kind": "started", "payload": {"a": 1}, "text": "order-7"},
  {"seq": 2, "cause": 1, "at": "2027-01-15T08:00:00.100000Z", "kind": "step_succeeded", "step": "order", "op": "do", "attempt": 1, "status": 201, "payload": {"id": 1}},
  {"seq": 3, "cause": 2, "at": "2027-01-15T08:00:00.200000Z", "kind": "step_refused", "step": "pay", "op": "do", "attempt": 1, "status": 409, "text": "no funds"},
  {"seq": 4, "cause": 3, "at": "2027-01-15T08:00:02.000000Z", "kind": "step_succeeded", "step": "order", "op": "compensate", "attempt": 1, "status": 200}]})";

TEST(start, sends_input_and_key_once) {
  command_line line;
  line.daemon.answers("POST /v1/sagas/order-placed", std::string{R"({"id": ")"} + id + R"(", "replayed": false})", 201);
  EXPECT_EQ(line.run({"start", "order-placed", "-i", R"({"order_id": 9007199254740993})", "--key", "order-7", "--token", "secret"}),
            exit_code::done);
  EXPECT_EQ(line.out(), std::string{"started "} + id + "\n");
  ASSERT_EQ(line.daemon.requests.size(), 1U);
  auto const& sent = line.daemon.requests[0];
  EXPECT_EQ(sent.body, R"({"order_id": 9007199254740993})");
  EXPECT_EQ(sent.header("Idempotency-Key"), "order-7");
  EXPECT_EQ(sent.header("Authorization"), "Bearer secret");
}

TEST(start, a_version_and_a_replay) {
  command_line line;
  line.daemon.answers("POST /v1/sagas/order-placed?version=2", std::string{R"({"id": ")"} + id + R"(", "replayed": true})");
  EXPECT_EQ(line.run({"start", "order-placed@2"}), exit_code::done);
  EXPECT_EQ(line.out(), std::string{"already started "} + id + "\n");
}

TEST(start, refuses_what_is_not_json_before_sending) {
  command_line line;
  EXPECT_EQ(line.run({"start", "order-placed", "-i", "{order: 1}"}), exit_code::usage);
  EXPECT_THAT(line.err(), HasSubstr("--input is not JSON"));
  EXPECT_TRUE(line.daemon.requests.empty());
}

TEST(start, input_from_standard_input_and_from_a_file) {
  auto const path = testing::TempDir() + "input.json";
  std::ofstream{path} << R"({"from": "file"})";
  command_line line;
  line.standard_input = R"({"from": "stdin"})";
  line.daemon.answers("POST /v1/sagas/a", std::string{R"({"id": ")"} + id + "\"}");
  EXPECT_EQ(line.run({"start", "a", "-i", "-"}), exit_code::done);
  EXPECT_EQ(line.run({"start", "a", "-i", "@" + path}), exit_code::done);
  EXPECT_EQ(line.daemon.requests[0].body, R"({"from": "stdin"})");
  EXPECT_EQ(line.daemon.requests[1].body, R"({"from": "file"})");
  EXPECT_EQ(line.run({"start", "a", "-i", "@" + path + ".none"}), exit_code::usage);
}

TEST(start, exit_status_for_each_refusal) {
  struct row {
    std::int32_t status;
    exit_code code;
  };
  for (auto const& [status, code] : std::vector<row>{{400, exit_code::usage},
                                                     {401, exit_code::usage},
                                                     {404, exit_code::not_found},
                                                     {409, exit_code::conflict},
                                                     {422, exit_code::usage},
                                                     {429, exit_code::unavailable},
                                                     {503, exit_code::unavailable},
                                                     {500, exit_code::internal}}) {
    command_line line;
    line.daemon.answers("POST /v1/sagas/a", R"({"error": {"code": "x", "message": "in the daemon's words"}})", status);
    EXPECT_EQ(line.run({"start", "a"}), code) << status;
    EXPECT_THAT(line.err(), HasSubstr(status == 401 ? "ATONE_API_TOKEN" : "in the daemon's words"));
  }
}

TEST(start, no_daemon_and_a_lost_answer) {
  command_line line;
  line.daemon.fails("POST /v1/sagas/a", transport_failure::connect);
  EXPECT_EQ(line.run({"start", "a"}), exit_code::unavailable);
  EXPECT_THAT(line.err(), HasSubstr("no daemon at http://daemon"));
  command_line lost;
  lost.daemon.fails("POST /v1/sagas/a", transport_failure::timeout);
  EXPECT_EQ(lost.run({"start", "a", "--key", "k"}), exit_code::unavailable);
  EXPECT_THAT(lost.err(), HasSubstr("safe to repeat"));
  EXPECT_EQ(lost.run({"start", "a"}), exit_code::unavailable);
  EXPECT_THAT(lost.err(), HasSubstr("may have been started"));
}

TEST(wait, tells_the_end_by_its_exit_status) {
  struct row {
    std::string saga;
    exit_code code;
  };
  for (auto const& [saga, code] :
       std::vector<row>{{completed, exit_code::done}, {compensated, exit_code::negative}, {saga_json("parked"), exit_code::parked}}) {
    command_line line;
    line.daemon.answers(at_saga + "/wait?timeout=20s", saga);
    EXPECT_EQ(line.run({"wait", id}), code) << saga;
  }
}

TEST(wait, prints_output_byte_for_byte_and_the_cause) {
  command_line line;
  line.daemon.answers(at_saga + "/wait?timeout=20s", completed);
  EXPECT_EQ(line.run({"wait", id}), exit_code::done);
  EXPECT_EQ(line.out(), "completed in 1.50 s\noutput  {\"order\": 9007199254740993}\n");
  command_line other;
  other.daemon.answers(at_saga + "/wait?timeout=20s", compensated);
  EXPECT_EQ(other.run({"wait", id}), exit_code::negative);
  EXPECT_THAT(other.out(), HasSubstr("cause   pay refused: 409"));
}

TEST(wait, waits_through_a_restart_of_the_daemon) {
  command_line line;
  auto const at = at_saga + "/wait?timeout=20s";
  line.daemon.answers(at, saga_json("running"))
      .fails(at, transport_failure::connect)
      .fails(at, transport_failure::lost)
      .answers(at, completed);
  EXPECT_EQ(line.run({"wait", id, "--timeout", "10m"}), exit_code::done);
  EXPECT_EQ(line.daemon.lines.size(), 4U);
}

TEST(wait, ends_at_its_timeout) {
  command_line line;
  line.daemon.answers(at_saga + "/wait?timeout=0s", saga_json("running"));
  EXPECT_EQ(line.run({"wait", id, "--timeout", "0s"}), exit_code::timed_out);
  EXPECT_EQ(line.run({"wait", id, "--timeout", "soon"}), exit_code::usage);
  EXPECT_THAT(line.err(), HasSubstr("--timeout"));
  EXPECT_EQ(line.run({"wait", "not-an-id"}), exit_code::usage);
  EXPECT_THAT(line.err(), HasSubstr("'not-an-id' is no saga id"));
}

TEST(wait, an_unknown_saga_is_not_waited_for) {
  command_line line;
  EXPECT_EQ(line.run({"wait", id, "--timeout", "10m"}), exit_code::not_found);
  EXPECT_EQ(line.daemon.lines.size(), 1U);
}

TEST(start, can_wait_at_once) {
  command_line line;
  line.daemon.answers("POST /v1/sagas/a", std::string{R"({"id": ")"} + id + "\"}").answers(at_saga + "/wait?timeout=20s", compensated);
  EXPECT_EQ(line.run({"start", "a", "--wait"}), exit_code::negative);
  EXPECT_THAT(line.out(), HasSubstr("compensated in 2.00 s"));
  command_line json;
  json.daemon.answers("POST /v1/sagas/a", std::string{R"({"id": ")"} + id + "\"}").answers(at_saga + "/wait?timeout=20s", completed);
  EXPECT_EQ(json.run({"start", "a", "--wait", "-o", "json"}), exit_code::done);
  EXPECT_EQ(json.out(), completed + "\n") << "one JSON text, unchanged";
}

TEST(list, passes_filters_on_and_prints_a_table) {
  command_line line;
  line.daemon.answers("GET /v1/sagas?saga=order-placed&status=compensated&key_prefix=order%2F&limit=5",
                      R"({"sagas": [)" + compensated + "]}");
  EXPECT_EQ(line.run({"list", "-s", "order-placed", "--status", "compensated", "--key-prefix", "order/", "-n", "5"}), exit_code::done);
  EXPECT_EQ(line.out(),
            "id                          saga            status       started (UTC)        took    key      cause\n"
            "01JDZ4M6GQ5V7Y8N2W3X4R5T6K  order-placed@1  compensated  2027-01-15 08:00:00  2.00 s  order-7  pay refused: 409\n");
}

TEST(show, draws_the_last_compensated_saga) {
  command_line line;
  line.daemon.answers("GET /v1/sagas?status=compensated&limit=1", R"({"sagas": [)" + compensated + "]}");
  line.daemon.answers(at_saga, compensated).answers(at_saga + "/history", history);
  EXPECT_EQ(line.run({"show", "--last-compensated"}), exit_code::done) << line.err();
  EXPECT_THAT(line.out(), HasSubstr("order-placed@1  01JDZ4M6GQ5V7Y8N2W3X4R5T6K  key order-7  compensated in 2.00 s"));
  EXPECT_THAT(line.out(), HasSubstr("done, compensated"));
  EXPECT_THAT(line.out(), HasSubstr("refused: 409"));
  EXPECT_THAT(line.out(), HasSubstr("~order"));
}

TEST(show, takes_the_order_of_steps_from_the_definition) {
  command_line line;
  std::string const yaml =
      "saga: order-placed\\nversion: 1\\nservices:\\n  s: {http: \\\"http://127.0.0.1:1\\\"}\\nsteps:\\n"
      "  - {id: order, call: s GET /a, read_only: true}\\n  - {id: later, call: s GET /b, read_only: true}\\n";
  line.daemon.answers("GET /v1/definitions/order-placed?version=1", R"({"text": ")" + yaml + "\"}");
  line.daemon.answers(at_saga, compensated).answers(at_saga + "/history", history);
  EXPECT_EQ(line.run({"show", id}), exit_code::done);
  EXPECT_THAT(line.out(), HasSubstr("later"));
  EXPECT_THAT(line.out(), HasSubstr("not reached"));
}

TEST(show, says_what_to_do_with_a_parked_step) {
  command_line line;
  line.daemon.answers(at_saga,
                      saga_json("parked", R"(, "steps": [{"path": "order", "phase": "done", "undo": "parked", "last_error": "422"}])"));
  line.daemon.answers(at_saga + "/history", history);
  EXPECT_EQ(line.run({"show", id}), exit_code::done);
  EXPECT_THAT(line.out(), HasSubstr(std::string{"atone retry "} + id + " --step order"));
}

TEST(show, needs_to_know_which_and_says_when_there_is_none) {
  command_line line;
  line.daemon.answers("GET /v1/sagas?status=parked&limit=1", R"({"sagas": []})");
  EXPECT_EQ(line.run({"show"}), exit_code::usage);
  EXPECT_EQ(line.run({"show", "--last-parked"}), exit_code::not_found);
  EXPECT_THAT(line.err(), HasSubstr("no saga is parked"));
}

TEST(show, json_is_saga_and_history_unchanged) {
  command_line line;
  line.daemon.answers(at_saga, completed).answers(at_saga + "/history", history);
  EXPECT_EQ(line.run({"show", id, "-o", "json"}), exit_code::done);
  EXPECT_EQ(line.out(), R"({"saga":)" + completed + R"(,"history":)" + history + "}\n");
}

TEST(history, one_line_an_event) {
  command_line line;
  line.daemon.answers(at_saga + "/history", history);
  EXPECT_EQ(line.run({"history", id}), exit_code::done);
  EXPECT_EQ(line.out(),
            "#   cause  after      what                where                             words\n"
            "1          0 ms       started                                               order-7\n"
            "2   <- 1   100 ms     step_succeeded      order                             201\n"
            "3   <- 2   200 ms     step_refused        pay                               409, no funds\n"
            "4   <- 3   2.00 s     step_succeeded      order compensate                  200\n");
  command_line verbose;
  verbose.daemon.answers(at_saga + "/history", history);
  EXPECT_EQ(verbose.run({"history", id, "-v"}), exit_code::done);
  EXPECT_THAT(verbose.out(), HasSubstr("    {\"id\": 1}\n"));
}

TEST(watch, prints_each_event_once_until_the_end) {
  command_line line;
  auto const first = history.substr(0, history.find(",\n  {\"seq\": 3")) + "]}";
  line.daemon.answers(at_saga, saga_json("running")).answers(at_saga, compensated);
  line.daemon.answers(at_saga + "/history", first).answers(at_saga + "/history", history);
  EXPECT_EQ(line.run({"watch", id}), exit_code::negative);
  EXPECT_EQ(line.out().find("step_refused"), line.out().rfind("step_refused"));
  EXPECT_EQ(line.out().find("started "), line.out().rfind("started "));
  EXPECT_THAT(line.out(), Not(HasSubstr("\x1b")));
}

TEST(watch, redraws_for_somebody_who_looks_on) {
  terminal_traits traits;
  traits.interactive = true;
  command_line line{traits};
  line.daemon.answers(at_saga, saga_json("running")).answers(at_saga + "/history", history);
  EXPECT_EQ(line.run({"watch", id, "--count", "2"}), exit_code::timed_out);
  EXPECT_THAT(line.out(), HasSubstr("\x1b[H\x1b[2J"));
  EXPECT_THAT(line.out(), HasSubstr("running for"));
}

TEST(watch, all_sagas_as_figures) {
  command_line line;
  line.daemon.answers("GET /v1/stats",
                      R"({"open": 3, "started": 10, "completed": 5, "compensated": 1, "parked": 1, "events": 70, "commits": 9})");
  EXPECT_EQ(line.run({"watch", "--count", "2"}), exit_code::done);
  std::string const look = "open 3  started 10  completed 5  compensated 1  parked 1  events 70  commits 9  calls_in_flight 0\n";
  EXPECT_EQ(line.out(), look + look);
}

TEST(operators, say_who_and_why) {
  command_line line;
  auto const at = [](std::string const& action) { return std::string{"POST /v1/sagas/"} + id + "/" + action; };
  for (auto const* action : {"cancel", "pause", "resume", "retry", "skip", "complete"})
    line.daemon.answers(at(action), saga_json("running"));
  EXPECT_EQ(line.run({"cancel", id, "--note", "customer called"}), exit_code::done);
  EXPECT_EQ(line.run({"pause", id}), exit_code::done);
  EXPECT_EQ(line.run({"resume", id, "--actor", "night shift"}), exit_code::done);
  EXPECT_EQ(line.run({"retry", id, "--step", "fan/pay"}), exit_code::done);
  EXPECT_EQ(line.run({"skip", id, "--note", "done by hand"}), exit_code::done);
  EXPECT_EQ(line.run({"complete", id, "--note", "from the log", "--json", R"({"big": 1E400})"}), exit_code::done);
  std::vector<std::string> bodies;
  for (auto const& sent : line.daemon.requests) bodies.push_back(sent.body);
  EXPECT_THAT(bodies, ElementsAre(R"({"note":"customer called","actor":"tester"})", R"({"actor":"tester"})", R"({"actor":"night shift"})",
                                  R"({"step":"fan/pay","actor":"tester"})", R"({"note":"done by hand","actor":"tester"})",
                                  R"({"note":"from the log","actor":"tester","output":{"big": 1E400}})"));
}

TEST(operators, skip_and_complete_need_a_note) {
  command_line line;
  EXPECT_EQ(line.run({"skip", id}), exit_code::usage);
  EXPECT_EQ(line.run({"complete", id, "--json", "1"}), exit_code::usage);
  EXPECT_EQ(line.run({"complete", id, "--note", "n", "--json", "{"}), exit_code::usage);
  EXPECT_TRUE(line.daemon.requests.empty());
}

TEST(operators, a_conflict_is_told_in_the_daemons_words) {
  command_line line;
  line.daemon.answers(std::string{"POST /v1/sagas/"} + id + "/cancel", R"({"error": {"message": "the pivot has been sent"}})", 409);
  EXPECT_EQ(line.run({"cancel", id}), exit_code::conflict);
  EXPECT_EQ(line.err(), "atone: the pivot has been sent\n");
}

TEST(alerts, as_a_table) {
  command_line line;
  line.daemon.answers(
      "GET /v1/alerts?limit=20",
      std::string{R"({"alerts": [{"saga": ")"} + id +
          R"(", "step": "order", "kind": "parked", "level": "page", "text": "refused\u001b[2J", "raised_at": "2027-01-15T08:00:00.000000Z"}]})");
  EXPECT_EQ(line.run({"alerts"}), exit_code::done);
  EXPECT_THAT(line.out(), HasSubstr("page   parked  01JDZ4M6GQ5V7Y8N2W3X4R5T6K  order  refused\\x1b[2J"));
}

}  // namespace
}  // namespace atone::cli
