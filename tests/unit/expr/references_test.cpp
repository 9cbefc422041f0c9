// Which parts of its names an expression reads, and which reads stand under has().
#include "support.hpp"

namespace atone::expr {
namespace {

std::string show(reference const& one) {
  std::string out;
  for (auto const& part : one.path) out += (out.empty() ? "" : ".") + part;
  if (one.only_tested) out += " tested";
  if (one.guarded) out += " guarded";
  return out;
}

std::vector<std::string> references_of(std::string_view text) {
  auto const made = program::compile(text, {{"input", type{}}, {"saga", type{}}, {"steps", type{}}});
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  std::vector<std::string> shown;
  if (made) {
    for (auto const& one : made->references()) shown.push_back(show(one));
  }
  return shown;
}

using list = std::vector<std::string>;

TEST(expr_references, chains) {
  EXPECT_EQ(references_of("1 + 2"), list{});
  EXPECT_EQ(references_of("input"), list{"input"});
  EXPECT_EQ(references_of("steps.order.out.id"), list{"steps.order.out.id"});
  EXPECT_EQ(references_of("steps['order'].out[\"id\"]"), list{"steps.order.out.id"});
  EXPECT_EQ(references_of("steps.order.out.items[0].id"), list{"steps.order.out.items"});
  EXPECT_EQ(references_of("input.a + saga.b"), (list{"input.a", "saga.b"}));
  EXPECT_EQ(references_of("input.map[saga.key].x"), (list{"input.map", "saga.key"}));
  EXPECT_EQ(references_of("input.name.size()"), list{"input.name"});
  EXPECT_EQ(references_of("[input.a, {'k': saga.b}]"), (list{"input.a", "saga.b"}));
  EXPECT_EQ(references_of("input.a == input.a"), (list{"input.a", "input.a"}));
}

TEST(expr_references, macro_variables_are_none) {
  EXPECT_EQ(references_of("input.items.map(i, i.price * saga.factor)"), (list{"input.items", "saga.factor"}));
  EXPECT_EQ(references_of("input.items.map(input, input.x)"), list{"input.items"});
  EXPECT_EQ(references_of("input.items.map(i, i.all(steps, steps.x)) + [steps.y]"), (list{"input.items", "steps.y"}));
}

TEST(expr_references, offsets_are_where_the_chain_begins) {
  auto const made = program::compile("1 + input.a + (saga).b + min(steps.x, 2)", {{"input", type{}}, {"saga", type{}}, {"steps", type{}}});
  ASSERT_TRUE(made);
  ASSERT_EQ(made->references().size(), 3U);
  EXPECT_EQ(made->references()[0].offset, 4U);
  EXPECT_EQ(made->references()[1].offset, 14U);
  EXPECT_EQ(made->references()[2].offset, 29U);
}

TEST(expr_references, has_tests_and_guards) {
  EXPECT_EQ(references_of("has(steps.a.out)"), list{"steps.a.out tested"});
  EXPECT_EQ(references_of("has(steps.a) && steps.a.out.x > 1"), (list{"steps.a tested", "steps.a.out.x guarded"}));
  EXPECT_EQ(references_of("steps.a.out.x > 1 && has(steps.a)"), (list{"steps.a.out.x", "steps.a tested"}));
  EXPECT_EQ(references_of("has(steps.a) ? steps.a.out : steps.b.out"), (list{"steps.a tested", "steps.a.out guarded", "steps.b.out"}));
  EXPECT_EQ(references_of("!has(steps.a) ? steps.a.out : steps.a.out"), (list{"steps.a tested", "steps.a.out", "steps.a.out guarded"}));
  EXPECT_EQ(references_of("!has(steps.a) || steps.a.out.ok"), (list{"steps.a tested", "steps.a.out.ok guarded"}));
  EXPECT_EQ(references_of("has(steps.a) || steps.a.out.ok"), (list{"steps.a tested", "steps.a.out.ok"}));
  EXPECT_EQ(references_of("has(steps.a) && has(steps.b) ? [steps.a, steps.b] : []"),
            (list{"steps.a tested", "steps.b tested", "steps.a guarded", "steps.b guarded"}));
  EXPECT_EQ(references_of("has(steps.a) || has(steps.b) ? steps.a : 1"), (list{"steps.a tested", "steps.b tested", "steps.a"}));
  EXPECT_EQ(references_of("has(steps.a) || has(steps.a) ? steps.a : 1"), (list{"steps.a tested", "steps.a tested", "steps.a guarded"}));
  EXPECT_EQ(references_of("!(has(steps.a) && has(steps.b)) ? 1 : steps.a"), (list{"steps.a tested", "steps.b tested", "steps.a guarded"}));
  EXPECT_EQ(references_of("!(!has(steps.a) || !has(steps.b)) && steps.b.x"),
            (list{"steps.a tested", "steps.b tested", "steps.b.x guarded"}));
}

TEST(expr_references, a_longer_has_guards_what_it_went_through) {
  EXPECT_EQ(references_of("has(steps.a) && has(steps.a.out.id) && steps.a.out.id > 0"),
            (list{"steps.a tested", "steps.a.out.id tested guarded", "steps.a.out.id guarded"}));
  EXPECT_EQ(references_of("has(steps.a.out) ? steps.a : 1"), (list{"steps.a.out tested", "steps.a guarded"}));
}

TEST(expr_references, a_key_looked_for_guards_too) {
  EXPECT_EQ(references_of("'a' in steps && steps.a.out.ok"), (list{"steps", "steps.a.out.ok guarded"}));
  EXPECT_EQ(references_of("'a' in steps ? steps['a'].x : 0"), (list{"steps", "steps.a.x guarded"}));
  EXPECT_EQ(references_of("input.k in steps ? steps['a'].x : 0"), (list{"input.k", "steps", "steps.a.x"}));
}

TEST(expr_references, guards_reach_into_calls_and_macros) {
  EXPECT_EQ(references_of("has(steps.a) && input.items.all(i, i.id != steps.a.out.id)"),
            (list{"steps.a tested", "input.items", "steps.a.out.id guarded"}));
  EXPECT_EQ(references_of("input.items.all(i, has(steps.a) && i.id != steps.a.id) && steps.a.id > 1"),
            (list{"input.items", "steps.a tested", "steps.a.id guarded", "steps.a.id"}));
  EXPECT_EQ(references_of("size(has(steps.a) ? [steps.a] : [])"), (list{"steps.a tested", "steps.a guarded"}));
}

TEST(expr_references, names_alike_are_told_apart) {
  EXPECT_EQ(references_of("has(steps.a) && steps.ab"), (list{"steps.a tested", "steps.ab"}));
  EXPECT_EQ(references_of("has(steps.a) && input.a"), (list{"steps.a tested", "input.a"}));
  EXPECT_EQ(references_of("input.l.all(steps, has(steps.a)) && steps.a"), (list{"input.l", "steps.a"}));
}

}  // namespace
}  // namespace atone::expr
