// One parsed text and the flat tape of its nodes. An array's node is followed by its elements' nodes, an object's by key,
// value, key, value …; `after` jumps over a whole value. Nothing here recurses, so depth costs no stack.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/json.hpp>

namespace atone::json {

struct node {
  std::uint32_t begin = 0;  // bytes [begin, end) of the text, quotes and brackets included
  std::uint32_t end = 0;
  std::uint32_t after = 0;  // index of the node behind this value
  std::uint32_t count = 0;  // elements or members
  json::kind kind = json::kind::null;
  bool truth = false;    // of a boolean
  bool escaped = false;  // a string with a backslash in it
};

class document {
 public:
  document(std::string text, std::vector<node> nodes) : text_(std::move(text)), nodes_(std::move(nodes)) {}

  node const& at(std::uint32_t index) const noexcept { return nodes_[index]; }
  std::string_view raw(node const& of) const noexcept { return std::string_view{text_}.substr(of.begin, of.end - of.begin); }
  std::string decoded(node const& of) const;
  bool text_equals(node const& of, std::string_view text) const;

  static value make(std::shared_ptr<document const> owner, std::uint32_t index) { return value{std::move(owner), index}; }

 private:
  std::string text_;
  std::vector<node> nodes_;
};

// A string literal's text, quotes included and known to be valid -> what it stands for.
std::string decode_string(std::string_view literal);

}  // namespace atone::json
