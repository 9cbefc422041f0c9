// Property: a random tree, and the tree that its printed text parses to, are accepted or refused alike and evaluate the same.
#include <gmock/gmock.h>

#include <random>

#include "expr/checker.hpp"
#include "expr/evaluator.hpp"
#include "expr/output.hpp"
#include "printer.hpp"
#include "support.hpp"

namespace atone::expr {
namespace {

constexpr std::uint64_t seeds = 2000;

constexpr std::string_view sample_values = R"({
  "x": {"a": 1, "b": [1, 2.5, "three", null, {"a": true}], "c": {"a": "text", "n": 18446744073709551615}},
  "y": [0, 1, 2, 1E400], "n": 7, "r": 0.5, "t": "abc", "flag": true})";

class tree_maker {
 public:
  explicit tree_maker(std::uint64_t seed) : random_(seed) {}

  expression_ptr tree(int depth) {
    if (depth <= 0 || pick(6) == 0) return leaf();
    switch (pick(13)) {
      case 0: return with(node_kind::negate, depth, 1);
      case 1: return with(node_kind::logical_not, depth, 1);
      case 2: return with(pick(2) == 0 ? node_kind::all_of : node_kind::any_of, depth, 2 + pick(2));
      case 3: return with(node_kind::conditional, depth, 3);
      case 4: return named(with(node_kind::select, depth, 1), field());
      case 5: return named(with(node_kind::has, depth, 1), field());
      case 6: return with(node_kind::index, depth, 2);
      case 7: return with(node_kind::list, depth, pick(4));
      case 8: return map(depth);
      case 9: return call(depth);
      case 10: return macro(depth);
      default: {
        auto made = with(node_kind::binary, depth, 2);
        made->op = static_cast<binary_kind>(pick(12));
        return made;
      }
    }
  }

 private:
  std::size_t pick(std::size_t below) { return static_cast<std::size_t>(random_() % below); }

  static expression_ptr named(expression_ptr of, std::string text) {
    of->text = std::move(text);
    return of;
  }
  expression_ptr with(node_kind kind, int depth, std::size_t children) {
    auto made = std::make_unique<expression>();
    made->kind = kind;
    for (std::size_t at = 0; at < children; ++at) made->children.push_back(tree(depth - 1));
    return made;
  }
  std::string field() {
    constexpr std::string_view fields[] = {"a", "b", "c", "n", "missing"};
    return std::string{fields[pick(5)]};
  }
  expression_ptr literal(datum value) {
    auto made = std::make_unique<expression>();
    made->literal = std::move(value);
    return made;
  }
  expression_ptr leaf() {
    constexpr std::int64_t whole[] = {0, 1, -1, 2, 7, INT64_MAX, INT64_MIN};
    constexpr double real[] = {0.0, 1.0, -0.5, 1e300, 2.5, -0.0};
    constexpr std::string_view text[] = {"", "a", "three", "quote\"\\\n", "é"};
    switch (pick(9)) {
      case 0: return literal(datum{whole[pick(7)]});
      case 1: return literal(datum{real[pick(6)]});
      case 2: return literal(datum{std::string{text[pick(5)]}});
      case 3: return literal(datum{pick(2) == 0});
      case 4: return literal(pick(2) == 0 ? datum{} : datum{std::uint64_t{pick(3)}});
      default: return name();
    }
  }
  expression_ptr name() {
    constexpr std::string_view names[] = {"x", "y", "n", "r", "t", "flag", "v"};
    auto made = std::make_unique<expression>();
    made->kind = node_kind::name;
    made->text = names[pick(7)];
    return made;
  }
  expression_ptr map(int depth) {
    auto made = with(node_kind::map, depth, 0);
    for (std::size_t entry = pick(3); entry > 0; --entry) {
      made->children.push_back(pick(4) == 0 ? tree(depth - 1) : literal(datum{field()}));
      made->children.push_back(tree(depth - 1));
    }
    return made;
  }
  expression_ptr call(int depth) {
    constexpr std::string_view names[] = {"size", "string", "int", "uint", "double", "dyn", "min", "max", "bool"};
    if (pick(3) > 0) return named(with(node_kind::call, depth, 1), std::string{names[pick(9)]});
    constexpr std::string_view methods[] = {"startsWith", "endsWith", "contains", "matches"};
    auto made = named(with(node_kind::call, depth, 2), std::string{methods[pick(4)]});
    made->member = true;
    return made;
  }
  expression_ptr macro(int depth) {
    auto const kind = static_cast<macro_kind>(pick(5));
    auto made = named(with(node_kind::macro, depth, kind == macro_kind::map ? 2 + pick(2) : 2), pick(2) == 0 ? "v" : "x");
    made->macro = kind;
    return made;
  }

  std::mt19937_64 random_;
};

// "refused", "error: …" or the value, from a tree.
std::string run_tree(expression& tree, bindings const& values) {
  auto const names = dynamic_names(values);
  if (auto const found = checker{names}.check(tree); !found) return "refused: " + found.error().message;
  evaluator walk{values, bounds{}};
  auto const found = walk.run(tree);
  if (!found) return "error: " + found.error().message;
  auto const made = to_json(*found, bounds{}.result_bytes_max);
  return made ? std::string{made->raw()} : "error: " + made.error().message;
}

TEST(expr_random, printed_and_parsed_again_means_the_same) {
  auto const values = bind(sample_values);
  std::size_t evaluated = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    auto const tree = tree_maker{seed}.tree(4);
    auto const text = print(*tree);
    if (text.size() > text_bytes_max) continue;
    auto const expected = run_tree(*tree, values);
    auto const found = outcome_of(text, sample_values);
    if (expected.starts_with("refused") || expected.starts_with("error")) {
      ASSERT_THAT(found, ::testing::StartsWith(expected)) << "seed " << seed << ": " << text;
      continue;
    }
    ASSERT_EQ(found, expected) << "seed " << seed << ": " << text;
    ++evaluated;
  }
  EXPECT_GT(evaluated, seeds / 10);
}

TEST(expr_random, references_and_types_are_never_too_many) {
  auto const values = bind(sample_values);
  for (std::uint64_t seed = 1; seed <= seeds / 4; ++seed) {
    auto const text = print(*tree_maker{seed}.tree(4));
    auto const made = program::compile(text, dynamic_names(values));
    if (!made) continue;
    for (auto const& one : made->references()) {
      EXPECT_TRUE(values.contains(one.path.front())) << text;
      EXPECT_LT(one.offset, text.size()) << text;
      auto const root = text.substr(one.offset);
      EXPECT_TRUE(root.find(one.path.front()) != std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace atone::expr
