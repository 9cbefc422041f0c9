// The `format` names that are checked, each by the grammar of its RFC. Any other name is refused when a schema is compiled: a
// format that is not checked would promise what nobody keeps.
//   date, time, date-time  RFC 3339 (days of the month, leap years; second 60 only where UTC is 23:59)
//   uri                    RFC 3986, absolute
//   email                  RFC 5321 mailbox: dot-atom or quoted local part, hostname or address literal; ASCII
//   hostname               RFC 1123, ASCII
//   ipv4, ipv6             dotted quad without leading zeros; RFC 4291 without zone
//   uuid                   RFC 4122 text form, any version
//   json-pointer           RFC 6901
#pragma once

#include <array>
#include <string_view>

namespace atone::schema_detail {

struct format_rule {
  std::string_view name;
  std::string_view example;  // for messages
  bool (*holds)(std::string_view text);
};

// Null for a name that is not checked.
format_rule const* find_format(std::string_view name) noexcept;
// "date, date-time, …" for messages.
std::string_view format_names() noexcept;

bool is_date(std::string_view text);
bool is_time(std::string_view text);
bool is_date_time(std::string_view text);
bool is_uri(std::string_view text);
bool is_email(std::string_view text);
bool is_hostname(std::string_view text);
bool is_ipv4(std::string_view text);
bool is_ipv6(std::string_view text);
bool is_uuid(std::string_view text);
bool is_json_pointer(std::string_view text);

}  // namespace atone::schema_detail
