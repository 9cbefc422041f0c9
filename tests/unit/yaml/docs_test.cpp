// The samples of docs/definitions.md load. A block that begins with `saga:` is a whole definition; one that begins with a
// list item is put in place of the steps; others are top-level keys beside them.
#include <gtest/gtest.h>

#include "yaml/keys.hpp"
#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

struct sample {
  std::size_t line = 0;
  std::string text;
};

std::vector<sample> samples_of(std::string const& page) {
  std::vector<sample> found;
  std::istringstream lines{page};
  std::optional<sample> open;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (open && line == "```") {
      found.push_back(*open);
      open.reset();
    } else if (open) {
      open->text += line + "\n";
    } else if (line == "```yaml") {
      open = sample{number + 1, ""};
    }
  }
  return found;
}

std::string const services =
    "services:\n  shop: {local: shop}\n  orders: {http: \"http://127.0.0.1:7001\"}\n  features: {http: \"http://127.0.0.1:7003\"}\n";
std::string const input =
    "input:\n  type: object\n  required: [order_id, user_id, amount]\n  properties:\n    order_id: {type: integer}\n    user_id: {type: "
    "integer}\n"
    "    amount: {type: integer}\n    note: {type: string}\n";
std::string const steps = "steps:\n  - {id: pay, call: shop pay, compensate: {call: shop refund}}\n";

std::string whole(std::string const& text) {
  auto const has = [&](std::string const& key) { return text.rfind(key, 0) == 0 || text.find("\n" + key) != std::string::npos; };
  if (has("saga:")) return text;
  std::string out = "saga: sample\nversion: 1\n";
  if (!has("deadline:")) out += "deadline: 1m\n";
  if (!has("input:")) out += input;
  if (!has("services:")) out += services;
  if (text.rfind("- ", 0) == 0) return out + "steps:\n" + text;
  return out + (has("steps:") ? "" : steps) + text;
}

std::string page() {
  return read_file(source_dir() / "docs/definitions.md");
}

TEST(definitions_page, every_sample_loads) {
  auto const samples = samples_of(page());
  EXPECT_GE(samples.size(), 10U);
  for (auto const& one : samples) {
    auto const done = load_definition(whole(one.text));
    EXPECT_TRUE(done.ok()) << "docs/definitions.md:" << one.line << "\n" << told(done);
  }
}

TEST(definitions_page, names_every_key) {
  auto const text = page();
  for (auto const* table : {&yaml::document_keys, &yaml::defaults_keys, &yaml::service_keys, &yaml::step_keys, &yaml::retry_keys,
                            &yaml::compensate_keys, &yaml::default_compensate_keys, &yaml::fallback_keys, &yaml::parallel_keys}) {
    for (auto const key : table->now) EXPECT_NE(text.find("`" + std::string{key}), std::string::npos) << key << " of " << table->name;
    for (auto const key : table->later)
      EXPECT_NE(text.find("`" + std::string{key} + "`"), std::string::npos) << key << " of " << table->name;
  }
}

}  // namespace
}  // namespace atone::yaml_test
