#include "common/address.hpp"

namespace atone {
namespace {

constexpr std::string_view hidden = "***";

// "postgresql://user:secret@host/db": the user part ends at the last '@' before the path.
void hide_userinfo(std::string& text) {
  auto const scheme = text.find("://");
  if (scheme == std::string::npos) return;
  auto const begin = scheme + 3;
  auto const path = text.find_first_of("/?", begin);
  auto const at = text.rfind('@', path);
  if (at == std::string::npos || at < begin) return;
  auto const colon = text.find(':', begin);
  if (colon == std::string::npos || colon > at) return;
  text.replace(colon + 1, at - colon - 1, hidden);
}

void hide_parameter(std::string& text, std::string_view name) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + name.size())) {
    auto const begin = at + name.size();
    auto const end = text.find_first_of("& ", begin);
    text.replace(begin, end == std::string::npos ? end : end - begin, hidden);
  }
}

}  // namespace

result<address_kind> kind_of_address(std::string_view address) {
  if (address == "memory:") return address_kind::memory;
  if (address.starts_with("sqlite:")) {
    if (address.size() > std::string_view{"sqlite:"}.size()) return address_kind::sqlite;
    return error{errc::invalid_argument, "the address 'sqlite:' names no file; expected sqlite:PATH, as in sqlite:sagas.db"};
  }
  if (address.starts_with("postgresql://") || address.starts_with("postgres://")) return address_kind::postgresql;
  return error{errc::invalid_argument,
               "unknown database address '" + address_without_password(address) + "'; expected memory:, sqlite:PATH or postgresql://…"};
}

std::string address_without_password(std::string_view address) {
  std::string shown{address};
  hide_userinfo(shown);
  hide_parameter(shown, "password=");
  return shown;
}

error postgresql_left_out() {
  return error{errc::unsupported,
               "this build has no PostgreSQL: libpqxx was not found, or ATONE_POSTGRESQL was OFF, when it was configured "
               "(the configure summary says which)"};
}

}  // namespace atone
