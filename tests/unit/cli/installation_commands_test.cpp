// db, doctor, barrier, completion, reference, version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "cli/completion.hpp"
#include "cli/reference.hpp"
#include "fake_daemon.hpp"

namespace atone::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

fake_daemon healthy() {
  fake_daemon daemon;
  daemon.answers("GET /health", "{}").answers("GET /ready", "{}");
  daemon.answers("GET /v1/stats", R"({"version": ")" ATONE_VERSION R"(", "parked": 0})")
      .answers("GET /v1/alerts?limit=1000", R"({"alerts": []})");
  return daemon;
}

TEST(doctor, finds_nothing_wrong_with_a_healthy_daemon) {
  command_line line;
  line.daemon = healthy();
  EXPECT_EQ(line.run({"doctor"}), exit_code::done) << line.out();
  EXPECT_THAT(line.out(), HasSubstr("no saga is parked"));
  EXPECT_THAT(line.out(), HasSubstr("left out  kafka"));
  EXPECT_THAT(line.out(), HasSubstr("left out  gpu"));
}

TEST(doctor, looks_at_the_gpus_without_a_daemon) {
  command_line line;
  EXPECT_EQ(line.run({"doctor", "--gpu", "--plugin", ATONE_EMULATED_PLUGIN}), exit_code::done) << line.out();
  EXPECT_TRUE(line.daemon.lines.empty());
  EXPECT_THAT(line.out(), HasSubstr("emulation on the host"));
  EXPECT_THAT(line.out(), HasSubstr("emulated 1, compute capability 0.0, 1 processors, 1.0 GiB, 1.0 GiB free"));
  EXPECT_THAT(line.out(), HasSubstr("gpu 1        gives the bits of the CPU for every kind of feature"));
}

TEST(doctor, a_machine_without_a_gpu_plugin_is_no_fault_and_one_that_does_not_load_is) {
  command_line line;
  EXPECT_EQ(line.run({"doctor", "--gpu"}), exit_code::done) << line.out();
  EXPECT_THAT(line.out(), HasSubstr("left out  gpu plug-in  libatone_features_cuda.so is not beside this program"));
  EXPECT_EQ(line.run({"doctor", "--gpu", "--plugin", "nowhere.so"}), exit_code::negative);
}

TEST(doctor, tells_what_is_wrong) {
  command_line line;
  line.daemon.answers("GET /health", "{}").answers("GET /ready", R"({"error": {"message": "the store does not take writes"}})", 503);
  line.daemon.answers("GET /v1/stats", R"({"version": "99.0.0", "parked": 3})");
  line.daemon.answers("GET /v1/alerts?limit=1000", R"({"alerts": [{"level": "page"}, {"level": "info"}]})");
  EXPECT_EQ(line.run({"doctor"}), exit_code::negative);
  EXPECT_THAT(line.out(), HasSubstr("FAULT     ready    the store does not take writes"));
  EXPECT_THAT(line.out(), HasSubstr("the daemon is 99.0.0"));
  EXPECT_THAT(line.out(), HasSubstr("3 wait for a person"));
  EXPECT_THAT(line.out(), HasSubstr("1 that should wake somebody"));
}

TEST(doctor, says_how_long_finished_sagas_are_kept) {
  auto const with = [](std::string const& retention) {
    command_line line;
    line.daemon.answers("GET /health", "{}").answers("GET /ready", "{}").answers("GET /v1/alerts?limit=1000", R"({"alerts": []})");
    line.daemon.answers("GET /v1/stats", R"({"version": ")" ATONE_VERSION R"(", "parked": 0, "retention": )" + retention + "}");
    EXPECT_EQ(line.run({"doctor"}), exit_code::done) << line.out();
    return line.out();
  };
  EXPECT_THAT(with(R"({"sagas": null, "keys": "30d", "lag_seconds": 0, "deleted": 0, "deleted_up_to": null})"),
              HasSubstr("finished sagas are kept for ever (atoned --retention)\n"));
  auto const kept = with(R"({"sagas": "7d", "keys": "30d", "lag_seconds": 20, "deleted": 12, "deleted_up_to": null})");
  EXPECT_THAT(kept, HasSubstr("finished sagas are kept 7d, their keys 30d; deleted so far: 12"));
  EXPECT_THAT(kept, Not(HasSubstr("behind")));
  EXPECT_THAT(with(R"({"sagas": "7d", "keys": "30d", "lag_seconds": 90000, "deleted": 12, "deleted_up_to": null})"),
              HasSubstr("warning   retention  more ends than is deleted, or much was old when it was set: 25h behind"));
}

TEST(doctor, says_what_feature_sets_are_served_and_what_is_wrong_with_them) {
  auto const with = [](std::string const& set) {
    command_line line;
    line.daemon.answers("GET /health", "{}").answers("GET /ready", "{}").answers("GET /v1/alerts?limit=1000", R"({"alerts": []})");
    line.daemon.answers("GET /v1/stats",
                        R"({"version": ")" ATONE_VERSION R"(", "parked": 0, "features": [{"set": "shop", "entities": 4, )" + set + "}]}");
    auto const code = line.run({"doctor"});
    return line.out() + (code == exit_code::done ? "fine" : "faults");
  };
  EXPECT_THAT(with(R"("events": 9, "stale": 1, "freshness_seconds": 12, "differences": 0, "writable": true)"),
              AllOf(HasSubstr("features shop  9 events of 4 entities, 1 stale; the newest event applied is 12 s old"), HasSubstr("fine")));
  EXPECT_THAT(with(R"("events": 9, "stale": 1, "freshness_seconds": 301, "differences": 0, "writable": true)"),
              HasSubstr("warning   features shop"));
  EXPECT_THAT(with(R"("events": 9, "stale": 1, "freshness_seconds": null, "differences": 2, "writable": false)"),
              AllOf(HasSubstr("takes no writes"), HasSubstr("none is applied yet"), HasSubstr("2 inputs gave other features"),
                    HasSubstr("faults")));
}

TEST(doctor, without_a_daemon_asks_nothing_more) {
  command_line line;
  line.daemon.fails("GET /health", transport_failure::connect);
  EXPECT_EQ(line.run({"doctor", "-o", "json"}), exit_code::negative);
  EXPECT_EQ(line.daemon.lines.size(), 1U);
  EXPECT_THAT(line.out(), HasSubstr(R"({"verdict":"fault","what":"daemon")"));
}

TEST(doctor, looks_at_a_store) {
  command_line line;
  line.daemon = healthy();
  EXPECT_EQ(line.run({"doctor", "--store", "memory:"}), exit_code::done) << line.out();
  EXPECT_EQ(line.run({"doctor", "--store", "oracle:x"}), exit_code::negative);
}

TEST(db, status_and_migrate) {
  command_line line;
  EXPECT_EQ(line.run({"db", "migrate", "--store", "memory:"}), exit_code::done) << line.err();
  EXPECT_THAT(line.out(), HasSubstr("this build expects"));
  EXPECT_EQ(line.run({"db", "drop"}), exit_code::usage);
  EXPECT_EQ(line.run({"db", "status", "--store", "oracle:x"}), exit_code::usage);
}

TEST(barrier, is_printed_for_both_dialects) {
  for (auto const* dialect : {"postgresql", "sqlite"}) {
    command_line line;
    EXPECT_EQ(line.run({"barrier", "--dialect", dialect}), exit_code::done);
    EXPECT_THAT(line.out(), HasSubstr("atone_barrier"));
  }
  command_line line;
  EXPECT_EQ(line.run({"barrier", "--dialect", "mysql"}), exit_code::usage);
  EXPECT_THAT(line.err(), HasSubstr("expected postgresql or sqlite"));
}

TEST(version, is_the_projects) {
  command_line line;
  EXPECT_EQ(line.run({"version"}), exit_code::done);
  EXPECT_EQ(line.out(), "atone " ATONE_VERSION "\n");
}

TEST(completion, knows_every_command_and_option) {
  for (auto const* shell : {"bash", "zsh", "fish"}) {
    auto const script = completion_script(shell);
    for (auto const& one : command_table()) {
      EXPECT_THAT(script, HasSubstr(std::string{one.name})) << shell;
      for (auto const& option : one.options) EXPECT_THAT(script, HasSubstr(std::string{option.name})) << shell;
    }
  }
  command_line line;
  EXPECT_EQ(line.run({"completion", "tcsh"}), exit_code::usage);
}

TEST(completion, works_in_bash) {
  auto const path = testing::TempDir() + "atone.bash";
  std::ofstream{path} << completion_script("bash");
  auto const ask = [&](std::string const& words, int index) {
    auto const out = testing::TempDir() + "atone.answers";
    auto const command = "bash -uc '. " + path + "; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(index) +
                         "; _atone; printf \"%s \" \"${COMPREPLY[@]}\"' > " + out;
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream from{out};
    return std::string{std::istreambuf_iterator<char>{from}, {}};
  };
  EXPECT_THAT(ask("atone compl", 1), testing::AllOf(HasSubstr("complete "), HasSubstr("completion ")));
  EXPECT_THAT(ask("atone start --ke", 2), HasSubstr("--key"));
  EXPECT_THAT(ask("atone list --status comp", 3), HasSubstr("compensated"));
}

TEST(reference, is_what_docs_cli_md_holds) {
  std::ifstream from{ATONE_SOURCE_DIR "/docs/cli.md", std::ios::binary};
  std::string const page{std::istreambuf_iterator<char>{from}, {}};
  EXPECT_EQ(page, reference_page()) << "make it anew: atone reference > docs/cli.md";
}

TEST(reference, has_every_exit_status_and_command) {
  auto const page = reference_page();
  for (auto const& one : exit_code_table()) EXPECT_THAT(page, HasSubstr("| " + std::to_string(static_cast<int>(one.code)) + " | "));
  for (auto const& one : command_table()) EXPECT_THAT(page, HasSubstr("### atone " + std::string{one.name} + "\n"));
}

TEST(command_table, is_whole) {
  for (auto const& one : command_table()) {
    EXPECT_NE(one.run, nullptr) << one.name;
    EXPECT_FALSE(one.summary.empty() || one.group.empty()) << one.name;
    EXPECT_EQ(find_command(one.name), &one) << "two commands of one name";
  }
  EXPECT_EQ(find_command("none"), nullptr);
}

}  // namespace
}  // namespace atone::cli
