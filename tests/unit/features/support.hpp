// What the tests of features share: sets from YAML, tables from rows, cells as text.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <atone/features/engine.hpp>

namespace atone::features_test {

// A value of a test: nothing, an integer in the column's own units (a decimal in units of its last place), or a text.
using raw_value = std::variant<std::monostate, std::int64_t, std::string>;
using raw_row = std::vector<raw_value>;
using raw_rows = std::vector<raw_row>;

// The set; a test failure and null where the text does not load.
features::feature_set_ptr set_of(std::string const& yaml);
// Every diagnostic, a line each, as a person would read them.
std::string said_of(std::string const& yaml);

// The rows as a table's columns, past the appender.
features::event_table table_of(features::feature_set const& set, raw_rows const& rows);
// The store; a test failure where rows are refused.
features::event_store store_of(features::feature_set const& set, raw_rows const& rows);
// The error's message; empty where the rows are taken.
std::string refusal_of(features::feature_set const& set, raw_rows const& rows);

// "null", "overflow", or the value; lanes are divided by spaces.
std::string shown(features::feature_set const& set, features::event_store const& store, features::feature_column const& column,
                  std::size_t row);

// Entity `entity`'s cell of a feature in a window, as of and with what is known at `as_of`.
std::string value_of(features::feature_set_ptr const& set, raw_rows const& rows, std::int64_t entity, std::int64_t as_of,
                     std::string_view feature, std::string_view window);

// All cells and states of a table, for comparing bits.
std::vector<std::int64_t> bits_of(features::feature_table const& table);

}  // namespace atone::features_test
