// load_feature_set: the document as a whole.
#include <limits>

#include <atone/features/feature_set.hpp>
#include <atone/json.hpp>
#include <atone/yaml/fields.hpp>
#include <atone/yaml/read_tree.hpp>
#include <atone/yaml/scalars.hpp>
#include <atone/yaml/source.hpp>

#include "spec/columns.hpp"
#include "spec/features.hpp"
#include "spec/keys.hpp"
#include "spec/windows.hpp"

namespace atone::features {
namespace {

using namespace yaml;

constexpr std::string_view beginning = "begin with `feature_set: NAME`";

content_hash hash_of(spot const& root, report& out) {
  auto const parsed = json::parse(to_json(root, nullptr));
  if (parsed) return content_hash::of(json::canonical(*parsed));
  out.mistake(root, "the document can't be written as JSON: " + parsed.error().message);
  return content_hash{};
}

void read_head(spot const& root, feature_set& into, report& out) {
  if (auto const at = required_field(root, "feature_set", beginning, out)) {
    into.name = read_name(*at, "the name of a feature set", false, out).value_or("");
  }
  if (auto const at = required_field(root, "version", "as in `version: 1`; a published version never changes", out)) {
    into.version = static_cast<std::uint32_t>(read_integer(*at, 1, std::numeric_limits<std::int32_t>::max(), out).value_or(1));
  }
}

void read_document(spot const& root, feature_set& into, report& out) {
  if (!expect_map(root, "a map with `feature_set`, `version`, `columns`, `windows` and `features`", out)) return;
  check_keys(root, document_keys, out);
  read_head(root, into, out);
  read_columns(root, into, out);
  read_parts(root, into, out);
  read_late(root, into, out);
  read_windows(root, into, out);
  read_features(root, into, out);
  if (out.ok()) into.hash = hash_of(root, out);
}

}  // namespace

loaded_features load_feature_set(std::string_view yaml) {
  loaded_features done;
  report out;
  auto made = std::make_shared<feature_set>();
  if (auto const text = check_source(yaml, out)) {
    if (auto const root = read_tree(*text, out, "a feature set", beginning)) read_document(spot{*root, ""}, *made, out);
  }
  if (out.ok()) done.set = std::move(made);
  done.diagnostics = out.take();
  return done;
}

}  // namespace atone::features
