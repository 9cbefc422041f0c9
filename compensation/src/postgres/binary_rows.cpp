#include "postgres/binary_rows.hpp"

#include <atone/assert.hpp>

namespace atone::postgres {
namespace {

// Type ids of pg_catalog: fixed for ever.
constexpr type_id type_bytea = 17;
constexpr type_id type_big = 20;
constexpr type_id type_small = 21;
constexpr type_id type_integer = 23;
constexpr type_id type_text = 25;
constexpr type_id type_time = 1184;
constexpr type_id type_uuid = 2950;

constexpr std::size_t header_size = 20;                             // of an array with one dimension
constexpr std::size_t count_at = 12;                                // where it says how many elements follow
constexpr duration epoch_2000 = std::chrono::seconds{946'684'800};  // PostgreSQL counts from 2000-01-01

template <class Unsigned>
void append(std::string& out, Unsigned value) {
  for (int shift = static_cast<int>(sizeof(Unsigned)) * 8 - 8; shift >= 0; shift -= 8) {
    out += static_cast<char>(value >> shift & 255);
  }
}

std::string_view view(auto const& array) {
  return {reinterpret_cast<char const*>(array.data()), array.size()};
}

std::string array_header(type_id element, std::int32_t count) {
  std::string out;
  append(out, std::uint32_t{1});
  append(out, std::uint32_t{0});
  append(out, element);
  append(out, static_cast<std::uint32_t>(count));
  append(out, std::uint32_t{1});
  return out;
}

std::string empty_array(type_id element) {
  std::string out;
  append(out, std::uint32_t{0});
  append(out, std::uint32_t{0});
  append(out, element);
  return out;
}

}  // namespace

binary_rows::binary_rows(type_id element, std::int32_t columns) : out_(array_header(element, 0)), element_(element), columns_(columns) {}

binary_rows& binary_rows::begin_row() {
  close_row();
  ++rows_;
  append(out_, std::uint32_t{0});  // size: patched when the row is closed
  row_begin_ = out_.size();
  append(out_, static_cast<std::uint32_t>(columns_));
  open_columns_ = columns_;
  return *this;
}

void binary_rows::close_row() {
  ATONE_ASSERT(open_columns_ == 0);
  if (rows_ > 0) patch(row_begin_ - 4, static_cast<std::uint32_t>(out_.size() - row_begin_));
}

void binary_rows::column(type_id type, std::int32_t size) {
  ATONE_ASSERT(open_columns_ > 0);
  --open_columns_;
  append(out_, type);
  append(out_, static_cast<std::uint32_t>(size));
}

binary_rows& binary_rows::small(std::int16_t value) {
  column(type_small, 2);
  append(out_, static_cast<std::uint16_t>(value));
  return *this;
}

binary_rows& binary_rows::integer(std::int32_t value) {
  column(type_integer, 4);
  append(out_, static_cast<std::uint32_t>(value));
  return *this;
}

binary_rows& binary_rows::big(std::int64_t value) {
  column(type_big, 8);
  append(out_, static_cast<std::uint64_t>(value));
  return *this;
}

binary_rows& binary_rows::time(timestamp value) {
  column(type_time, 8);
  append(out_, static_cast<std::uint64_t>((value.time_since_epoch() - epoch_2000).count()));
  return *this;
}

binary_rows& binary_rows::time(std::optional<timestamp> value) {
  if (value) return time(*value);
  column(type_time, -1);
  return *this;
}

binary_rows& binary_rows::text(std::string_view value) {
  column(type_text, static_cast<std::int32_t>(value.size()));
  out_ += value;
  return *this;
}

binary_rows& binary_rows::bytes(std::string_view value) {
  column(type_bytea, static_cast<std::int32_t>(value.size()));
  out_ += value;
  return *this;
}

binary_rows& binary_rows::hash(content_hash const& value) {
  return bytes(view(value.value()));
}

binary_rows& binary_rows::uuid(saga_id value) {
  column(type_uuid, 16);
  out_ += view(value.value());
  return *this;
}

std::string binary_rows::take() {
  close_row();
  patch(count_at, static_cast<std::uint32_t>(rows_));
  std::string done = rows_ == 0 ? empty_array(element_) : std::move(out_);
  out_ = array_header(element_, 0);
  rows_ = 0;
  ATONE_ASSERT(out_.size() == header_size);
  return done;
}

void binary_rows::patch(std::size_t at, std::uint32_t value) {
  for (std::size_t byte = 0; byte < 4; ++byte) out_[at + byte] = static_cast<char>(value >> (24 - 8 * byte) & 255);
}

std::string binary_big(std::int64_t value) {
  std::string out;
  append(out, static_cast<std::uint64_t>(value));
  return out;
}

std::string binary_small(std::int16_t value) {
  std::string out;
  append(out, static_cast<std::uint16_t>(value));
  return out;
}

std::string binary_bool(bool value) {
  return std::string(1, value ? '\1' : '\0');
}

std::string binary_bigs(std::vector<std::uint64_t> const& values) {
  if (values.empty()) return empty_array(type_big);
  auto out = array_header(type_big, static_cast<std::int32_t>(values.size()));
  for (auto const value : values) {
    append(out, std::uint32_t{8});
    append(out, value);
  }
  return out;
}

std::string binary_smalls(std::vector<shard> const& values) {
  if (values.empty()) return empty_array(type_small);
  auto out = array_header(type_small, static_cast<std::int32_t>(values.size()));
  for (auto const value : values) {
    append(out, std::uint32_t{2});
    append(out, value.value());
  }
  return out;
}

}  // namespace atone::postgres
