// The ids this database gave to the composite types of 0002_commit.sql and 0007_wake_at.sql: a binary array names its element type.
// Thread rules: plain values.
#pragma once

#include <atone/result.hpp>

#include "postgres/binary_rows.hpp"
#include "postgres/session.hpp"

namespace atone::postgres {

struct row_types {
  type_id start = 0;
  type_id record = 0;
  type_id change = 0;
  type_id compensation = 0;
  type_id alert = 0;
  type_id output = 0;
  type_id action = 0;
  type_id rest = 0;

  row_types() = default;
};

// Errors: corrupt when one is missing; unavailable.
result<row_types> find_row_types(session& on);

}  // namespace atone::postgres
