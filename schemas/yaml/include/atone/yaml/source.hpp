// The text of a document before any parser sees it: bounds, encoding, and where each scalar really ends.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::yaml {

// Text without byte order mark; refuses what is too large, not UTF-8, or has control characters.
std::optional<std::string_view> check_source(std::string_view text, report& out);

// Place of a byte in the text.
place place_of(std::string_view text, std::size_t offset);

// The line (without its end) that a byte stands in.
std::string_view line_at(std::string_view text, std::size_t offset) noexcept;

// Past anchors (&a), tags (!t) and blanks before a node's content.
std::size_t skip_properties(std::string_view text, std::size_t offset) noexcept;

// Whether the quoted scalar that begins at `offset` is closed (yaml-cpp lets the end of the text close it).
bool quote_is_closed(std::string_view text, std::size_t offset) noexcept;

}  // namespace atone::yaml
