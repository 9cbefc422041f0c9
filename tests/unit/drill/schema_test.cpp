// schemas/drill.schema.json and the loader know the same keys, and agree on the plans there are.
#include <fstream>
#include <iterator>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/json_schema.hpp>
#include <atone/load.hpp>

#include "drill/plan_keys.hpp"
#include "plan_support.hpp"
#include "schema_document.hpp"

namespace atone::drill {
namespace {

std::string read_file(std::string const& path) {
  std::ifstream in{std::string{ATONE_SOURCE_DIR} + "/" + path, std::ios::binary};
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>{in}, {}};
}

test::schema_document schema() {
  return test::schema_document{std::string{ATONE_SOURCE_DIR} + "/schemas/drill.schema.json"};
}

TEST(drill_schema, knows_the_keys_of_the_loader) {
  schema().expect_same(plan_keys, {});
  schema().expect_same(load_keys, {"definitions", "load"});
  schema().expect_same(proxy_keys, {"definitions", "proxy"});
  schema().expect_same(process_keys, {"definitions", "process"});
  schema().expect_same(fault_keys, {"definitions", "fault"});
  schema().expect_same(expect_keys, {"definitions", "expect"});
  schema().expect_same(must_keys, {"definitions", "must"});
}

TEST(drill_schema, accepts_what_the_loader_takes) {
  EXPECT_EQ(said_of(whole_plan), "");
  auto const example = read_file("examples/drill/order-placed.yaml");
  auto const loaded = load_plan_text(example, [](std::string const& name) -> std::optional<std::string> {
    if (name.ends_with("_PORT") || name.ends_with("_PROXY")) return "7001";
    if (name == "ATONE_SOURCE" || name == "ATONE_BIN" || name == "DRILL_WORK") return "somewhere";
    if (name == "DRILL_ROUNDS") return "1";
    return std::nullopt;
  });
  EXPECT_TRUE(loaded.ok());
  for (auto const& text : {whole_plan, example}) {
    auto const found = schema().violations_of(text);
    EXPECT_TRUE(found.empty()) << found[0].at << ": " << found[0].message;
  }
}

// "Every kind of fault once" is what the example says of itself.
TEST(drill_example, has_every_kind_of_fault_and_each_once) {
  auto const loaded =
      load_plan_text(read_file("examples/drill/order-placed.yaml"), [](std::string const& name) -> std::optional<std::string> {
        if (name == "DRILL_ROUNDS") return "1";
        return (name.starts_with("DRILL_") && name != "DRILL_WORK") || name.starts_with("ATONE_STORE") ? std::nullopt
                                                                                                       : std::optional<std::string>{"7001"};
      });
  ASSERT_TRUE(loaded.ok());
  std::set<fault_kind> network;
  std::set<fault_plan::kind_of> kinds;
  for (auto const& each : loaded.plan->faults) {
    kinds.insert(each.kind);
    if (each.kind == fault_plan::kind_of::network) network.insert(each.network.kind);
  }
  EXPECT_EQ(kinds.size(), 5U);
  EXPECT_EQ(network.size(), fault_kinds - 1);  // all but `none`
  EXPECT_FALSE(loaded.plan->drawn);
  EXPECT_FALSE(loaded.plan->lasts);
  EXPECT_EQ(loaded.plan->rounds, 1U);
}

// docs/drill.md names every key, and its plan is one.
TEST(drill_page, has_every_key_and_a_plan_that_loads) {
  auto const page = read_file("docs/drill.md");
  for (auto const* table : {&plan_keys, &load_keys, &proxy_keys, &process_keys, &fault_keys, &expect_keys, &must_keys}) {
    for (auto const key : table->now) EXPECT_NE(page.find(key), std::string::npos) << key;
  }
  auto const begin = page.find("drill: weekly");
  ASSERT_NE(begin, std::string::npos);
  auto const plan = page.substr(begin, page.find("\n```", begin) - begin);
  EXPECT_EQ(said_of(plan), "");
  auto const recipes_at = page.find("faults:\n  # a full disk");
  ASSERT_NE(recipes_at, std::string::npos);
  auto const recipes = page.substr(recipes_at, page.find("\n```", recipes_at) - recipes_at);
  EXPECT_EQ(said_of("drill: recipes\ncoordinators: [\"http://127.0.0.1:7070\"]\nload: {saga: order, input: '{}'}\n" + recipes), "");
}

TEST(drill_schema, refuses_what_the_loader_refuses) {
  auto const with = [](std::string const& from, std::string const& to) {
    auto text = whole_plan;
    return text.replace(text.find(from), from.size(), to);
  };
  for (auto const& text :
       {with("rounds: 2", "rounds: 0"), with("order: drawn", "order: dawn"), with("rest: 1s", "rest: 1"), with("cut: 100", "cut: 0"),
        with("stall: true", "stall: false"), with("in_flight: 8", "in_flight: 5000"), with("parked: 3", "lost: 3"),
        with("by: -1h", "by: 1h"), with("back_to: 70", "back_to: 0"), with("{kill: atoned, weight: 5}", "{weight: 5}")}) {
    EXPECT_FALSE(schema().violations_of(text).empty()) << text;
    EXPECT_NE(said_of(text), "") << text;
  }
}

}  // namespace
}  // namespace atone::drill
