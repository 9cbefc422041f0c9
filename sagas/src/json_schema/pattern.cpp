#include "pattern.hpp"

#include <re2/re2.h>

namespace atone::schema_detail {

result<pattern> pattern::compile(std::string const& text) {
  if (text.size() > size_max) {
    return error{errc::exhausted,
                 "the pattern has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(size_max) + " are taken"};
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_shared<re2::RE2 const>(text, options);
  if (!compiled->ok()) {
    return error{errc::invalid_argument,
                 "the pattern is not taken: " + compiled->error() + " (RE2 syntax; look-around and back references are not part of it)"};
  }
  return pattern{text, std::move(compiled)};
}

bool pattern::found_in(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece{text.data(), text.size()}, *compiled_);
}

}  // namespace atone::schema_detail
