// Drawings of a definition: steps, branches, compensation edges, pivot, fallback. The drawing equals the text: list order
// is the order, `parallel` is the only fork.
#pragma once

#include <string>

#include <atone/definition.hpp>

namespace atone {

std::string draw_mermaid(definition const& of);
std::string draw_dot(definition const& of);

}  // namespace atone
