#include <atone/yaml/node.hpp>

#include <algorithm>

namespace atone::yaml {
namespace {

constexpr std::size_t quoted_size_max = 60;  // bytes of foreign text shown in a message

bool is_word(std::string_view key) noexcept {
  if (key.empty()) return false;
  return std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

std::string shortened(std::string_view text) {
  std::string out;
  for (char const c : text.substr(0, quoted_size_max)) out += (c == '\n' || c == '\r' || c == '\t') ? ' ' : c;
  // Never cut inside a UTF-8 sequence.
  if (text.size() > quoted_size_max) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0U) == 0x80U) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0U) out.pop_back();
    out += "…";
  }
  return out;
}

}  // namespace

node const* node::find(std::string_view key) const noexcept {
  for (auto const& member : entries) {
    if (member.key.text == key) return &member.value;
  }
  return nullptr;
}

std::string describe(node const& of) {
  switch (of.kind) {
    case node_kind::null: return of.written ? "null" : "nothing";
    case node_kind::map: return of.entries.empty() ? "an empty map" : "a map";
    case node_kind::sequence: return of.items.empty() ? "an empty list" : "a list";
    case node_kind::scalar: break;
  }
  return of.text.empty() ? "an empty text" : "`" + shortened(of.text) + "`";
}

bool is_cut_expression(node const& of) noexcept {
  if (!of.is_plain() || of.text.size() < 2 || of.text[0] != '=') return false;
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 1; i < of.text.size(); ++i) {
    char const c = of.text[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return quote != 0 || depth > 0;
}

spot spot::child(std::string_view key, node const& value) const {
  return spot{value, child_path(path, key)};
}

spot spot::item(std::size_t index) const {
  return spot{at->items[index], item_path(path, index)};
}

std::string child_path(std::string_view path, std::string_view key) {
  std::string out{path};
  if (!is_word(key)) return out + "[\"" + shortened(key) + "\"]";
  if (!out.empty()) out += '.';
  return out += key;
}

std::string item_path(std::string_view path, std::size_t index) {
  return std::string{path} + '[' + std::to_string(index) + ']';
}

}  // namespace atone::yaml
