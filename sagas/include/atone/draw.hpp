// Drawings of a definition: steps, branches, compensation edges, pivot, fallback. The drawing equals the text: list order
// is the order, `parallel` is the only fork.
// Thread rules: functions are pure; equal definitions give equal text.
#pragma once

#include <string>

#include <atone/definition.hpp>

namespace atone {

std::string draw_mermaid(definition const& of);  // a Mermaid flowchart, for Markdown
std::string draw_dot(definition const& of);      // a Graphviz digraph

}  // namespace atone
