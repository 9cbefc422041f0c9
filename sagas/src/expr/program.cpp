#include <atone/utf8.hpp>

#include "checker.hpp"
#include "evaluator.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "references.hpp"

namespace atone::expr {
namespace {

constexpr std::size_t shown_bytes_max = 160;  // of the text, in messages

std::string shown(std::string_view text) {
  if (text.size() <= shown_bytes_max) return std::string{text};
  auto cut = shown_bytes_max;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return std::string{text.substr(0, cut)} + "…";
}

// The steps of `name.field…`; empty for any other expression.
std::vector<std::string> passed_through(expression const& of) {
  if (of.kind == node_kind::name && !of.local) return {of.text};
  if (of.kind != node_kind::select) return {};
  auto names = passed_through(*of.children[0]);
  if (!names.empty()) names.push_back(of.text);
  return names;
}

constexpr std::size_t looked_at_max = 64;  // members of an object that are not worth counting against the bounds

// What the path leads to; nothing where only the evaluator can say what to make of it.
std::optional<json::value> at_path(std::vector<std::string> const& path, bindings const& values, bounds const& limits) {
  if (path.empty() || path.size() > limits.steps_max) return std::nullopt;
  auto const from = values.find(path.front());
  if (from == values.end()) return std::nullopt;
  auto found = std::optional{from->second};
  for (std::size_t at = 1; found && at < path.size(); ++at) {
    if (found->type() != json::kind::object || found->size() > looked_at_max) return std::nullopt;
    found = found->find(path[at]);
  }
  if (found && found->raw().size() > limits.result_bytes_max) return std::nullopt;
  return found;
}

// "no such field 'x' at character 7 of `input.x`"; characters, not bytes, from 1.
error placed(fault const& failed, std::string_view text) {
  std::size_t character = 1;
  for (std::size_t at = 0; at < failed.offset && at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) ++character;
  }
  return error{failed.code, failed.message + " at character " + std::to_string(character) + " of `" + shown(text) + "`"};
}

}  // namespace

result<program, mistake> program::compile(std::string_view text, declarations const& names) {
  auto root = parse_expression(text);
  if (!root) return std::move(root.error());
  auto found = checker{names}.check(**root);
  if (!found) return std::move(found.error());
  program made;
  made.text_ = text;
  made.type_ = std::move(*found);
  made.references_ = collect_references(**root);
  made.passed_ = passed_through(**root);
  auto tree = std::make_shared<syntax_tree>();
  tree->root = std::move(*root);
  made.tree_ = std::move(tree);
  return made;
}

result<json::value> program::evaluate(bindings const& values, bounds const& limits) const {
  if (auto passed = at_path(passed_, values, limits)) return *std::move(passed);
  evaluator walk{values, limits};
  auto found = walk.run(*tree_->root);
  if (!found) return placed(found.error(), text_);
  auto made = to_json(*found, limits.result_bytes_max);
  if (!made) return error{made.error().code, made.error().message + " (`" + shown(text_) + "`)"};
  return made;
}

result<bool> program::evaluate_bool(bindings const& values, bounds const& limits) const {
  auto found = evaluate(values, limits);
  if (!found) return std::move(found.error());
  if (found->type() == json::kind::boolean) return found->as_bool();
  return error{errc::invalid_argument,
               "expected a boolean, found " + std::string{json::name(found->type())} + " from `" + shown(text_) + "`"};
}

}  // namespace atone::expr
