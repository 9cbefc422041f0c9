// init, lint, draw, publish, definitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/json.hpp>
#include <atone/load.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/example_saga.hpp"
#include "fake_daemon.hpp"

namespace atone::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr auto mistaken = "saga: x\nversion: 1\nsteps:\n  - id: a\n    retires: 3\n";

class definition_commands : public testing::Test {
 protected:
  definition_commands() {
    folder_ = std::filesystem::path{testing::TempDir()} / testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~definition_commands() override { std::filesystem::remove_all(folder_); }

  std::string path(std::string const& name) const { return (folder_ / name).string(); }
  std::string written(std::string const& name, std::string const& text) const {
    std::ofstream{path(name)} << text;
    return path(name);
  }
  std::string text_of(std::string const& name) const {
    std::ifstream from{path(name), std::ios::binary};
    return {std::istreambuf_iterator<char>{from}, {}};
  }

  command_line line;

 private:
  std::filesystem::path folder_;
};

std::string all_messages(loaded const& of) {
  std::string text;
  for (auto const& one : of.diagnostics) text += format(one, "example") + "\n";
  return text;
}

TEST_F(definition_commands, the_example_passes_lint_without_a_warning) {
  auto const read = load_definition(example_saga("my-saga"));
  EXPECT_TRUE(read.ok()) << all_messages(read);
  EXPECT_TRUE(read.diagnostics.empty()) << all_messages(read);
  EXPECT_EQ(read.definition->ref.name, "my-saga");
}

TEST_F(definition_commands, init_writes_it_under_the_files_name_and_never_over_another) {
  EXPECT_EQ(line.run({"init", path("Order Placed.yaml")}), exit_code::done);
  EXPECT_THAT(text_of("Order Placed.yaml"), HasSubstr("\nsaga: order-placed\n"));
  EXPECT_EQ(line.run({"lint", path("Order Placed.yaml")}), exit_code::done) << line.out();
  EXPECT_EQ(line.run({"init", path("Order Placed.yaml")}), exit_code::usage);
  EXPECT_THAT(line.err(), HasSubstr("exists already"));
  EXPECT_EQ(line.run({"init", path("no/such/folder.yaml")}), exit_code::usage);
}

TEST_F(definition_commands, init_takes_a_usable_name_from_any_file_name) {
  EXPECT_EQ(line.run({"init", path("7.yaml")}), exit_code::done);
  EXPECT_THAT(text_of("7.yaml"), HasSubstr("\nsaga: my-saga\n"));
}

TEST_F(definition_commands, lint_names_file_line_and_column) {
  auto const file = written("bad.yaml", mistaken);
  EXPECT_EQ(line.run({"lint", file}), exit_code::negative);
  EXPECT_THAT(line.out(), HasSubstr(file + ":5:5"));
  EXPECT_THAT(line.out(), HasSubstr("retires"));
  EXPECT_THAT(line.out(), HasSubstr("mistake"));
}

TEST_F(definition_commands, lint_of_several_files_counts_them_all) {
  auto const good = written("good.yaml", example_saga("good"));
  auto const bad = written("bad.yaml", mistaken);
  EXPECT_EQ(line.run({"lint", good, bad}), exit_code::negative);
  EXPECT_EQ(line.run({"lint", good}), exit_code::done);
  EXPECT_THAT(line.out(), HasSubstr("No mistakes."));
}

TEST_F(definition_commands, lint_reads_standard_input) {
  line.standard_input = example_saga("x");
  EXPECT_EQ(line.run({"lint", "-"}), exit_code::done);
  EXPECT_EQ(line.run({"lint", path("missing.yaml")}), exit_code::usage);
  EXPECT_THAT(line.err(), HasSubstr("can't be opened"));
}

TEST_F(definition_commands, lint_reads_feature_sets_too) {
  auto const file = written("set.yaml", "# of orders\nfeature_set: orders\nversion: 0\ncolums: {}\n");
  EXPECT_EQ(line.run({"lint", file}), exit_code::negative);
  EXPECT_THAT(line.out(), HasSubstr(file + ":3:10  version   found `0`"));
  EXPECT_THAT(line.out(), HasSubstr(file + ":4:1  colums   unknown key `colums` in the document; did you mean `columns`?"));
  EXPECT_EQ(line.run({"publish", file}), exit_code::negative) << "only sagas are published";
}

TEST_F(definition_commands, lint_as_json) {
  auto const file = written("bad.yaml", mistaken);
  EXPECT_EQ(line.run({"lint", file, "-o", "json"}), exit_code::negative);
  auto const out = json::parse(line.out());
  ASSERT_TRUE(out) << line.out();
  EXPECT_GE(out->find("mistakes")->as_int64().value_or(0), 1);
  auto const first = out->find("diagnostics")->at(0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->find("file")->as_string(), file);
  EXPECT_EQ(first->find("severity")->as_string(), "mistake");
}

TEST_F(definition_commands, lint_text_cannot_steer_the_terminal) {
  EXPECT_EQ(line.run({"lint", written("odd.yaml", "saga: \"\\e[2J\"\n\"\\e]0;x\\a\": 1\n")}), exit_code::negative);
  EXPECT_THAT(line.out(), Not(HasSubstr("\x1b")));
}

TEST_F(definition_commands, draws_by_the_files_ending) {
  auto const file = written("good.yaml", example_saga("good"));
  EXPECT_EQ(line.run({"draw", file, "-o", path("a.mmd")}), exit_code::done);
  EXPECT_EQ(line.run({"draw", file, "-o", path("a.dot")}), exit_code::done);
  EXPECT_THAT(text_of("a.dot"), HasSubstr("digraph"));
  EXPECT_EQ(line.run({"draw", file}), exit_code::done);
  EXPECT_EQ(line.out(), text_of("a.mmd"));
  EXPECT_EQ(line.run({"draw", file, "-o", path("a.gif")}), exit_code::usage);
  EXPECT_THAT(line.err(), HasSubstr("'.gif' is no kind of drawing"));
}

TEST_F(definition_commands, draws_svg_by_graphviz) {
  auto const code = line.run({"draw", written("good.yaml", example_saga("good")), "-o", path("a.svg")});
  if (line.err().find("not installed") != std::string::npos) GTEST_SKIP() << "graphviz is not installed";
  EXPECT_EQ(code, exit_code::done) << line.err();
  EXPECT_THAT(text_of("a.svg"), HasSubstr("<svg"));
}

TEST_F(definition_commands, draws_nothing_of_a_mistaken_definition) {
  EXPECT_EQ(line.run({"draw", written("bad.yaml", mistaken)}), exit_code::negative);
  EXPECT_EQ(line.out(), "");
  EXPECT_THAT(line.err(), HasSubstr("Nothing was drawn."));
}

TEST_F(definition_commands, publishes_the_text_as_it_is) {
  auto const text = example_saga("good");
  line.daemon.answers("POST /v1/definitions", R"({"saga": "good", "version": 1, "hash": "0123456789abcdef"})", 201);
  EXPECT_EQ(line.run({"publish", written("good.yaml", text)}), exit_code::done) << line.err();
  EXPECT_EQ(line.out(), "published good@1  0123456789ab\n");
  EXPECT_EQ(line.daemon.requests.at(0).body, text);
  EXPECT_EQ(line.daemon.requests.at(0).header("Content-Type"), "application/yaml");
}

TEST_F(definition_commands, publishes_nothing_with_mistakes) {
  EXPECT_EQ(line.run({"publish", written("bad.yaml", mistaken)}), exit_code::negative);
  EXPECT_THAT(line.err(), HasSubstr("Nothing was published."));
  EXPECT_TRUE(line.daemon.requests.empty());
}

TEST_F(definition_commands, another_content_under_a_known_version_is_a_conflict) {
  line.daemon.answers("POST /v1/definitions", R"({"error": {"message": "good@1 is published with another content"}})", 409);
  EXPECT_EQ(line.run({"publish", written("good.yaml", example_saga("good"))}), exit_code::conflict);
}

TEST_F(definition_commands, lists_and_prints_definitions) {
  line.daemon.answers(
      "GET /v1/definitions",
      R"({"definitions": [{"saga": "good", "version": 2, "published_at": "2027-01-15T08:00:00.000000Z", "hash": "0123456789abcdef"}]})");
  line.daemon.answers("GET /v1/definitions/good?version=2", R"({"saga": "good", "version": 2, "text": "saga: good\nversion: 2\n"})");
  EXPECT_EQ(line.run({"definitions"}), exit_code::done);
  EXPECT_THAT(line.out(), HasSubstr("good  2        2027-01-15T08:00:00  0123456789ab"));
  command_line other;
  other.daemon = line.daemon;
  EXPECT_EQ(other.run({"definitions", "good@2"}), exit_code::done);
  EXPECT_EQ(other.out(), "saga: good\nversion: 2\n");
}

}  // namespace
}  // namespace atone::cli
