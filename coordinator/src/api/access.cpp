#include "api/access.hpp"

#include <algorithm>

#include "http/text.hpp"

namespace atone::api {
namespace {

constexpr std::size_t actor_size_max = 128;  // bytes

// Time does not tell how much of a secret was right: hashes of both are compared, all of their bytes.
bool same(content_hash const& left, content_hash const& right) noexcept {
  unsigned difference = 0;
  for (std::size_t at = 0; at < left.value().size(); ++at) difference |= static_cast<unsigned>(left.value()[at] ^ right.value()[at]);
  return difference == 0;
}

// "host:7070" -> "host", "[::1]:7070" -> "::1"
std::string_view host_of(std::string_view authority) noexcept {
  if (!authority.empty() && authority.front() == '[') return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

bool is_local_name(std::string_view host) noexcept {
  bool const is_address =
      host.find(':') != std::string_view::npos || (!host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos);
  return is_address || host.empty() || http::same_name(host, "localhost");
}

}  // namespace

access::access(std::vector<token> const& tokens, bool local_only) : local_only_(local_only && tokens.empty()) {
  for (auto const& one : tokens) tokens_.emplace_back(one.name, content_hash::of(one.secret));
}

std::optional<problem> access::check(http::request const& what, std::string& actor) const {
  if (auto refused = check_page(what)) return refused;
  auto const claimed = what.headers.get("X-Atone-Actor").substr(0, actor_size_max);
  actor = claimed.empty() ? "anonymous" : std::string{claimed};
  if (tokens_.empty()) return std::nullopt;
  constexpr std::string_view scheme = "Bearer ";
  auto const shown = what.headers.get("Authorization");
  if (!http::same_name(shown.substr(0, scheme.size()), scheme)) {
    return problem{401, "unauthorized", "a token is needed: Authorization: Bearer …", "Authorization"};
  }
  auto const* const who = find(shown.substr(scheme.size()));
  if (!who) return problem{401, "unauthorized", "the token is not known here", "Authorization"};
  actor = claimed.empty() ? who->name : std::string{claimed} + " (" + who->name + ")";
  return std::nullopt;
}

std::optional<problem> access::check_page(http::request const& what) const {
  auto const host = what.headers.get("Host");
  auto const origin = what.headers.get("Origin");
  if (!origin.empty()) {
    auto const scheme_end = origin.find("://");
    bool const own = scheme_end != std::string_view::npos && http::same_name(origin.substr(scheme_end + 3), host);
    if (!own) return problem{403, "forbidden", "requests from pages of another origin are refused", "Origin"};
  }
  if (local_only_ && !is_local_name(host_of(host))) {
    return problem{403, "forbidden", "without a token this daemon answers to localhost and addresses only", "Host"};
  }
  return std::nullopt;
}

access::known const* access::find(std::string_view shown) const noexcept {
  auto const hash = content_hash::of(shown);
  known const* found = nullptr;
  for (auto const& one : tokens_) {
    if (same(one.secret, hash)) found = &one;
  }
  return found;
}

}  // namespace atone::api
