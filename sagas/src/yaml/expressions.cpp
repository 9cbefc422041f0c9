#include "yaml/expressions.hpp"

#include <algorithm>
#include <limits>

#include <atone/yaml/scalars.hpp>

namespace atone::yaml {
namespace {

using expr::type;
using expr::type_kind;

// What YAML did to a plain expression, or nothing.
std::string how_it_was_cut(node const& of) {
  if (!of.is_plain()) return {};
  if (of.comment_follows) return "YAML takes what follows ` #` as a comment";
  if (of.in_flow) return "inside { } and [ ] YAML ends a plain text at , [ ] { }";
  return {};
}

bool report_cut(spot const& at, report& out) {
  if (!is_cut_expression(*at)) return false;
  auto const how = how_it_was_cut(*at);
  if (how.empty()) return false;
  out.mistake(at, "the expression is cut to `" + at->text + "`: " + how, "quote the expression");
  return true;
}

type literal_number_type(std::string const& text) {
  if (!is_json_integer(text)) return type{};
  bool const negative = text[0] == '-';
  auto const digits = std::string_view{text}.substr(negative ? 1 : 0);
  constexpr std::string_view most = "9223372036854775807";
  auto const fits = digits.size() < most.size() || (digits.size() == most.size() && digits <= most);
  return fits ? type{type_kind::integer} : type{};
}

type literal_type(node const& of) {
  if (of.kind == node_kind::null) return type{type_kind::null};
  switch (meaning_of(of).kind) {
    case scalar_kind::boolean: return type{type_kind::boolean};
    case scalar_kind::number: return literal_number_type(of.text);
    default: return type{type_kind::string};
  }
}

std::optional<built_template> read_scalar(spot const& at, expression_scope const& names, report& out) {
  built_template made;
  if (is_expression(*at)) {
    auto program = read_expression(at, names, out);
    if (!program) return std::nullopt;
    made.type = program->result_type();
    made.what = value_template::expression(std::move(*program));
    return made;
  }
  auto const meaning = meaning_of(*at);
  if (meaning.kind == scalar_kind::refused) {
    out.mistake(at, meaning.why, meaning.hint);
    return std::nullopt;
  }
  made.type = literal_type(*at);
  if (meaning.kind == scalar_kind::text) {
    std::string text;
    json::append_string(text, plain_text(*at));
    made.what = value_template::literal(std::move(text));
  } else {
    made.what = value_template::literal(meaning.kind == scalar_kind::null ? "null" : at->text);
  }
  return made;
}

type::field field_of(std::string const& name, type of) {
  type::field made;
  made.name = name;
  made.of = std::make_shared<type const>(std::move(of));
  return made;
}

bool doubtful_key(node const& key) {
  if (!key.is_plain()) return false;
  auto const kind = meaning_of(key).kind;
  return kind == scalar_kind::number || kind == scalar_kind::boolean || key.text.empty();
}

std::optional<built_template> read_object(spot const& at, expression_scope const& names, report& out) {
  value_template::object members;
  std::vector<type::field> fields;
  auto const before = out.mistakes();
  for (auto const& member : at->entries) {
    if (member.left_over || !member.key.is_scalar()) continue;
    auto const place_of_value = at.child(member.key.text, member.value);
    if (doubtful_key(member.key)) {
      out.mistake(member.key.at, place_of_value.path, "the key " + describe(member.key) + " is not a text", "quote the key");
      continue;
    }
    if (is_expression(member.key)) {
      out.mistake(member.key.at, place_of_value.path, "a key can't be an expression",
                  "quote the whole expression if `: ` cut it; a key that begins with = is written ==");
      continue;
    }
    if (member.value.kind == node_kind::null && !member.value.written) {
      out.mistake(member.key.at, place_of_value.path, "the key `" + member.key.text + "` has no value", "write null if nothing is meant");
      continue;
    }
    auto inside = read_template(place_of_value, names, out);
    if (!inside) continue;
    std::string const key{plain_text(member.key)};
    fields.push_back(field_of(key, inside->type));
    members.emplace_back(key, std::move(inside->what));
  }
  if (out.mistakes() != before) return std::nullopt;
  built_template made;
  made.type = type::object_of(std::move(fields), false);
  made.what = value_template::fields(std::move(members));
  return made;
}

std::optional<built_template> read_array(spot const& at, expression_scope const& names, report& out) {
  value_template::array items;
  auto const before = out.mistakes();
  for (std::size_t i = 0; i < at->items.size(); ++i) {
    if (auto inside = read_template(at.item(i), names, out)) items.push_back(std::move(inside->what));
  }
  if (out.mistakes() != before) return std::nullopt;
  built_template made;
  made.type = type::list_of(type{});
  made.what = value_template::items(std::move(items));
  return made;
}

// What a name that is not known here could have been.
std::string hint_for(expr::mistake const& wrong, expression_scope const& names) {
  constexpr std::string_view unknown = "unknown name";
  if (wrong.message.compare(0, unknown.size(), unknown) != 0) return {};
  std::string known;
  for (auto const& [name, of] : names.names) known += (known.empty() ? "" : ", ") + name;
  return "names here: " + known;
}

}  // namespace

place place_in(node const& scalar, std::size_t offset) {
  if (!scalar.verbatim) return scalar.at;
  auto const text = std::string_view{scalar.text}.substr(0, std::min(offset + 1, scalar.text.size()));
  auto const characters = std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return place{scalar.at.line, scalar.text_column + static_cast<std::uint32_t>(characters)};
}

std::optional<expr::program> read_expression(spot const& at, expression_scope const& names, report& out) {
  if (!is_expression(*at)) {
    out.mistake(at, "found " + describe(*at) + "; expected an expression", "an expression begins with =, as in =input.order_id");
    return std::nullopt;
  }
  if (report_cut(at, out)) return std::nullopt;
  auto program = expr::program::compile(std::string_view{at->text}.substr(1), names.names);
  if (!program) {
    auto const& wrong = program.error();
    out.mistake(place_in(*at, wrong.offset), at.path, wrong.message, hint_for(wrong, names));
    return std::nullopt;
  }
  auto const before = out.mistakes();
  check_references(*program, at, names, out);
  if (out.mistakes() != before) return std::nullopt;
  return std::move(*program);
}

std::optional<expr::program> read_typed_expression(spot const& at, expression_scope const& names, std::initializer_list<type_kind> kinds,
                                                   report& out) {
  auto program = read_expression(at, names, out);
  if (!program) return std::nullopt;
  auto const& kind = program->result_type().kind();
  if (kind == type_kind::dynamic || std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return program;
  std::string expected;
  for (auto const wanted : kinds) expected += (expected.empty() ? "" : " or ") + type{wanted}.text();
  out.mistake(at, "the expression gives " + program->result_type().text() + "; expected " + expected);
  return std::nullopt;
}

std::optional<built_template> read_template(spot const& at, expression_scope const& names, report& out) {
  if (at->is_map()) return read_object(at, names, out);
  if (at->is_sequence()) return read_array(at, names, out);
  return read_scalar(at, names, out);
}

}  // namespace atone::yaml
