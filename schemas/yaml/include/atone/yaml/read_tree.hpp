// The adapter to yaml-cpp: from text to nodes. Nothing else in Atone sees that library.
#pragma once

#include <optional>
#include <string_view>

#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::yaml {

// The one document in `text` (already checked by check_source). Nothing when it can't be read; a tree with mistakes in it
// (duplicate keys) comes back all the same, so that the rest of it can be checked too. Aliases are expanded.
// Of an empty document it says that `wanted` was expected ("a saga"), and `beginning` as the hint.
std::optional<node> read_tree(std::string_view text, report& out, std::string_view wanted, std::string_view beginning);

}  // namespace atone::yaml
