// What a drawing shows, before it is written in a language of drawings: nodes, edges and the frames around branches. Both
// writers (mermaid.cpp, dot.cpp) tell the same story because they read the same picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <atone/definition.hpp>

namespace atone::drawing {

enum class node_kind : std::uint8_t {
  start,        // the saga's name
  compensated,  // end of the way back
  completed,    // end of the way forward
  compensable,
  pivot,
  retriable,
  read_only,
  fail,
  fork,
  join,
  fallback,  // stands beside its step
};

struct node {
  node_kind kind = node_kind::start;
  std::string key;    // unique: the step path, with a suffix for what is no step
  std::string title;  // in bold
  std::string call;   // what is called, as the YAML writes it; may be empty
  std::string mark;   // a promise worth telling ("read-only"); may be empty

  node() = default;
  node(node_kind of, std::string id) : kind(of), key(std::move(id)) {}
};

enum class edge_kind : std::uint8_t {
  forward,
  back,      // from the later node to the earlier one: the way back after a failure
  fallback,  // from a step to what stands in for its output
};

struct edge {
  std::size_t from = 0;
  std::size_t to = 0;
  edge_kind kind = edge_kind::forward;
  std::string label;  // lines separated by '\n'

  edge(std::size_t source, std::size_t target, edge_kind of, std::string text)
      : from(source), to(target), kind(of), label(std::move(text)) {}
};

// A frame: the whole saga, a parallel step, or one branch of it.
struct frame {
  struct node_ref {
    std::size_t index = 0;
  };
  using item = std::variant<node_ref, frame>;

  std::string key;
  std::string title;
  std::vector<item> items;
};

struct picture {
  std::vector<node> nodes;
  std::vector<edge> edges;
  frame root;
};

picture make_picture(definition const& of);

// `orders POST /orders/{order_id}`, `features recompute`, `sql insert into …`: as the YAML writes it, shortened.
std::string call_text(target const& of);
// At most `code_points_max`, cut between code points and ended by "…"; line ends and other control characters become spaces.
std::string shorten(std::string_view text, std::size_t code_points_max);

}  // namespace atone::drawing
