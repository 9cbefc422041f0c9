// A JSON Schema that is shipped for editors, held against the loader's key tables. Thread rules: for one test each.
#pragma once

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <atone/json_schema.hpp>
#include <atone/load.hpp>
#include <atone/yaml/fields.hpp>

namespace atone::test {

class schema_document {
 public:
  explicit schema_document(std::string const& path) {
    std::ifstream in{path, std::ios::binary};
    auto parsed = json::parse(std::string{std::istreambuf_iterator<char>{in}, {}});
    EXPECT_TRUE(in && parsed) << path << (parsed ? "" : ": " + parsed.error().message);
    if (parsed) root_ = *parsed;
  }

  // The properties at the path are the table's keys: those for later are refused by `not`, and every one says what it is.
  void expect_same(yaml::key_table const& table, std::vector<std::string> path) const {
    path.emplace_back("properties");
    auto at = root_;
    for (auto const& key : path) at = *at.find(key);
    std::set<std::string> now;
    std::set<std::string> later;
    for (auto const& [key, value] : at.members()) {
      (value.find("not") ? later : now).insert(key);
      EXPECT_TRUE(value.find("description") || value.find("$ref")) << key;
    }
    EXPECT_EQ(now, (std::set<std::string>{table.now.begin(), table.now.end()})) << table.name;
    EXPECT_EQ(later, (std::set<std::string>{table.later.begin(), table.later.end()})) << table.name;
  }

  std::vector<schema_violation> violations_of(std::string const& yaml) const {
    auto const schema = json_schema::compile(root_);
    EXPECT_TRUE(schema) << (schema ? "" : schema.error().at + ": " + schema.error().message);
    auto const document = read_yaml(yaml);
    EXPECT_TRUE(document) << (document ? "" : document.error().message);
    if (!schema || !document) return {};
    return schema->validate(*document);
  }

 private:
  json::value root_;
};

}  // namespace atone::test
