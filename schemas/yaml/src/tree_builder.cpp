#include "tree_builder.hpp"

#include <algorithm>

#include <atone/yaml/source.hpp>

namespace atone::yaml {
namespace {

// Nodes in a finished tree; its depth is bounded while it is built.
std::size_t size_of(node const& of) {
  std::size_t total = 1;
  for (auto const& item : of.items) total += size_of(item);
  for (auto const& member : of.entries) total += 1 + size_of(member.value);
  return total;
}

std::size_t depth_of(node const& of) {
  std::size_t deepest = 0;
  for (auto const& item : of.items) deepest = std::max(deepest, depth_of(item));
  for (auto const& member : of.entries) deepest = std::max(deepest, depth_of(member.value));
  return 1 + deepest;
}

constexpr std::size_t path_size_max = 100;  // bytes; deeper levels are not shown
constexpr std::string_view plain_tag = "?";
constexpr std::string_view quoted_tag = "!";

}  // namespace

std::string tree_builder::path() const {
  std::string out;
  for (auto const& level : open_) {
    if (out.size() > path_size_max) return out + "…";
    if (level.being_built.is_sequence()) out = item_path(out, level.being_built.items.size());
    if (level.being_built.is_map() && level.key) out = child_path(out, level.key->text);
  }
  return out;
}

std::string tree_builder::last_path() const {
  auto out = path();
  if (!open_.empty() && open_.back().being_built.is_sequence()) out.resize(std::min(out.size(), out.rfind('[')));
  return out;
}

place tree_builder::locate(std::size_t offset) {
  if (offset < located_) {
    located_ = 0;
    located_at_ = place{};
  }
  for (; located_ < offset && located_ < text_.size(); ++located_) {
    if (text_[located_] == '\n') {
      ++located_at_.line;
      located_at_.column = 1;
    } else if ((static_cast<unsigned char>(text_[located_]) & 0xC0U) != 0x80U) {
      ++located_at_.column;
    }
  }
  return located_at_;
}

void tree_builder::count(std::size_t nodes, place at) {
  nodes_ += nodes;
  if (nodes_ <= load_limits::nodes_max) return;
  out_.mistake(at, path(), "the document grows beyond " + std::to_string(load_limits::nodes_max) + " values here, aliases expanded",
               "an alias repeats all that its anchor holds");
  throw stop_reading{};
}

node tree_builder::make(node_kind kind, YAML::Mark const& mark) {
  node made;
  made.kind = kind;
  made.at = locate(static_cast<std::size_t>(mark.pos < 0 ? 0 : mark.pos));
  made.in_flow = !open_.empty() && open_.back().being_built.in_flow;
  count(1, made.at);
  return made;
}

void tree_builder::check_tag(node const& at, std::string const& tag) {
  if (tag.empty() || tag == plain_tag || tag == quoted_tag) return;
  out_.mistake(at.at, path(), "the YAML tag `" + tag + "` is not supported", "leave the tag out; quotes make a text");
}

void tree_builder::look_around(node& scalar, std::size_t offset) const {
  auto const start = skip_properties(text_, offset);
  char const first = start < text_.size() ? text_[start] : '\0';
  if (scalar.style == scalar_style::block && (first == '"' || first == '\'')) scalar.style = scalar_style::quoted;
  auto const content = start + (scalar.style == scalar_style::quoted ? 1 : 0);
  if (scalar.style == scalar_style::block || text_.substr(content, scalar.text.size()) != scalar.text) return;
  if (scalar.text.find('\n') != std::string::npos || start != offset) return;
  scalar.verbatim = true;
  scalar.text_column = scalar.at.column + static_cast<std::uint32_t>(content - start);
  auto const rest = text_.substr(content + scalar.text.size());
  auto const next = rest.find_first_not_of(" \t");
  scalar.comment_follows = scalar.is_plain() && next != std::string_view::npos && next > 0 && rest[next] == '#';
}

void tree_builder::OnDocumentStart(YAML::Mark const& mark) {
  if (!root_) return;
  auto const at = locate(static_cast<std::size_t>(mark.pos < 0 ? 0 : mark.pos));
  out_.mistake(at, "", "a second document begins here; expected one document a file", "put each document in a file of its own");
  throw stop_reading{};
}

void tree_builder::OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) {
  auto made = make(node_kind::null, mark);
  auto const start = skip_properties(text_, static_cast<std::size_t>(mark.pos < 0 ? 0 : mark.pos));
  auto const rest = text_.substr(start, 4);
  made.written = rest == "null" || rest == "Null" || rest == "NULL" || rest.substr(0, 1) == "~";
  if (made.written) made.text = rest.substr(0, rest[0] == '~' ? 1 : 4);
  add(std::move(made), anchor);
}

void tree_builder::OnAlias(YAML::Mark const& mark, YAML::anchor_t anchor) {
  auto const at = locate(static_cast<std::size_t>(mark.pos < 0 ? 0 : mark.pos));
  auto const known = anchors_.find(anchor);
  if (known == anchors_.end()) {
    out_.mistake(at, path(), "the alias refers to a value that contains it: a cycle");
    throw stop_reading{};
  }
  count(size_of(known->second), at);
  if (open_.size() + depth_of(known->second) > load_limits::depth_max) {
    out_.mistake(at, path(), "values are nested deeper than " + std::to_string(load_limits::depth_max) + " here, aliases expanded");
    throw stop_reading{};
  }
  add(known->second, 0);
}

void tree_builder::OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor, std::string const& value) {
  auto made = make(node_kind::scalar, mark);
  made.text = value;
  made.style = tag == quoted_tag ? scalar_style::block : scalar_style::plain;
  look_around(made, static_cast<std::size_t>(mark.pos < 0 ? 0 : mark.pos));
  check_tag(made, tag);
  auto const start = skip_properties(text_, static_cast<std::size_t>(mark.pos < 0 ? 0 : mark.pos));
  if (made.style == scalar_style::quoted && !quote_is_closed(text_, start)) {
    out_.mistake(made.at, path(), "the quote that opens here is never closed");
    throw stop_reading{};
  }
  add(std::move(made), anchor);
}

void tree_builder::OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  open(node_kind::sequence, mark, tag, anchor, style == YAML::EmitterStyle::Flow);
}

void tree_builder::OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  open(node_kind::map, mark, tag, anchor, style == YAML::EmitterStyle::Flow);
}

void tree_builder::open(node_kind kind, YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor, bool flow) {
  auto made = make(kind, mark);
  made.in_flow = made.in_flow || flow;
  check_tag(made, tag);
  if (open_.size() >= load_limits::depth_max) {
    out_.mistake(made.at, path(), "values are nested deeper than " + std::to_string(load_limits::depth_max) + " here");
    throw stop_reading{};
  }
  frame next;
  next.being_built = std::move(made);
  next.anchor = anchor;
  open_.push_back(std::move(next));
}

void tree_builder::close() {
  auto done = std::move(open_.back());
  open_.pop_back();
  add(std::move(done.being_built), done.anchor);
}

void tree_builder::remember(YAML::anchor_t anchor, node const& done) {
  if (anchor == 0) return;
  // A copy is kept for the aliases: it counts, or many anchors on nested values would hold far more than the document.
  count(size_of(done), done.at);
  anchors_.insert_or_assign(anchor, done);
}

void tree_builder::add(node done, YAML::anchor_t anchor) {
  remember(anchor, done);
  if (open_.empty()) {
    root_ = std::move(done);
    return;
  }
  auto& parent = open_.back();
  if (parent.being_built.is_sequence()) {
    parent.being_built.items.push_back(std::move(done));
  } else {
    add_to_map(parent, std::move(done));
  }
}

void tree_builder::add_to_map(frame& map, node done) {
  if (!map.key) {
    check_key(map, done);
    map.key = std::move(done);
    return;
  }
  entry next;
  next.key = std::move(*map.key);
  map.key.reset();
  next.value = std::move(done);
  auto const empty = next.value.kind == node_kind::null && !next.value.written;
  next.left_over = map.cut_before && empty;
  map.cut_before = next.left_over || (next.value.in_flow && is_cut_expression(next.value));
  map.being_built.entries.push_back(std::move(next));
}

void tree_builder::check_key(frame& map, node const& key) {
  if (!key.is_scalar()) {
    out_.mistake(key.at, path(), "a key must be a text; found " + describe(key), "quote the key if it is meant as a text");
    return;
  }
  if (key.is_plain() && key.text == "<<") {
    out_.mistake(key.at, path(), "merge keys (`<<`) are not supported", "write the keys out, or alias a whole value");
    return;
  }
  auto const [known, fresh] = map.keys.emplace(key.text, key.at);
  if (fresh) return;
  out_.mistake(key.at, child_path(path(), key.text),
               "the key `" + key.text + "` stands twice in this map; the first is on line " + std::to_string(known->second.line),
               "remove one of them");
}

}  // namespace atone::yaml
