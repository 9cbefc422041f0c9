#include "postgres/address.hpp"

#include <array>
#include <utility>

namespace atone::postgres {
namespace {

bool names_parameter(std::string_view address, std::string_view name) {
  auto const query = address.find('?');
  if (query == std::string_view::npos) return false;
  auto const given = address.substr(query);
  for (char const before : {'?', '&'}) {
    if (given.find(before + std::string{name} + '=') != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string with_connection_parameters(std::string_view address, session_kind kind, session_limits const& limits) {
  using parameter = std::pair<std::string_view, std::string>;
  std::array const parameters{
      parameter{"application_name", "atone"},
      parameter{"client_encoding", "UTF8"},
      parameter{"connect_timeout", std::to_string(limits.connect.count())},
      parameter{"keepalives", "1"},
      parameter{"keepalives_idle", "5"},
      parameter{"keepalives_interval", "2"},
      parameter{"keepalives_count", "3"},
      parameter{"tcp_user_timeout", std::to_string(limits.unacknowledged.count())},
      // After a switch-over the old primary still answers: with several hosts in the address libpq goes on to the writer.
      parameter{"target_session_attrs", kind == session_kind::writer ? "read-write" : "primary"},
  };
  std::string out{address};
  char separator = address.find('?') == std::string_view::npos ? '?' : '&';
  for (auto const& [name, value] : parameters) {
    if (names_parameter(address, name)) continue;
    out += separator;
    out += name;
    out += '=';
    out += value;
    separator = '&';
  }
  return out;
}

}  // namespace atone::postgres
