// Rows of a dump as Atone's values. Each list of columns belongs to the function beside it.
// Thread rules: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <atone/event.hpp>
#include <atone/records.hpp>
#include <atone/retention.hpp>

#include "copy_text.hpp"

namespace atone::dump {

using columns = std::span<std::string_view const>;

// `fields` are in the order of the list and as many. Errors (corrupt) name the column, what was found and what was expected.
columns migration_columns();
result<std::uint32_t> read_migration(copy_fields const& fields);
columns definition_columns();
result<definition_row> read_definition(copy_fields const& fields);
columns saga_columns();
result<saga_row> read_saga(copy_fields const& fields);
struct stored_event {
  saga_id saga;
  atone::event event;

  stored_event() = default;
};
columns event_columns();
result<stored_event> read_event(copy_fields const& fields);
columns deletion_columns();
result<deletion_record> read_deletion(copy_fields const& fields);  // one row's share of it

}  // namespace atone::dump
