#include "yaml/services.hpp"

#include <algorithm>
#include <charconv>

#include <atone/yaml/fields.hpp>

#include "yaml/keys.hpp"

namespace atone::yaml {
namespace {

constexpr std::int64_t in_flight_max = 100'000;
constexpr std::size_t url_size_max = 2048;

bool is_host_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

bool is_host(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return host.substr(1, host.size() - 2).find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  }
  return !host.empty() && std::all_of(host.begin(), host.end(), is_host_character);
}

bool is_port(std::string_view port) {
  unsigned value = 0;
  auto const [end, failed] = std::from_chars(port.data(), port.data() + port.size(), value);
  return failed == std::errc{} && end == port.data() + port.size() && value >= 1 && value <= 65535;
}

// What is wrong with an address; empty: nothing.
std::string fault_of(std::string_view url) {
  if (url.size() > url_size_max) return "is longer than " + std::to_string(url_size_max) + " characters";
  auto const scheme = url.substr(0, url.find("://"));
  if (scheme.size() == url.size() || (scheme != "http" && scheme != "https")) return "does not begin with http:// or https://";
  auto const rest = url.substr(scheme.size() + 3);
  if (rest.find_first_of("?# \\\"<>{}|^`") != std::string_view::npos) return "has a character that an address can't have";
  auto const authority = rest.substr(0, rest.find('/'));
  if (authority.find('@') != std::string_view::npos) return "has a user in it";
  auto const colon = authority.find(':', authority.empty() || authority[0] != '[' ? 0 : std::min(authority.find(']'), authority.size()));
  if (!is_host(authority.substr(0, colon))) return "has no proper host";
  if (colon != std::string_view::npos && !is_port(authority.substr(colon + 1))) return "has no proper port";
  return {};
}

void read_address(spot const& at, service& into, report& out) {
  auto const url = read_text(at, "an address, as in \"http://127.0.0.1:7001\"", out);
  if (!url) return;
  auto const fault = fault_of(*url);
  if (!fault.empty())
    return out.mistake(at, "the address " + describe(*at) + " " + fault, "as in \"http://127.0.0.1:7001\" or \"https://host/base\"");
  into.address = *url;
}

void read_where(spot const& at, service& into, report& out) {
  auto const http = field(at, "http");
  auto const local = field(at, "local");
  if (http && local) return out.mistake(at, "the service has both `http` and `local`", "a service is one of them");
  if (http) return read_address(*http, into, out);
  if (local) {
    into.kind = service::kind_of::local;
    into.address = read_name(*local, "a group of handlers", true, out).value_or("");
    return;
  }
  auto const later =
      std::any_of(at->entries.begin(), at->entries.end(), [](entry const& member) { return service_keys.waits(member.key.text); });
  if (!later) out.mistake(at, "the service has no address", "give it `http: URL` or `local: GROUP`");
}

service read_service(spot const& at, std::string const& name, report& out) {
  service made;
  made.name = name;
  if (!expect_map(at, "a map, as in {http: \"http://127.0.0.1:7001\"}", out)) return made;
  check_keys(at, service_keys, out);
  read_where(at, made, out);
  if (auto const value = field(at, "in_flight")) {
    if (auto const count = read_integer(*value, 1, in_flight_max, out)) made.in_flight_max = static_cast<std::uint32_t>(*count);
  }
  if (auto const value = field(at, "barrier")) {
    made.barrier = read_flag(*value, out).value_or(true);
    if (!made.barrier) {
      out.warning((*value)->at, value->path, "service `" + name + "` keeps no barrier: a repeated or late request can act twice",
                  "call atone_barrier in its transactions, then leave `barrier` out");
    }
  }
  return made;
}

}  // namespace

std::vector<service> read_services(spot const& at, report& out) {
  std::vector<service> made;
  if (!expect_map(at, "a map of services by name", out)) return made;
  for (auto const& member : at->entries) {
    if (member.left_over || !member.key.is_scalar()) continue;
    auto const key = spot{member.key, child_path(at.path, member.key.text)};
    auto const name = read_name(key, "the name of a service", true, out);
    auto one = read_service(at.child(member.key.text, member.value), name.value_or(member.key.text), out);
    if (name) made.push_back(std::move(one));
  }
  return made;
}

}  // namespace atone::yaml
