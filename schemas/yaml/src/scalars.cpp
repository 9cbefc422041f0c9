#include <atone/yaml/scalars.hpp>

#include <algorithm>
#include <array>
#include <cctype>

#include <atone/json.hpp>

namespace atone::yaml {
namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

std::size_t digits_from(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

constexpr std::array guessed_booleans{std::string_view{"yes"}, std::string_view{"no"}, std::string_view{"on"}, std::string_view{"off"}};

// Texts that some YAML reader takes for a number although JSON does not: 010, 0x1f, 1_000, +5, .5, 5., .inf
bool is_doubtful_number(std::string_view text) {
  if (text.empty()) return false;
  auto const sign = (text[0] == '+' || text[0] == '-') ? 1U : 0U;
  auto const body = lower(text.substr(sign));
  if (body == ".inf" || body == ".nan") return true;
  if (body.size() > 2 && body[0] == '0' && (body[1] == 'x' || body[1] == 'o' || body[1] == 'b')) {
    return body.find_first_not_of("0123456789abcdef_", 2) == std::string::npos;
  }
  if (body.empty() || !(is_digit(body[0]) || (body[0] == '.' && body.size() > 1 && is_digit(body[1])))) return false;
  auto const mantissa_end = body.find_first_not_of("0123456789_.");
  if (std::count(body.begin(), body.end(), '.') > 1) return false;
  if (mantissa_end == std::string::npos) return true;
  if (body[mantissa_end] != 'e') return false;
  auto const exponent =
      mantissa_end + 1 + ((mantissa_end + 1 < body.size() && (body[mantissa_end + 1] == '+' || body[mantissa_end + 1] == '-')) ? 1 : 0);
  return exponent < body.size() && digits_from(body, exponent) == body.size();
}

scalar_meaning refuse(std::string why, std::string hint) {
  scalar_meaning out;
  out.kind = scalar_kind::refused;
  out.why = std::move(why);
  out.hint = std::move(hint);
  return out;
}

scalar_meaning of_kind(scalar_kind kind) {
  scalar_meaning out;
  out.kind = kind;
  return out;
}

scalar_meaning null_meaning(node const& of) {
  if (of.text == "null") return of_kind(scalar_kind::null);
  if (of.written) return refuse("`" + of.text + "` is not JSON's null", "write null, or quote it if it is a text");
  return refuse("there is no value", "write null if nothing is meant");
}

std::string scalar_json(spot const& of, report* out) {
  auto const meaning = meaning_of(*of);
  switch (meaning.kind) {
    case scalar_kind::null: return "null";
    case scalar_kind::number:
    case scalar_kind::boolean: return of->text;
    case scalar_kind::refused:
      if (out != nullptr) out->mistake(of, meaning.why, meaning.hint);
      break;
    case scalar_kind::text: break;
  }
  std::string text;
  json::append_string(text, of->text);
  return text;
}

}  // namespace

bool is_json_integer(std::string_view text) noexcept {
  std::size_t const start = !text.empty() && text[0] == '-' ? 1 : 0;
  if (start >= text.size()) return false;
  if (text[start] == '0') return text.size() == start + 1;
  return digits_from(text, start) == text.size();
}

bool is_json_number(std::string_view text) noexcept {
  auto const integer_end = text.find_first_of(".eE");
  if (!is_json_integer(text.substr(0, integer_end))) return false;
  if (integer_end == std::string_view::npos) return true;
  auto at = integer_end;
  if (text[at] == '.') {
    auto const end = digits_from(text, at + 1);
    if (end == at + 1) return false;
    at = end;
  }
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  return at < text.size() && digits_from(text, at) == text.size();
}

scalar_meaning meaning_of(node const& scalar) {
  if (scalar.kind == node_kind::null) return null_meaning(scalar);
  if (!scalar.is_plain()) return of_kind(scalar_kind::text);
  auto const& text = scalar.text;
  if (text == "true" || text == "false") return of_kind(scalar_kind::boolean);
  if (is_json_number(text)) return of_kind(scalar_kind::number);
  auto const folded = lower(text);
  if (folded == "true" || folded == "false")
    return refuse("`" + text + "` is not JSON's " + folded, "write " + folded + ", or quote it if it is a text");
  if (std::find(guessed_booleans.begin(), guessed_booleans.end(), folded) != guessed_booleans.end()) {
    return refuse("`" + text + "` is a text to some YAML readers and true or false to others",
                  "write true or false, or quote it if it is a text");
  }
  if (is_doubtful_number(text)) {
    return refuse("`" + text + "` is not a decimal number as JSON writes it", "write a plain decimal number, or quote it if it is a text");
  }
  return of_kind(scalar_kind::text);
}

bool is_expression(node const& of) noexcept {
  return of.is_scalar() && !of.text.empty() && of.text[0] == '=' && !(of.text.size() > 1 && of.text[1] == '=');
}

std::string_view plain_text(node const& of) noexcept {
  std::string_view text = of.text;
  if (text.size() > 1 && text[0] == '=' && text[1] == '=') text.remove_prefix(1);
  return text;
}

std::string to_json(spot const& of, report* out) {
  std::string text;
  if (of->is_map()) {
    text += '{';
    for (auto const& member : of->entries) {
      if (text.size() > 1) text += ',';
      json::append_string(text, member.key.text);
      text += ':';
      text += to_json(of.child(member.key.text, member.value), out);
    }
    return text += '}';
  }
  if (of->is_sequence()) {
    text += '[';
    for (std::size_t i = 0; i < of->items.size(); ++i) {
      if (i > 0) text += ',';
      text += to_json(of.item(i), out);
    }
    return text += ']';
  }
  return scalar_json(of, out);
}

}  // namespace atone::yaml
