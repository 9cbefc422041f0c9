// Every command of `atone`, in words. docs/cli.md is made of this table; a test holds the two together.
#include "cli/audit_command.hpp"
#include "cli/command.hpp"
#include "cli/drill_command.hpp"
#include "cli/poke_command.hpp"

namespace atone::cli {
namespace {

constexpr std::string_view writing = "Write sagas";
constexpr std::string_view running = "Run sagas";
constexpr std::string_view operating = "Operate";
constexpr std::string_view proving = "Prove";
constexpr std::string_view installing = "Installation";

constexpr option_spec output{"output", 'o', "FORMAT", "table (for people) or json (for programs)"};
constexpr option_spec url{"url", '\0', "URL", "address of the daemon (ATONE_URL; http://127.0.0.1:7070)"};
constexpr option_spec token{"token", '\0', "TOKEN", "secret of a bearer token for the daemon (ATONE_API_TOKEN)"};
constexpr option_spec ca{"ca", '\0', "FILE", "certificates to trust instead of the system's"};
constexpr option_spec store{"store", '\0', "ADDRESS", "sqlite:PATH or postgresql://… (ATONE_STORE; sqlite:atone.db)"};
constexpr option_spec step{"step", '\0', "PATH", "which parked step; may be left out when there is only one"};
constexpr option_spec note{"note", '\0', "TEXT", "why, kept in the saga's record"};
constexpr option_spec actor{"actor", '\0', "NAME", "who asks, instead of the user's name"};
constexpr option_spec timeout{"timeout", '\0', "TIME", "how long to wait, as in 30s or 5m (1m)"};
constexpr argument_spec saga{"ID", "the saga's id, 26 characters"};

// A command that talks to the daemon has these options too.
std::vector<option_spec> with_daemon(std::vector<option_spec> own) {
  own.insert(own.end(), {output, url, token, ca});
  return own;
}

std::vector<command_spec> writing_commands() {
  return {
      {"init",
       writing,
       "write a commented example saga that passes lint",
       {{"FILE", "the file to write; an existing one is never overwritten"}},
       {},
       run_init},
      {"lint",
       writing,
       "find the mistakes in definitions and feature sets; needs no daemon",
       {{"FILE", "YAML files; - is standard input", true, true}},
       {output},
       run_lint},
      {"draw",
       writing,
       "draw a definition: steps, branches, compensations",
       {{"FILE", "a YAML file; - is standard input"}},
       {{"output", 'o', "FILE", "where to: .svg, .png (both by graphviz), .dot or .mmd; without it, Mermaid text"}},
       run_draw},
      {"publish",
       writing,
       "check a definition and make it known to the daemon",
       {{"FILE", "a YAML file; - is standard input"}},
       with_daemon({}),
       run_publish},
      {"definitions",
       writing,
       "list what is published, or print one definition's YAML",
       {{"NAME", "as NAME or NAME@VERSION", false}},
       with_daemon({}),
       run_definitions},
  };
}

std::vector<command_spec> running_commands() {
  return {
      {"start",
       running,
       "start a saga",
       {{"NAME", "a published definition, as NAME or NAME@VERSION"}},
       with_daemon({{"input", 'i', "JSON", "the input; @FILE reads a file, - standard input ({})"},
                    {"key", 'k', "KEY", "business key: the same key starts the saga once only"},
                    {"wait", 'w', "", "wait for its end; the exit status tells which"},
                    timeout}),
       run_start},
      {"wait", running, "wait until a saga has ended or is parked", {saga}, with_daemon({timeout}), run_wait},
      {"list",
       running,
       "list sagas, newest first",
       {},
       with_daemon({{"saga", 's', "NAME", "of this definition only"},
                    {"status", '\0', "STATUS", "running, compensating, waiting, paused, completed, compensated or parked"},
                    {"key-prefix", '\0', "TEXT", "whose business key begins so"},
                    {"since", '\0', "TIME", "started at or after, as in 2026-11-30T13:37:00.000000Z"},
                    {"before", '\0', "ID", "older than this saga: the next page"},
                    {"limit", 'n', "COUNT", "at most so many (20)"}}),
       run_list},
      {"show",
       running,
       "one saga as a timeline",
       {{"ID", "the saga's id", false}},
       with_daemon({{"last", '\0', "", "the newest saga"},
                    {"last-compensated", '\0', "", "the newest that was compensated"},
                    {"last-parked", '\0', "", "the newest that is parked"}}),
       run_show},
      {"history",
       running,
       "every event of a saga: when, what, caused by which",
       {saga},
       with_daemon({{"verbose", 'v', "", "with payloads"}}),
       run_history},
      {"watch",
       running,
       "follow a saga, or all of them, live",
       {{"ID", "the saga's id; without it, all open sagas", false}},
       with_daemon({{"interval", '\0', "TIME", "time between two looks (1s)"}, {"count", '\0', "COUNT", "stop after so many looks"}}),
       run_watch},
  };
}

std::vector<command_spec> operating_commands() {
  return {
      {"cancel", operating, "undo a saga, as long as its pivot has not been sent", {saga}, with_daemon({note, actor}), run_cancel},
      {"pause", operating, "start nothing new in a saga until resume", {saga}, with_daemon({note, actor}), run_pause},
      {"resume", operating, "go on with a paused saga", {saga}, with_daemon({note, actor}), run_resume},
      {"retry", operating, "try a parked step again", {saga}, with_daemon({step, note, actor}), run_retry},
      {"skip", operating, "take a parked step as done with; needs a note", {saga}, with_daemon({step, note, actor}), run_skip},
      {"complete",
       operating,
       "supply a parked step's output by hand; needs a note",
       {saga},
       with_daemon({step, {"json", '\0', "JSON", "the step's output (null)"}, note, actor}),
       run_complete},
      {"alerts",
       operating,
       "what a person should see, newest first",
       {},
       with_daemon({{"limit", 'n', "COUNT", "at most so many (20)"}}),
       run_alerts},
      {"nodes", operating, "which daemons share the store, where they are, and how much each drives", {}, with_daemon({}), run_nodes},
  };
}

std::vector<command_spec> proving_commands() {
  return {
      {"audit",
       proving,
       "prove from journal and participants that every ended saga is all or nothing",
       {},
       with_daemon({{"service", '\0', "NAME=URL", "read this service's effects; may be repeated (every service of the definitions)"},
                    {"dump", '\0', "FILE",
                     "read the journal from what pg_dump wrote, or a copy of an SQLite file, instead of the daemon; - is standard input"},
                    {"state", '\0', "FILE", "go on where the audit before stopped, and keep there how far this one came"}}),
       run_audit},
      {"poke",
       proving,
       "send a participant the five awkward sequences, and say whether it holds",
       {{"URL", "the participant's address, as in http://127.0.0.1:7001"}},
       {{"do", '\0', "REQUEST", "the action, as in \"POST /orders\"; {n} becomes a number of its own"},
        {"body", '\0', "JSON", "the action's body"},
        {"compensate", '\0', "REQUEST", "its compensation, as in \"DELETE /orders/{n}\""},
        {"compensate-body", '\0', "JSON", "the compensation's body"}},
       run_poke},
      {"drill",
       proving,
       "break a test installation on purpose, under load, and say how long it takes to recover and what is lost",
       {{"PLAN", "a YAML file: load, proxies, processes, faults; - is standard input"}},
       {{"seed", '\0', "NUMBER", "of what is drawn: the same number draws the same faults"},
        {"dry-run", '\0', "", "check the plan and say what would be done"},
        output,
        token,
        ca},
       run_drill},
  };
}

std::vector<command_spec> installing_commands() {
  return {
      {"db",
       installing,
       "the store's tables, while no daemon holds an SQLite file",
       {{"ACTION", "migrate: bring them up to date; status: tell versions"}},
       {store, output},
       run_db},
      {"doctor",
       installing,
       "what is wrong with this installation, in one screen",
       {},
       with_daemon({store,
                    {"gpu", '\0', "", "look at the GPUs instead: plug-in, driver, memory, and whether each gives the bits of the CPU"},
                    {"plugin", '\0', "FILE", "with --gpu: the plug-in, instead of the one beside this program"}}),
       run_doctor},
      {"barrier",
       installing,
       "print the participants' barrier as SQL",
       {},
       {{"dialect", '\0', "NAME", "postgresql or sqlite (postgresql)"}},
       run_barrier},
      {"completion", installing, "print a script for the shell's completion", {{"SHELL", "bash, zsh or fish"}}, {}, run_completion},
      {"reference", installing, "print all commands and options as Markdown (docs/cli.md)", {}, {}, run_reference},
      {"version", installing, "print the version", {}, {}, run_version},
  };
}

std::vector<command_spec> all_commands() {
  std::vector<command_spec> all;
  for (auto part : {writing_commands(), running_commands(), operating_commands(), proving_commands(), installing_commands()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

std::vector<command_spec> const& command_table() {
  static std::vector<command_spec> const table = all_commands();
  return table;
}

}  // namespace atone::cli
