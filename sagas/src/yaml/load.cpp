// load_definition: the document as a whole.
#include <atone/load.hpp>

#include <limits>

#include <atone/yaml/fields.hpp>
#include <atone/yaml/read_tree.hpp>
#include <atone/yaml/scalars.hpp>
#include <atone/yaml/source.hpp>

#include "yaml/atomicity.hpp"
#include "yaml/keys.hpp"
#include "yaml/schemas.hpp"
#include "yaml/services.hpp"
#include "yaml/steps.hpp"

namespace atone {
namespace {

using namespace yaml;

content_hash hash_of(spot const& root, report& out) {
  auto const parsed = json::parse(to_json(root, nullptr));
  if (parsed) return content_hash::of(json::canonical(*parsed));
  out.mistake(root, "the document can't be written as JSON: " + parsed.error().message);
  return content_hash{};
}

void read_head(spot const& root, definition& into, report& out) {
  if (auto const at = required_field(root, "saga", "begin with `saga: NAME`", out)) {
    into.ref.name = read_name(*at, "the name of a saga", false, out).value_or("");
  }
  if (auto const at = required_field(root, "version", "as in `version: 1`; a published version never changes", out)) {
    auto const number = read_integer(*at, 1, std::numeric_limits<std::int32_t>::max(), out);
    into.ref.version = definition_version{static_cast<std::uint32_t>(number.value_or(1))};
  }
  if (auto const at = field(root, "input")) into.input = read_schema(*at, out);
  if (auto const at = field(root, "deadline")) into.deadline = read_duration(*at, out).value_or(into.deadline);
}

// `shard_key` and `lock`: a value of the input.
void read_place(spot const& root, scope const& names, definition& into, report& out) {
  expression_scope seen;
  seen.names = names.input_only();
  using expr::type_kind;
  auto const at = field(root, "shard_key");
  if (at) into.shard_key = read_typed_expression(*at, seen, {type_kind::string, type_kind::integer}, out);
  auto const lock = field(root, "lock");
  if (!lock) return;
  into.lock = read_typed_expression(*lock, seen, {type_kind::string, type_kind::integer}, out);
  if (at) out.mistake(*at, "`lock` says where a saga lives: sagas with one lock live in one shard; leave `shard_key` out");
}

void read_body(spot const& root, definition& into, report& out) {
  scope names{list_steps(root)};
  if (into.input) names.set_input(into.input->static_type());
  read_place(root, names, into, out);
  if (auto const at = field(root, "services")) into.services = read_services(*at, out);
  reading with{into.services, std::move(names), out};
  if (auto const at = field(root, "defaults")) with.defaults = read_defaults(*at, out);
  with.deadline_given = field(root, "deadline").has_value();
  std::vector<step_note> notes;
  auto const steps = required_field(root, "steps", "a list of steps", out);
  if (steps) into.steps = read_steps(*steps, with, notes, 1);
  check_atomicity(notes, out);
  auto const output = field(root, "output");
  if (!output) return;
  auto names_at_end = scope_of(*output, "", with);
  names_at_end.step_path.clear();
  if (auto built = read_template(*output, names_at_end, out)) into.output = std::move(built->what);
}

void read_document(spot const& root, definition& into, report& out) {
  if (!expect_map(root, "a map with `saga`, `version` and `steps`", out)) return;
  check_keys(root, document_keys, out);
  read_head(root, into, out);
  read_body(root, into, out);
  if (out.ok()) into.ref.hash = hash_of(root, out);
}

}  // namespace

loaded load_definition(std::string_view yaml) {
  loaded done;
  report out;
  auto made = std::make_shared<definition>();
  made->text = yaml;
  if (auto const text = check_source(yaml, out)) {
    if (auto const root = read_tree(*text, out, "a saga", "begin with `saga: NAME`")) read_document(spot{*root, ""}, *made, out);
  }
  if (out.ok()) done.definition = std::move(made);
  done.diagnostics = out.take();
  return done;
}

result<json::value> read_yaml(std::string_view yaml) {
  report out;
  std::string text;
  if (auto const checked = check_source(yaml, out)) {
    if (auto const root = read_tree(*checked, out, "a map of settings", "")) text = to_json(spot{*root, ""}, &out);
  }
  if (out.ok()) return json::parse(std::move(text));
  std::string all;
  for (auto const& one : out.take()) {
    all += (all.empty() ? "" : "\n") + std::to_string(one.line) + ':' + std::to_string(one.column) + "  " + one.path + "   " + one.message;
  }
  return error{errc::invalid_argument, std::move(all)};
}

}  // namespace atone
