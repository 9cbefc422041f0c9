// From a path to the run it names.
#include <algorithm>

#include "state.hpp"

namespace atone::machine {
namespace {

// The first segment of what is left of the path, taken off.
std::string_view next_segment(std::string_view& rest) {
  auto const slash = rest.find('/');
  auto const segment = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  return segment;
}

}  // namespace

step_run* find_run(frame& root, step_path const& path) {
  std::string_view rest = path.text();
  frame* at = &root;
  while (!rest.empty()) {
    auto const id = next_segment(rest);
    auto const run = std::find_if(at->runs.begin(), at->runs.end(), [&](step_run const& known) { return known.of->id == id; });
    if (run == at->runs.end()) return nullptr;
    if (rest.empty()) return &*run;
    auto const branch_name = next_segment(rest);
    auto const inner =
        std::find_if(run->branches.begin(), run->branches.end(), [&](frame const& known) { return known.of->name == branch_name; });
    if (inner == run->branches.end()) return nullptr;
    at = &*inner;
  }
  return nullptr;
}

}  // namespace atone::machine
