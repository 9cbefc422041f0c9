// A YAML document as Atone reads it: plain nodes with their places, aliases expanded, nothing of the parser's library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atone::yaml {

// A place in the text; line and column count from 1, columns in characters.
struct place {
  std::uint32_t line = 1;
  std::uint32_t column = 1;

  place() = default;
  place(std::uint32_t l, std::uint32_t c) : line(l), column(c) {}
};

enum class node_kind : std::uint8_t { null, scalar, sequence, map };
enum class scalar_style : std::uint8_t { plain, quoted, block };

struct entry;

// One node. What YAML itself loses is kept: whether a null was written, and what cut a plain scalar short.
struct node {
  node_kind kind = node_kind::null;
  scalar_style style = scalar_style::plain;
  bool written = false;          // of a null: `null` stands there (otherwise nothing does)
  bool in_flow = false;          // inside { } or [ ]
  bool comment_follows = false;  // plain scalar, then ` #` on the same line
  bool verbatim = false;         // the text stands in the source as it is, from `text_column`
  std::uint32_t text_column = 1;
  place at;
  std::string text;            // of a scalar
  std::vector<node> items;     // of a sequence
  std::vector<entry> entries;  // of a map, in the order of the text

  node() = default;
  bool is_map() const noexcept { return kind == node_kind::map; }
  bool is_sequence() const noexcept { return kind == node_kind::sequence; }
  bool is_scalar() const noexcept { return kind == node_kind::scalar; }
  bool is_plain() const noexcept { return kind == node_kind::scalar && style == scalar_style::plain; }
  node const* find(std::string_view key) const noexcept;
};

// One key and its value.
struct entry {
  node key;
  node value;
  bool left_over = false;  // no value, and stands behind an expression that YAML cut at a comma: the rest of it

  entry() = default;
};

// What the node is, for messages: "a map", "the text `abc`", "nothing".
std::string describe(node const& of);

// A plain scalar that begins with `=` and whose brackets or quotes don't close: YAML took the rest away.
bool is_cut_expression(node const& of) noexcept;

// A node and its path in the document ("steps[2].in"): what every part of the loader works on.
struct spot {
  node const* at = nullptr;
  std::string path;

  spot() = default;
  spot(node const& of, std::string where) : at(&of), path(std::move(where)) {}
  node const& operator*() const noexcept { return *at; }
  node const* operator->() const noexcept { return at; }
  spot child(std::string_view key, node const& value) const;
  spot item(std::size_t index) const;
};

// "a.b"; a key that is not a plain word is written ["like this"].
std::string child_path(std::string_view path, std::string_view key);
std::string item_path(std::string_view path, std::size_t index);

}  // namespace atone::yaml
