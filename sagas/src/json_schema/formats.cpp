#include "formats.hpp"

#include "characters.hpp"

namespace atone::schema_detail {
namespace {

constexpr std::array<format_rule, 10> rules{{
    {"date", "2026-11-30", is_date},
    {"date-time", "2026-11-30T13:37:00Z", is_date_time},
    {"email", "ann@example.org", is_email},
    {"hostname", "example.org", is_hostname},
    {"ipv4", "192.0.2.1", is_ipv4},
    {"ipv6", "2001:db8::1", is_ipv6},
    {"json-pointer", "/items/0", is_json_pointer},
    {"time", "13:37:00Z", is_time},
    {"uri", "https://example.org/a", is_uri},
    {"uuid", "123e4567-e89b-12d3-a456-426614174000", is_uuid},
}};

}  // namespace

format_rule const* find_format(std::string_view name) noexcept {
  for (auto const& rule : rules) {
    if (rule.name == name) return &rule;
  }
  return nullptr;
}

std::string_view format_names() noexcept {
  return "date, date-time, email, hostname, ipv4, ipv6, json-pointer, time, uri, uuid";
}

bool is_uuid(std::string_view text) {
  constexpr std::string_view shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.size() != shape.size()) return false;
  for (std::size_t at = 0; at < shape.size(); ++at) {
    if (shape[at] == '-' ? text[at] != '-' : !is_hex(text[at])) return false;
  }
  return true;
}

bool is_json_pointer(std::string_view text) {
  if (text.empty()) return true;
  if (text.front() != '/') return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '~' && (at + 1 == text.size() || !is_one_of(text[at + 1], "01"))) return false;
  }
  return true;
}

}  // namespace atone::schema_detail
