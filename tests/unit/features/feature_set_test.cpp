// Feature sets: what is read, what is refused and in which words, what the hash holds, and the JSON Schema beside the loader.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/json_schema.hpp>
#include <atone/load.hpp>

#include "schema_document.hpp"
#include "spec/keys.hpp"
#include "support.hpp"

namespace atone::features_test {
namespace {

using namespace features;
using testing::HasSubstr;

std::filesystem::path const source_dir{ATONE_SOURCE_DIR};

std::string read_file(std::filesystem::path const& path) {
  std::ifstream in{path, std::ios::binary};
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::vector<std::filesystem::path> files_of(std::filesystem::path const& folder, std::string const& extension) {
  std::vector<std::filesystem::path> found;
  for (auto const& entry : std::filesystem::directory_iterator{folder}) {
    if (entry.path().extension() == extension) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string const whole = R"(feature_set: whole
version: 3
entity: user
event_id: id
event_time: at
known_at: known
late: {after: 2d, then: set_aside}
columns:
  user: text
  id: integer
  at: timestamp
  known: timestamp
  amount: {type: decimal, scale: 2, nulls: refuse}
  product: text
windows: {7d: {last: 7d}, ten: {rows: 10}, ever: {since: epoch}}
features:
  spent: {sum: amount, over: [7d, ever], where: {product: [b, a], amount: {above: 1.50, at_most: 99}}}
  by_product: {count: events, over: [ten], per: {product: [tea, coffee]}}
  newest: {last_values: product, keep: 5, over: [ever]}
  spread: {deviation: amount, estimate: population, over: [7d]}
  decay: {decayed_sum: amount, half_life: 30d, over: [ever]}
  trend: {ratio: spent, between: [7d, ever]}
)";

TEST(feature_set, every_part_is_read) {
  auto const set = set_of(whole);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->name, "whole");
  EXPECT_EQ(set->version, 3U);
  EXPECT_EQ(set->entity, 0U);
  EXPECT_EQ(set->event_id, 1U);
  EXPECT_EQ(set->event_time, 2U);
  EXPECT_EQ(set->known_at, std::optional<std::uint32_t>{3});
  EXPECT_EQ(set->late, late_rule::set_aside);
  EXPECT_EQ(set->late_after, std::chrono::hours{48});
  EXPECT_EQ(set->columns[4].scale, 2);
  EXPECT_EQ(set->columns[4].nulls, null_rule::refuse);
  EXPECT_EQ(set->windows[1].rows, 10);
  EXPECT_EQ(set->find_column("product"), std::optional<std::uint32_t>{5});
  EXPECT_EQ(set->find_column("nothing"), std::nullopt);
}

TEST(feature_set, every_kind_of_feature_is_read) {
  auto const set = set_of(whole);
  auto const& spent = set->features[0];
  EXPECT_EQ(spent.what, aggregation::sum);
  EXPECT_EQ(spent.windows, (std::vector<std::uint32_t>{0, 2}));
  ASSERT_EQ(spent.where.size(), 2U);
  EXPECT_EQ(spent.where[0].least, 151) << "strictly above 1.50 is 1.51 or more";
  EXPECT_EQ(spent.where[0].most, 9'900);
  EXPECT_EQ(spent.where[1].words, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(set->features[1].words, (std::vector<std::string>{"tea", "coffee"}));
  EXPECT_EQ(set->features[2].keep, 5);
  EXPECT_FALSE(set->features[3].sample);
  EXPECT_EQ(set->features[4].half_life, std::chrono::hours{720});
  EXPECT_EQ(set->features[5].what, aggregation::ratio);
  EXPECT_EQ(set->features[5].of, 0U);
}

TEST(feature_set, the_hash_is_of_the_meaning) {
  auto const set = set_of(whole);
  EXPECT_EQ(set_of("# a comment\n" + whole)->hash, set->hash);
  auto other = whole;
  other.replace(other.find("30d, over"), 3, "31d");
  EXPECT_NE(set_of(other)->hash, set->hash);
}

TEST(feature_set, no_window_at_all_is_refused) {
  std::string const head =
      "feature_set: none\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\ncolumns: {user: integer, id: integer, at: timestamp}\n";
  EXPECT_THAT(said_of(head + "windows: {}\nfeatures: {n: {count: events, over: [x]}, r: {ratio: n, between: [x, y]}}\n"),
              HasSubstr("found no window"));
}

TEST(feature_set, too_many_of_anything_is_refused) {
  std::string const head =
      "feature_set: many\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\ncolumns: {user: integer, id: integer, at: timestamp, n: "
      "integer}\n";
  std::string features = "windows: {w: {rows: 1}}\nfeatures:\n";
  for (std::size_t at = 0; at <= feature_limits::features_max; ++at)
    features += "  f" + std::to_string(at) + ": {count: events, over: [w]}\n";
  EXPECT_THAT(said_of(head + features), HasSubstr("there are 513 features; the most is 512"));
  std::string filters = "windows: {w: {rows: 1}}\nfeatures:\n";
  for (int at = 0; at < 64; ++at)
    filters += "  f" + std::to_string(at) + ": {count: events, over: [w], where: {n: " + std::to_string(at) + "}}\n";
  EXPECT_THAT(said_of(head + filters), HasSubstr("there are 64 filters"));
  std::string values = "windows: {w: {rows: 1}}\nfeatures: {f: {count: events, over: [w], where: {n: [0";
  for (int at = 1; at <= 1000; ++at) values += ", " + std::to_string(at);
  EXPECT_THAT(said_of(head + values + "]}}}\n"), HasSubstr("there are 1001 values; the most is 1000"));
}

class broken_feature_set : public testing::TestWithParam<std::filesystem::path> {};

// With ATONE_UPDATE_GOLDEN=1 the expectations are written anew; read the difference before you commit it.
TEST_P(broken_feature_set, is_refused_in_these_words) {
  std::string said;
  auto const done = load_feature_set(read_file(GetParam()));
  for (auto const& one : done.diagnostics) said += format(one, GetParam().filename().string()) + "\n";
  auto expected_path = GetParam();
  expected_path.replace_extension(".expected");
  if (std::getenv("ATONE_UPDATE_GOLDEN") != nullptr) std::ofstream{expected_path, std::ios::binary} << said;
  EXPECT_FALSE(done.ok());
  EXPECT_FALSE(said.empty());
  EXPECT_EQ(said, read_file(expected_path));
}

std::string test_name(testing::TestParamInfo<std::filesystem::path> const& info) {
  auto name = info.param.stem().string();
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(golden, broken_feature_set, testing::ValuesIn(files_of(source_dir / "tests/golden/feature_sets", ".yaml")),
                         test_name);

// Cutting a valid text anywhere never crashes and never loads as another set.
TEST(feature_set, any_cut_is_refused_or_whole) {
  auto const hash = set_of(whole)->hash;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    auto const done = load_feature_set(whole.substr(0, size));
    EXPECT_TRUE(done.ok() || !done.diagnostics.empty()) << size;
    if (done.ok()) {
      EXPECT_NE(done.set->hash, content_hash{});
    }
  }
  EXPECT_EQ(set_of(whole)->hash, hash);
}

test::schema_document schema() {
  return test::schema_document{(source_dir / "schemas/features.schema.json").string()};
}

TEST(features_schema, knows_the_keys_of_the_loader) {
  schema().expect_same(document_keys, {});
  schema().expect_same(column_keys, {"definitions", "column"});
  schema().expect_same(late_keys, {"definitions", "late"});
  schema().expect_same(window_keys, {"definitions", "window"});
  schema().expect_same(feature_keys, {"definitions", "feature"});
  schema().expect_same(condition_keys, {"definitions", "condition"});
}

TEST(features_schema, accepts_what_the_loader_takes) {
  auto texts = std::vector{whole};
  for (auto const& file : files_of(source_dir / "examples/features", ".yaml")) texts.push_back(read_file(file));
  ASSERT_GE(texts.size(), 2U);
  for (auto const& text : texts) {
    EXPECT_EQ(said_of(text), "");
    auto const found = schema().violations_of(text);
    EXPECT_TRUE(found.empty()) << found[0].at << ": " << found[0].message;
  }
}

TEST(features_schema, refuses_unknown_keys_and_kinds) {
  auto const with = [](std::string const& from, std::string const& to) {
    auto text = whole;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (auto const& text :
       {with("version: 3", "version: 0"), with("keep: 5", "kep: 5"), with("{rows: 10}", "{rows: 0}"), with("scale: 2", "scale: 10"),
        with("then: set_aside", "then: wait"), with("id: integer", "id: number"), with("half_life: 30d", "half_life: 30")}) {
    EXPECT_FALSE(schema().violations_of(text).empty()) << text;
    EXPECT_NE(said_of(text), "") << text;
  }
}

// The samples of the page load: a block that begins with `feature_set:` is a whole set.
TEST(features_page, every_sample_loads) {
  std::istringstream lines{read_file(source_dir / "docs/features.md")};
  std::size_t samples = 0;
  std::optional<std::string> open;
  for (std::string line; std::getline(lines, line);) {
    if (open && line == "```") {
      ++samples;
      EXPECT_EQ(said_of(*open), "") << *open;
      open.reset();
    } else if (open) {
      *open += line + "\n";
    } else if (line == "```yaml") {
      open = "";
    }
  }
  EXPECT_GE(samples, 1U);
}

}  // namespace
}  // namespace atone::features_test
