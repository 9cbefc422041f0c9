#include "yaml/schemas.hpp"

#include <charconv>

#include <atone/yaml/fields.hpp>
#include <atone/yaml/scalars.hpp>

namespace atone::yaml {
namespace {

// RFC 6901: ~1 is /, ~0 is ~.
std::string unescape(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
      out += token[++i] == '0' ? '~' : '/';
    } else {
      out += token[i];
    }
  }
  return out;
}

std::optional<spot> step_into(spot const& from, std::string const& token) {
  if (from->is_map()) return field(from, token);
  std::size_t index = 0;
  auto const [end, failed] = std::from_chars(token.data(), token.data() + token.size(), index);
  auto const proper = failed == std::errc{} && end == token.data() + token.size();
  if (!from->is_sequence() || !proper || index >= from->items.size()) return std::nullopt;
  return from.item(index);
}

}  // namespace

spot follow(spot from, std::string_view pointer) {
  while (!pointer.empty() && pointer[0] == '/') {
    pointer.remove_prefix(1);
    auto const end = std::min(pointer.find('/'), pointer.size());
    auto next = step_into(from, unescape(pointer.substr(0, end)));
    if (!next) return from;
    from = std::move(*next);
    pointer.remove_prefix(end);
  }
  return from;
}

std::optional<json_schema> read_schema(spot const& at, report& out) {
  if (!expect_map(at, "a JSON Schema (a map)", out)) return std::nullopt;
  auto const before = out.mistakes();
  auto text = to_json(at, &out);
  if (out.mistakes() != before) return std::nullopt;
  auto const parsed = json::parse(std::move(text));
  if (!parsed) {
    out.mistake(at, "the schema is not JSON: " + parsed.error().message);
    return std::nullopt;
  }
  auto compiled = json_schema::compile(*parsed);
  if (compiled) return std::move(*compiled);
  out.mistake(follow(at, compiled.error().at), compiled.error().message, "schemas are JSON Schema draft-07");
  return std::nullopt;
}

}  // namespace atone::yaml
