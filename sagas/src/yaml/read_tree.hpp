// The adapter to yaml-cpp: from text to nodes. Nothing else in Atone sees that library.
#pragma once

#include <optional>
#include <string_view>

#include "yaml/node.hpp"
#include "yaml/report.hpp"

namespace atone::yaml {

// The one document in `text` (already checked by check_source). Nothing when it can't be read; a tree with mistakes in it
// (duplicate keys) comes back all the same, so that the rest of it can be checked too. Aliases are expanded.
std::optional<node> read_tree(std::string_view text, report& out);

}  // namespace atone::yaml
