// A daemon made of answers written down in advance, and the surroundings of a command that talks to it.
// Thread rules: for one test each.
#pragma once

#include <deque>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/parse.hpp"
#include "cli_support.hpp"

namespace atone::cli {

class fake_daemon {
 public:
  // The next answer to this method and target; the last one stays.
  fake_daemon& answers(std::string const& what, std::string body, std::int32_t status = 200) {
    api_answer came;
    came.status = status;
    came.body = std::move(body);
    answers_[what].push_back(std::move(came));
    return *this;
  }
  fake_daemon& fails(std::string const& what, transport_failure how) {
    api_answer came;
    came.failure = how;
    came.detail = "as the test wants it";
    answers_[what].push_back(std::move(came));
    return *this;
  }

  api_answer fetch(api_request what) {
    requests.push_back(std::move(what));
    auto const line = requests.back().method + " " + requests.back().url.substr(std::string_view{"http://daemon"}.size());
    lines.push_back(line);
    auto const found = answers_.find(line);
    if (found == answers_.end()) return missing(line);
    auto came = found->second.front();
    if (found->second.size() > 1) found->second.pop_front();
    return came;
  }

  std::vector<api_request> requests;
  std::vector<std::string> lines;

 private:
  static api_answer missing(std::string const& line) {
    api_answer came;
    came.status = 404;
    came.body = R"({"error": {"code": "not_found", "message": "nothing at )" + line + "\"}}";
    return came;
  }

  std::map<std::string, std::deque<api_answer>> answers_;
};

// Runs command lines against the fake; time passes only in pauses.
class command_line {
 public:
  explicit command_line(terminal_traits traits = {}) : screen_(traits) {}

  exit_code run(std::vector<std::string> words) {
    auto const line = parse_line(std::move(words), out_of_parser, err_of_parser);
    if (line.command == nullptr) return line.code;
    std::istringstream input{standard_input};
    surroundings const with{screen_.screen(),
                            input,
                            [this](api_request what) { return daemon.fetch(std::move(what)); },
                            [this](duration span) { now_ += span; },
                            [this] { return now_ += tick; },
                            "tester",
                            "http://daemon",
                            line.typed.get("token"),
                            line.typed.get("store", "memory:")};
    return line.command->run(line.typed, with);
  }

  std::string out() const { return screen_.out(); }
  std::string err() const { return screen_.err(); }

  fake_daemon daemon;
  std::string standard_input;
  std::ostringstream out_of_parser;
  std::ostringstream err_of_parser;

 private:
  static constexpr duration tick = std::chrono::milliseconds{1};

  captured screen_;
  timestamp now_{std::chrono::seconds{1'800'000'100}};
};

}  // namespace atone::cli
