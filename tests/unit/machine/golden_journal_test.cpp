// Journals that earlier builds have written: each must replay, and come to the same end. They pin the stored numbers of events, and
// what the machine decides from them; a change that is meant is written anew with ATONE_WRITE_GOLDEN=1, and is a change of format.
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include <gtest/gtest.h>

#include "definitions.hpp"
#include "machine_world.hpp"

namespace atone::test {
namespace {

// One event a line: its fields by name, numbers as stored, those that keep their default left out.
std::string line_of(event const& of) {
  json::writer out;
  out.begin_object();
  auto const number = [&](std::string_view key, auto value) {
    if (value != 0) out.key(key).number(static_cast<std::int64_t>(value));
  };
  auto const text = [&](std::string_view key, std::string const& value) {
    if (!value.empty()) out.key(key).string(value);
  };
  number("seq", of.seq.value());
  number("kind", static_cast<std::int16_t>(of.kind));
  number("cause", of.cause.value());
  number("at", of.at.time_since_epoch().count());
  out.key("random").string(std::to_string(of.random));
  text("step", of.step.text());
  number("op", static_cast<std::int16_t>(of.op));
  number("n", of.n.value());
  number("sureness", static_cast<std::int16_t>(of.sureness));
  number("timer", static_cast<std::int16_t>(of.timer));
  number("status", of.status);
  number("retry_after", of.retry_after.count());
  text("payload", of.payload);
  text("text", of.text);
  text("actor", of.actor);
  out.end_object();
  return out.take();
}

event event_of(std::string const& line) {
  auto const read = json::parse(line);
  if (!read) throw std::runtime_error{"a golden journal is no JSON: " + read.error().message};
  auto const number = [&](std::string_view key) { return read->find(key) ? *read->find(key)->as_int64() : 0; };
  auto const text = [&](std::string_view key) { return read->find(key) ? read->find(key)->as_string() : std::string{}; };
  event made;
  made.seq = sequence{static_cast<std::uint32_t>(number("seq"))};
  made.kind = static_cast<event_kind>(number("kind"));
  made.cause = sequence{static_cast<std::uint32_t>(number("cause"))};
  made.at = timestamp{duration{number("at")}};
  made.random = std::stoull(text("random"));
  made.step = step_path{text("step")};
  made.op = static_cast<operation>(number("op"));
  made.n = attempt{static_cast<std::uint32_t>(number("n"))};
  made.sureness = static_cast<certainty>(number("sureness"));
  made.timer = static_cast<timer_kind>(number("timer"));
  made.status = static_cast<std::int32_t>(number("status"));
  made.retry_after = duration{number("retry_after")};
  made.payload = text("payload");
  made.text = text("text");
  made.actor = text("actor");
  return made;
}

struct scenario {
  std::string name;
  std::string yaml;
  std::string input;
  std::function<void(machine_world&)> setup;
};

std::vector<scenario> scenarios() {
  auto const hurried = R"yaml(saga: hurried
version: 1
deadline: 10s
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: order
    call: a POST /order
    compensate: {call: a DELETE /order}
  - id: hold
    call: a POST /hold
    compensate: {call: a DELETE /hold}
)yaml";
  std::vector<scenario> all;
  all.push_back({"completed", sequence_of(2), "{}", [](machine_world&) {}});
  all.push_back(
      {"retried", sequence_of(2), "{}", [](machine_world& world) { world.script("s1", operation::act, {reply::not_done, reply::ok}); }});
  all.push_back({"refused", sequence_of(3), "{}", [](machine_world& world) { world.script("s3", operation::act, {reply::reject}); }});
  all.push_back({"unknown", sequence_of(2), "{}", [](machine_world& world) { world.script("s2", operation::act, {reply::drop}); }});
  all.push_back({"fan", fan, "{}", [](machine_world& world) { world.script("fan/right/two", operation::act, {reply::reject}); }});
  all.push_back(
      {"pivot", pivot, "{}", [](machine_world& world) { world.script("ship", operation::act, {reply::err, reply::err, reply::ok}); }});
  all.push_back({"deadline", hurried, "{}", [](machine_world& world) { world.script("hold", operation::act, {reply::hang}); }});
  all.push_back({"parked", sequence_of(2), "{}", [](machine_world& world) {
                   world.script("s2", operation::act, {reply::reject});
                   world.script("s1", operation::compensate, {reply::reject});
                 }});
  return all;
}

std::string path_of(scenario const& of) {
  return std::string{ATONE_SOURCE_DIR} + "/tests/golden/journals/" + of.name + ".jsonl";
}

std::string journal_of(machine_world const& world) {
  std::string text;
  for (auto const& one : world.journal()) text += line_of(one) + '\n';
  return text + "end " + std::string{name(world.status())} + '\n';
}

std::string read_golden(scenario const& of) {
  std::ifstream file{path_of(of)};
  EXPECT_TRUE(file.is_open()) << path_of(of);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(golden_journal, todays_machine_writes_the_same) {
  for (auto const& one : scenarios()) {
    SCOPED_TRACE(one.name);
    machine_world world{one.yaml, one.input};
    one.setup(world);
    world.run();
    if (std::getenv("ATONE_WRITE_GOLDEN") != nullptr) std::ofstream{path_of(one)} << journal_of(world);
    EXPECT_EQ(journal_of(world), read_golden(one));
  }
}

TEST(golden_journal, each_replays_to_its_end) {
  for (auto const& one : scenarios()) {
    SCOPED_TRACE(one.name);
    auto const loaded = load_definition(one.yaml);
    ASSERT_TRUE(loaded.ok());
    saga_machine machine{loaded.definition, saga_id{}, business_key{"key-1"}};
    std::istringstream lines{read_golden(one)};
    std::string end;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("end ")) {
        end = line.substr(4);
        break;
      }
      auto const applied = machine.apply(event_of(line));
      ASSERT_TRUE(applied.has_value()) << line << ": " << applied.error().message;
    }
    EXPECT_EQ(name(machine.status()), end);
  }
}

}  // namespace
}  // namespace atone::test
