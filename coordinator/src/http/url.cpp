// Addresses: absolute URLs of participants, targets of requests, percent-encoding.
#include <charconv>

#include <atone/http.hpp>
#include <atone/percent.hpp>

#include "http/text.hpp"

namespace atone::http {
namespace {

constexpr std::size_t url_size_max = 2048;  // bytes

error bad_url(std::string_view url, std::string_view why) {
  return {errc::invalid_argument, "\"" + std::string{url.substr(0, url_size_max)} + "\" is not the URL of a service: " + std::string{why} +
                                      " (expected http://HOST[:PORT][/BASE] or https://…)"};
}

// Splits "HOST", "HOST:PORT" or "[IPv6]:PORT"; the port stays text, empty when there is none. False: not an authority.
bool split_authority(std::string_view text, std::string_view& host, std::string_view& port, bool& has_port) noexcept {
  auto rest = std::string_view{};
  if (!text.empty() && text.front() == '[') {
    auto const close = text.find(']');
    if (close == std::string_view::npos) return false;
    host = text.substr(1, close - 1);
    rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return false;
  } else {
    auto const colon = text.find(':');
    host = text.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon);
  }
  has_port = !rest.empty();
  port = has_port ? rest.substr(1) : rest;
  return true;
}

bool is_host(std::string_view host) noexcept {
  if (host.empty()) return false;
  for (auto const c : host) {
    if (!is_unreserved(c) && c != ':' && c != '%') return false;  // ':' and '%' (zone) only came through brackets
  }
  return true;
}

std::optional<std::uint16_t> read_port(std::string_view text) noexcept {
  std::uint16_t port = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failure != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

result<origin> parse_origin(std::string_view url) {
  if (url.size() > url_size_max) return bad_url(url.substr(0, 64), "it is longer than 2048 bytes");
  auto const scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return bad_url(url, "it has no scheme");
  origin made;
  if (same_name(url.substr(0, scheme_end), "https")) {
    made.tls = true;
    made.port = 443;
  } else if (!same_name(url.substr(0, scheme_end), "http")) {
    return bad_url(url, "its scheme is neither http nor https");
  }
  auto const rest = url.substr(scheme_end + 3);
  auto const path_at = rest.find_first_of("/?#");
  auto const authority = rest.substr(0, path_at);
  auto path = path_at == std::string_view::npos ? std::string_view{} : rest.substr(path_at);
  if (authority.find('@') != std::string_view::npos) return bad_url(url.substr(0, scheme_end), "a user name does not belong into it");
  if (path.find_first_of("?#") != std::string_view::npos) return bad_url(url, "it has a query or a fragment");
  std::string_view host;
  std::string_view port;
  bool has_port = false;
  if (!split_authority(authority, host, port, has_port) || !is_host(host)) return bad_url(url, "its host can't be read");
  if (has_port) {
    auto const number = read_port(port);
    if (!number) return bad_url(url, "its port is not a number from 1 to 65535");
    made.port = *number;
  }
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  if (!path.empty() && !is_target(path)) return bad_url(url, "its path holds a space or a control character");
  made.host = std::string{host};
  made.prefix = std::string{path};
  return made;
}

namespace {

// In a query '+' is a space, as forms send it.
std::optional<std::string> decode_query_part(std::string_view text) {
  std::string spaced{text};
  for (auto& c : spaced) {
    if (c == '+') c = ' ';
  }
  return percent_decode(spaced);
}

bool parse_query(std::string_view query, split_target& into) {
  while (!query.empty()) {
    auto const end = query.find('&');
    auto const part = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    if (part.empty()) continue;
    auto const equals = part.find('=');
    auto name = decode_query_part(part.substr(0, equals));
    auto value = decode_query_part(equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1));
    if (!name || !value) return false;
    into.query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

}  // namespace

std::optional<split_target> parse_target(std::string_view target) {
  if (target.empty() || target.front() != '/' || !is_target(target)) return std::nullopt;
  auto const whole = target.substr(0, target.find('#'));
  auto const mark = whole.find('?');
  split_target made;
  made.path = std::string{whole.substr(0, mark)};
  if (mark != std::string_view::npos && !parse_query(whole.substr(mark + 1), made)) return std::nullopt;
  return made;
}

}  // namespace atone::http
