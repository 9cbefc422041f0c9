// header_list and response: the plain values that handlers and callers see.
#include <algorithm>

#include <atone/http.hpp>

#include "http/text.hpp"

namespace atone::http {

std::string_view header_list::get(std::string_view name) const noexcept {
  for (auto const& [known, value] : fields_) {
    if (same_name(known, name)) return value;
  }
  return {};
}

bool header_list::has(std::string_view name) const noexcept {
  return std::any_of(fields_.begin(), fields_.end(), [&](auto const& field) { return same_name(field.first, name); });
}

response::response(std::int32_t code, std::string json) : status(code), body(std::move(json)) {
  headers.add("Content-Type", "application/json");
}

}  // namespace atone::http
