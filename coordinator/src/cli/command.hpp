// What a command of `atone` is: its words (of which the parser, the help, docs/cli.md and shell completion are made) and the
// function behind it.
// Thread rules: plain values; commands run in the main thread.
#pragma once

#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/result.hpp>
#include <atone/time.hpp>

#include "cli/api.hpp"
#include "cli/exit_code.hpp"
#include "cli/terminal.hpp"

namespace atone::cli {

struct option_spec {
  std::string_view name;   // "key" for --key
  char letter = '\0';      // 'k' for -k; none
  std::string_view value;  // what stands for its value in the help ("KEY"); empty: a flag
  std::string_view help;
};

struct argument_spec {
  std::string_view name;  // "FILE"
  std::string_view help;
  bool required = true;
  bool many = false;
};

// What was typed, after checking against the words.
class arguments {
 public:
  void add(std::string_view name, std::string value) { values_[std::string{name}].push_back(std::move(value)); }
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  // The first value, or `otherwise`.
  std::string get(std::string_view name, std::string_view otherwise = "") const;
  std::vector<std::string> all(std::string_view name) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// The world outside a command; tests put their own in.
struct surroundings {
  terminal const& screen;
  std::istream& input;
  fetch_function fetch;
  std::function<void(duration)> pause;
  std::function<timestamp()> now;
  std::string user;   // who asks, for operator actions
  std::string url;    // of the daemon: --url, ATONE_URL or the default
  std::string token;  // --token or ATONE_API_TOKEN
  std::string store;  // --store, ATONE_STORE or the default

  bool wants_json(arguments const& typed) const { return typed.get("output", "table") == "json"; }
};

using command_function = exit_code (*)(arguments const&, surroundings const&);

struct command_spec {
  std::string_view name;
  std::string_view group;
  std::string_view summary;
  std::vector<argument_spec> arguments;
  std::vector<option_spec> options;
  command_function run = nullptr;
};

// All commands, in the order of the help.
std::vector<command_spec> const& command_table();
command_spec const* find_command(std::string_view name);

// Says what went wrong, and with which exit code.
exit_code report(error const& what, surroundings const& with);

// "30s", "5m" as typed; an error that names the option otherwise.
result<duration> typed_duration(arguments const& typed, std::string_view option, std::string_view otherwise);
// A file's text, or standard input for "-".
result<std::string> read_text(std::string const& path, surroundings const& with);

// ---- the commands, by file ----
exit_code run_init(arguments const& typed, surroundings const& with);
exit_code run_lint(arguments const& typed, surroundings const& with);
exit_code run_draw(arguments const& typed, surroundings const& with);
exit_code run_publish(arguments const& typed, surroundings const& with);
exit_code run_definitions(arguments const& typed, surroundings const& with);
exit_code run_start(arguments const& typed, surroundings const& with);
exit_code run_list(arguments const& typed, surroundings const& with);
exit_code run_show(arguments const& typed, surroundings const& with);
exit_code run_history(arguments const& typed, surroundings const& with);
exit_code run_watch(arguments const& typed, surroundings const& with);
exit_code run_wait(arguments const& typed, surroundings const& with);
exit_code run_cancel(arguments const& typed, surroundings const& with);
exit_code run_pause(arguments const& typed, surroundings const& with);
exit_code run_resume(arguments const& typed, surroundings const& with);
exit_code run_retry(arguments const& typed, surroundings const& with);
exit_code run_skip(arguments const& typed, surroundings const& with);
exit_code run_complete(arguments const& typed, surroundings const& with);
exit_code run_alerts(arguments const& typed, surroundings const& with);
exit_code run_nodes(arguments const& typed, surroundings const& with);
exit_code run_db(arguments const& typed, surroundings const& with);
exit_code run_doctor(arguments const& typed, surroundings const& with);
exit_code run_barrier(arguments const& typed, surroundings const& with);
exit_code run_completion(arguments const& typed, surroundings const& with);
exit_code run_reference(arguments const& typed, surroundings const& with);
exit_code run_version(arguments const& typed, surroundings const& with);

}  // namespace atone::cli
