// The public JSON-Schema-Test-Suite, draft-07. Skipped groups are listed here, each with the reason, and each is checked to be
// refused when it is compiled: what we don't keep is refused, never let through.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <atone/json.hpp>
#include <atone/json_schema.hpp>

#include "support.hpp"

namespace {

using namespace atone;
using namespace atone::schema_test;

constexpr std::string_view suite_folder = ATONE_JSON_SCHEMA_SUITE;

struct skipped_group {
  std::string_view file;
  std::string_view group;  // empty: the whole file
  std::string_view reason;
};

constexpr std::string_view remote = "a reference out of the document is refused: nothing is fetched";
constexpr std::string_view no_format = "a format that is not checked is refused by name";
constexpr std::string_view no_content = "contentEncoding and contentMediaType are not checked, so they are refused";

constexpr std::array<skipped_group, 17> skipped{{
    {"definitions.json", "valid definition", remote},
    {"definitions.json", "invalid definition", remote},
    {"ref.json", "remote ref, containing refs itself", remote},
    {"ref.json", "escaped pointer ref", "it refers to members that are no keywords, which are refused; compile_test has the same escapes"},
    {"ref.json", "ref overrides any sibling keywords", "a keyword that draft-07 would ignore beside $ref is refused"},
    {"ref.json", "Recursive references between schemas", "an $id below the top is refused; validate_test has the same tree by definitions"},
    {"refRemote.json", "", remote},
    {"optional/content.json", "", no_content},
    {"optional/ecmascript-regex.json", "ECMA 262 regex non-compliance", "the format regex is not checked: patterns are RE2's"},
    {"optional/format/idn-email.json", "", no_format},
    {"optional/format/idn-hostname.json", "", no_format},
    {"optional/format/iri-reference.json", "", no_format},
    {"optional/format/iri.json", "", no_format},
    {"optional/format/regex.json", "", no_format},
    {"optional/format/relative-json-pointer.json", "", no_format},
    {"optional/format/uri-reference.json", "", no_format},
    {"optional/format/uri-template.json", "", no_format},
}};

// Not refused, but answered otherwise, on purpose.
constexpr std::array<skipped_group, 1> other_answer{{
    {"optional/zeroTerminatedFloats.json", "some languages do not distinguish between different types of numeric value",
     "optional, and against draft-06 and later: 1.0 is an integer"},
}};

template <std::size_t Size>
skipped_group const* find_skipped(std::array<skipped_group, Size> const& in, std::string_view file, std::string_view group) {
  auto const found = std::find_if(in.begin(), in.end(),
                                  [&](skipped_group const& one) { return one.file == file && (one.group.empty() || one.group == group); });
  return found == in.end() ? nullptr : &*found;
}

std::vector<std::string> files() {
  std::vector<std::string> out;
  if (suite_folder.empty() || !std::filesystem::exists(suite_folder)) return out;
  for (auto const& entry : std::filesystem::recursive_directory_iterator{suite_folder}) {
    if (entry.path().extension() == ".json") out.push_back(entry.path().lexically_relative(suite_folder).generic_string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

json::value read(std::string const& file) {
  std::ifstream in{std::filesystem::path{suite_folder} / file};
  std::stringstream text;
  text << in.rdbuf();
  return value(text.str());
}

std::string text_of(json::value const& object, std::string_view key) {
  return object.find(key)->as_string();
}

TEST(json_schema_suite, is_installed) {
  if (!files().empty()) return;
  ASSERT_EQ(std::getenv("CI"), nullptr) << "the JSON-Schema-Test-Suite was not found (Debian: json-schema-test-suite)";
  GTEST_SKIP() << "skipped, because the JSON-Schema-Test-Suite was not found (Debian: json-schema-test-suite)";
}

class json_schema_suite_file : public testing::TestWithParam<std::string> {};

void run_group(json::value const& group, json_schema const& with) {
  for (auto const& test : group.find("tests")->elements()) {
    auto const found = with.validate(*test.find("data"));
    bool const expected = test.find("valid")->as_bool();
    EXPECT_EQ(found.empty(), expected) << text_of(group, "description") << ": " << text_of(test, "description") << "\nschema "
                                       << group.find("schema")->raw() << "\ndata " << test.find("data")->raw() << "\nsaid "
                                       << (found.empty() ? "valid" : found[0].at + ": " + found[0].message);
  }
}

TEST_P(json_schema_suite_file, holds) {
  for (auto const& group : read(GetParam()).elements()) {
    auto const name = text_of(group, "description");
    auto const compiled = json_schema::compile(*group.find("schema"));
    if (auto const* left_out = find_skipped(skipped, GetParam(), name)) {
      EXPECT_FALSE(compiled) << name << " is listed as refused: " << left_out->reason;
      continue;
    }
    if (find_skipped(other_answer, GetParam(), name) != nullptr) continue;
    ASSERT_TRUE(compiled) << name << ": " << compiled.error().at << ": " << compiled.error().message;
    run_group(group, *compiled);
  }
}

std::string test_name(testing::TestParamInfo<std::string> const& of) {
  auto name = of.param.substr(0, of.param.size() - std::string_view{".json"}.size());
  std::replace_if(name.begin(), name.end(), [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(draft7, json_schema_suite_file, testing::ValuesIn(files()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(json_schema_suite_file);

// A group that no longer exists would be a skip that nobody reads.
TEST(json_schema_suite, every_skipped_group_exists) {
  auto const known = files();
  if (known.empty()) GTEST_SKIP() << "skipped, because the JSON-Schema-Test-Suite was not found (Debian: json-schema-test-suite)";
  for (auto const& one : skipped) {
    ASSERT_NE(std::find(known.begin(), known.end(), one.file), known.end()) << one.file;
    auto const groups = read(std::string{one.file}).elements();
    bool const found = one.group.empty() || std::any_of(groups.begin(), groups.end(), [&](json::value const& group) {
                         return text_of(group, "description") == one.group;
                       });
    EXPECT_TRUE(found) << one.file << ": " << one.group;
  }
}

}  // namespace
