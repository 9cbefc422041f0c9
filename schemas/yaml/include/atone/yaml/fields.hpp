// Reads the fields of a map: unknown keys, missing ones and wrong kinds are reported with their place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <atone/time.hpp>

#include <atone/yaml/keys.hpp>
#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::yaml {

// The spot as a map; reports what it is instead. `expected` completes "expected …".
bool expect_map(spot const& at, std::string_view expected, report& out);
bool expect_list(spot const& at, std::string_view expected, report& out);

// Reports keys that the table does not have, with the nearest one that it has.
void check_keys(spot const& map, key_table const& known, report& out);

// The value of a key, or nothing when the key is absent.
std::optional<spot> field(spot const& map, std::string_view key);
// Likewise, but its absence is a mistake.
std::optional<spot> required_field(spot const& map, std::string_view key, std::string_view hint, report& out);

// A text that is not an expression. Numbers, booleans and doubtful scalars are refused.
std::optional<std::string> read_text(spot const& at, std::string_view expected, report& out);
// A text of letters, digits, '-' and, if `underscore`, '_'; begins with a lower-case letter.
std::optional<std::string> read_name(spot const& at, std::string_view what, bool underscore, report& out);
std::optional<bool> read_flag(spot const& at, report& out);
std::optional<std::int64_t> read_integer(spot const& at, std::int64_t least, std::int64_t most, report& out);
// A decimal number in thousandths: 1.5 is 1500.
std::optional<std::int64_t> read_thousandths(spot const& at, std::int64_t least, std::int64_t most, report& out);
// Longer than nothing.
std::optional<duration> read_duration(spot const& at, report& out);
// One of the words; returns its index.
std::optional<std::size_t> read_word(spot const& at, std::span<std::string_view const> words, report& out);

}  // namespace atone::yaml
