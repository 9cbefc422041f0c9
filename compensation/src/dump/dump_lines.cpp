#include "dump_lines.hpp"

#include <algorithm>
#include <utility>

#include <atone/journal_dump.hpp>

namespace atone::dump {
namespace {

constexpr std::size_t chunk_size = std::size_t{64} << 10U;

}  // namespace

bool line_source::refill() {
  chunk_.resize(chunk_size);
  from_.read(chunk_.data(), static_cast<std::streamsize>(chunk_size));
  chunk_.resize(static_cast<std::size_t>(from_.gcount()));
  at_ = 0;
  return !chunk_.empty();
}

result<bool> line_source::next() {
  line_.clear();
  bool const before = std::exchange(ended_, false);
  ++number_;
  while (at_ < chunk_.size() || refill()) {
    auto const end = chunk_.find('\n', at_);
    line_.append(chunk_, at_, std::min(end, chunk_.size()) - at_);
    if (line_.size() > journal_dump::line_max) {
      return wrong("a line of more than " + std::to_string(journal_dump::line_max >> 20U) + " MiB");
    }
    ended_ = end != std::string::npos;
    at_ = ended_ ? end + 1 : chunk_.size();
    if (ended_) return true;
  }
  if (from_.bad()) return error{errc::unavailable, name_ + ": can't be read behind line " + std::to_string(number_)};
  if (!line_.empty()) return true;
  --number_;  // there was no such line
  ended_ = before;
  return false;
}

error line_source::wrong(std::string const& what) const {
  return error{errc::corrupt, name_ + ':' + std::to_string(number_) + ": " + what};
}

}  // namespace atone::dump
