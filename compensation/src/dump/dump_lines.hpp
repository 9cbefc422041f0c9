// A dump, line by line, in bounded memory.
// Thread rules: one thread.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

#include <atone/result.hpp>

namespace atone::dump {

class line_source {
 public:
  line_source(std::istream& from, std::string name) : from_(from), name_(std::move(name)) {}

  // Goes to the next line; false: there is none. Errors: corrupt (longer than journal_dump::line_max), unavailable.
  result<bool> next();
  // Without its end; good until the next call.
  std::string_view line() const noexcept { return line_; }
  // Whether the line's end was there, or that of the last line there was: what was cut off has none.
  bool ended() const noexcept { return ended_; }
  // errc::corrupt at this line: "dump.sql:12: " and `what`.
  error wrong(std::string const& what) const;

 private:
  bool refill();

  std::istream& from_;
  std::string name_;
  std::string chunk_;
  std::size_t at_ = 0;  // in chunk_
  std::string line_;
  std::uint64_t number_ = 0;
  bool ended_ = true;
};

}  // namespace atone::dump
