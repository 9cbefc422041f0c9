// Facts are chains known to exist where an expression is evaluated: what has() showed, through && || ! and ?: , and what
// `"key" in chain` showed.
#include "references.hpp"

#include <algorithm>

namespace atone::expr {
namespace {

using path = std::vector<std::string>;
using facts = std::vector<path>;

std::string const* constant_key(expression const& of) {
  return of.kind == node_kind::index && of.children[1]->kind == node_kind::literal ? of.children[1]->literal.text() : nullptr;
}

// The chain `of` is, when it is one from a declared name.
std::optional<path> chain_of(expression const& of) {
  if (of.kind == node_kind::name) return of.local ? std::nullopt : std::optional{path{of.text}};
  bool const field = of.kind == node_kind::select || of.kind == node_kind::has;
  auto const* key = constant_key(of);
  if (!field && key == nullptr) return std::nullopt;
  auto chain = chain_of(*of.children[0]);
  if (chain) chain->push_back(field ? of.text : *key);
  return chain;
}

facts united(facts left, facts const& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

facts common_facts(facts const& left, facts const& right) {
  facts both;
  for (auto const& known : left) {
    if (std::find(right.begin(), right.end(), known) != right.end()) both.push_back(known);
  }
  return both;
}

// What holds where `of` came out as `truth`.
facts facts_when(expression const& of, bool truth) {
  if (of.kind == node_kind::logical_not) return facts_when(*of.children[0], !truth);
  if (of.kind == node_kind::has && truth) {
    auto chain = chain_of(of);
    return chain ? facts{std::move(*chain)} : facts{};
  }
  if (of.kind == node_kind::binary && of.op == binary_kind::in && truth) {
    auto chain = chain_of(*of.children[1]);
    auto const* key = of.children[0]->kind == node_kind::literal ? of.children[0]->literal.text() : nullptr;
    if (!chain || key == nullptr) return {};
    chain->push_back(*key);
    return {std::move(*chain)};
  }
  if (of.kind != node_kind::all_of && of.kind != node_kind::any_of) return {};
  bool const every = (of.kind == node_kind::all_of) == truth;  // all operands are known, not just one
  auto known = facts_when(*of.children[0], truth);
  for (std::size_t at = 1; at < of.children.size(); ++at) {
    auto const next = facts_when(*of.children[at], truth);
    known = every ? united(std::move(known), next) : common_facts(known, next);
  }
  return known;
}

bool is_prefix(path const& of, path const& whole) {
  return of.size() <= whole.size() && std::equal(of.begin(), of.end(), whole.begin());
}

// A fact about a longer chain shows that the shorter one exists as well.
bool is_guarded(path const& chain, facts const& known) {
  return std::any_of(known.begin(), known.end(), [&](path const& fact) { return is_prefix(fact, chain) || is_prefix(chain, fact); });
}

class collector {
 public:
  void visit(expression const& of, facts const& known) {
    if (auto chain = chain_of(of)) return add(of, std::move(*chain), known);
    if (of.kind == node_kind::all_of || of.kind == node_kind::any_of) return visit_chain(of, known);
    if (of.kind == node_kind::conditional) {
      visit(*of.children[0], known);
      visit(*of.children[1], united(known, facts_when(*of.children[0], true)));
      visit(*of.children[2], united(known, facts_when(*of.children[0], false)));
      return;
    }
    for (auto const& child : of.children) visit(*child, known);
  }

  std::vector<reference> take() { return std::move(found_); }

 private:
  void add(expression const& of, path chain, facts const& known) {
    reference made;
    made.guarded = is_guarded(chain, known);
    made.path = std::move(chain);
    made.offset = of.begin;
    made.only_tested = of.kind == node_kind::has;
    found_.push_back(std::move(made));
  }

  // The operands of && are reached when those before them held, those of || when they did not.
  void visit_chain(expression const& of, facts known) {
    bool const truth = of.kind == node_kind::all_of;
    for (auto const& operand : of.children) {
      visit(*operand, known);
      known = united(std::move(known), facts_when(*operand, truth));
    }
  }

  std::vector<reference> found_;
};

}  // namespace

std::vector<reference> collect_references(expression const& root) {
  collector walk;
  walk.visit(root, {});
  return walk.take();
}

}  // namespace atone::expr
