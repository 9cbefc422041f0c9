// Rows of one composite type as PostgreSQL's binary array, built front to back: what unnest() takes apart again.
//
// Grammar (all integers big-endian): array = i32 dimensions, i32 has_null, u32 element type, [i32 count, i32 first = 1],
// count × (i32 size, row); row = i32 columns, columns × (u32 type, i32 size or -1 for NULL, bytes).
// Thread rules: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/ids.hpp>
#include <atone/time.hpp>

namespace atone::postgres {

using type_id = std::uint32_t;

class binary_rows {
 public:
  binary_rows(type_id element, std::int32_t columns);

  // Opens the next row; exactly `columns` values follow, in the order of the type.
  binary_rows& begin_row();
  binary_rows& small(std::int16_t value);
  binary_rows& integer(std::int32_t value);
  binary_rows& big(std::int64_t value);
  binary_rows& time(timestamp value);
  binary_rows& time(std::optional<timestamp> value);
  binary_rows& text(std::string_view value);
  binary_rows& bytes(std::string_view value);
  binary_rows& hash(content_hash const& value);
  binary_rows& uuid(saga_id value);

  // The finished array; the rows are empty again.
  std::string take();

 private:
  void column(type_id type, std::int32_t size);
  void close_row();
  void patch(std::size_t at, std::uint32_t value);

  std::string out_;
  type_id const element_;
  std::int32_t const columns_;
  std::int32_t rows_ = 0;
  std::int32_t open_columns_ = 0;  // of the last row, still to come
  std::size_t row_begin_ = 0;
};

// One bigint as a binary parameter, and an array of them.
std::string binary_small(std::int16_t value);
std::string binary_big(std::int64_t value);
std::string binary_bool(bool value);
std::string binary_bigs(std::vector<std::uint64_t> const& values);
std::string binary_smalls(std::vector<shard> const& values);

}  // namespace atone::postgres
