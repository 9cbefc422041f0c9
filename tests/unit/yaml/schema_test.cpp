// schemas/saga.schema.json and the loader know the same keys, and agree on every valid definition.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/json_schema.hpp>

#include <atone/yaml/scalars.hpp>

#include "yaml/keys.hpp"
#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

using namespace yaml;

json::value schema_document() {
  auto parsed = json::parse(read_file(source_dir() / "schemas/saga.schema.json"));
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return *parsed;
}

json::value at(json::value of, std::vector<std::string> const& path) {
  for (auto const& key : path) {
    auto const next = of.find(key);
    if (!next) return json::value{};
    of = *next;
  }
  return of;
}

// Keys the schema accepts, and those it knows but refuses ("not": {}).
struct schema_keys {
  std::set<std::string> now;
  std::set<std::string> later;
};

schema_keys keys_at(std::vector<std::string> path) {
  path.emplace_back("properties");
  schema_keys found;
  for (auto const& [key, value] : at(schema_document(), path).members()) (value.find("not") ? found.later : found.now).insert(key);
  return found;
}

void expect_same(key_table const& table, std::vector<std::string> const& path) {
  auto const found = keys_at(path);
  EXPECT_EQ(found.now, (std::set<std::string>{table.now.begin(), table.now.end()})) << table.name;
  EXPECT_EQ(found.later, (std::set<std::string>{table.later.begin(), table.later.end()})) << table.name;
}

TEST(saga_schema, knows_the_keys_of_the_loader) {
  expect_same(document_keys, {});
  expect_same(defaults_keys, {"definitions", "defaults"});
  expect_same(service_keys, {"definitions", "service"});
  expect_same(step_keys, {"definitions", "step"});
  expect_same(retry_keys, {"definitions", "retry"});
  expect_same(compensate_keys, {"definitions", "compensate"});
  expect_same(default_compensate_keys, {"definitions", "default_compensate"});
  expect_same(fallback_keys, {"definitions", "fallback"});
  expect_same(fallback_value_keys, {"definitions", "fallback_value"});
  expect_same(fallback_call_keys, {"definitions", "fallback_call"});
  expect_same(parallel_keys, {"definitions", "step", "properties", "parallel"});
}

TEST(saga_schema, every_map_refuses_unknown_keys) {
  for (auto const& [name, value] : at(schema_document(), {"definitions"}).members()) {
    if (!value.find("properties")) continue;
    EXPECT_EQ(value.find("additionalProperties")->raw(), "false") << name;
  }
}

TEST(saga_schema, every_key_is_described) {
  auto const check = [](json::value const& of, std::string const& where) {
    for (auto const& [key, value] : of.members()) EXPECT_TRUE(value.find("description") || value.find("$ref")) << where << "." << key;
  };
  check(at(schema_document(), {"properties"}), "document");
  for (auto const& [name, value] : at(schema_document(), {"definitions"}).members()) {
    if (auto const properties = value.find("properties")) check(*properties, name);
  }
}

std::vector<schema_violation> violations_of(std::string const& yaml) {
  auto const schema = json_schema::compile(schema_document());
  EXPECT_TRUE(schema) << (schema ? "" : schema.error().at + ": " + schema.error().message);
  auto const tree = read(yaml);
  EXPECT_TRUE(tree.root) << first(tree.said);
  if (!schema || !tree.root) return {};
  return schema->validate(json::parse(to_json(spot{*tree.root, ""}, nullptr)).value());
}

TEST(saga_schema, every_example_validates) {
  for (auto const& file : files_of(source_dir() / "examples/sagas", ".yaml")) {
    auto const found = violations_of(read_file(file));
    EXPECT_TRUE(found.empty()) << file << " " << found[0].at << ": " << found[0].message;
  }
}

TEST(saga_schema, refuses_what_the_loader_refuses_by_key_or_kind) {
  for (auto const* text :
       {"saga: s\nversion: 1\n", "saga: S\nversion: 1\nsteps: [{id: a}]\n", "saga: s\nversion: 0\nsteps: [{id: a}]\n",
        "saga: s\nversion: 1\nsteps: []\n", "saga: s\nversion: 1\nsteps: [{id: a, retires: 1}]\n",
        "saga: s\nversion: 1\nlabels: {}\nsteps: [{id: a}]\n", "saga: s\nversion: 1\ndeadline: 5\nsteps: [{id: a}]\n",
        "saga: s\nversion: 1\nsteps: [{id: a, tcc: {}}]\n", "saga: s\nversion: 1\nsteps: [{id: a, retry: {jitter: half}}]\n",
        "saga: s\nversion: 1\nsteps: [{id: a, pivot: 'true'}]\n", "saga: s\nversion: 1\nservices: {A: {local: a}}\nsteps: [{id: a}]\n"}) {
    EXPECT_FALSE(violations_of(text).empty()) << text;
    EXPECT_FALSE(load_definition(text).ok()) << text;
  }
}

TEST(saga_schema, accepts_each_form_of_a_fallback) {
  std::string const head =
      "saga: s\nversion: 1\nservices: {a: {local: a}}\nsteps:\n  - id: x\n    call: a b\n    read_only: true\n    fallback: ";
  for (auto const* fallback : {"{on: [timeout], use: {value: 1}}", "{on: [timeout, refused], use: {call: a c, in: {x: 1}}, alert: warn}",
                               "{on: [unavailable], use: last_output, key: =saga.key, max_age: 1h}"}) {
    EXPECT_TRUE(violations_of(head + fallback + "\n").empty()) << fallback;
    EXPECT_TRUE(load_definition(head + fallback + "\n").ok()) << told(load_definition(head + fallback + "\n"));
  }
}

}  // namespace
}  // namespace atone::yaml_test
