#include "characters.hpp"
#include "formats.hpp"

namespace atone::schema_detail {
namespace {

constexpr std::string_view sub_delimiters = "!$&'()*+,;=";
constexpr std::string_view unreserved_marks = "-._~";

// Every character is unreserved, a sub-delimiter, one of `extra`, or part of %HH.
bool only_uri_characters(std::string_view text, std::string_view extra) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    char const here = text[at];
    if (is_letter(here) || is_digit(here)) continue;
    if (is_one_of(here, unreserved_marks) || is_one_of(here, sub_delimiters) || is_one_of(here, extra)) continue;
    if (here != '%' || at + 2 >= text.size() || !is_hex(text[at + 1]) || !is_hex(text[at + 2])) return false;
    at += 2;
  }
  return true;
}

bool is_scheme(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  for (char const here : text) {
    if (!is_letter(here) && !is_digit(here) && !is_one_of(here, "+-.")) return false;
  }
  return true;
}

// "v1.x": an address of a kind not known yet (RFC 3986 section 3.2.2).
bool is_future_address(std::string_view text) {
  auto const dot = text.find('.');
  if (text.empty() || !is_one_of(text[0], "vV") || dot == std::string_view::npos || dot < 2 || dot + 1 == text.size()) return false;
  for (char const here : text.substr(1, dot - 1)) {
    if (!is_hex(here)) return false;
  }
  auto const rest = text.substr(dot + 1);
  return rest.find('%') == std::string_view::npos && only_uri_characters(rest, ":");
}

// host [":" port]
bool is_host_and_port(std::string_view text) {
  std::string_view port;
  if (text.starts_with('[')) {
    auto const end = text.find(']');
    if (end == std::string_view::npos) return false;
    auto const address = text.substr(1, end - 1);
    if (!is_ipv6(address) && !is_future_address(address)) return false;
    port = text.substr(end + 1);
  } else {
    auto const colon = text.find(':');
    if (!only_uri_characters(text.substr(0, colon), "")) return false;
    port = colon == std::string_view::npos ? std::string_view{} : text.substr(colon);
  }
  if (!port.empty() && port.front() != ':') return false;
  return port.empty() || port.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

bool is_authority(std::string_view text) {
  auto const at = text.find('@');
  if (at == std::string_view::npos) return is_host_and_port(text);
  return only_uri_characters(text.substr(0, at), ":") && is_host_and_port(text.substr(at + 1));
}

bool is_label(std::string_view text) {
  constexpr std::size_t label_max = 63;
  if (text.empty() || text.size() > label_max || text.front() == '-' || text.back() == '-') return false;
  for (char const here : text) {
    if (!is_letter(here) && !is_digit(here) && here != '-') return false;
  }
  return true;
}

bool is_dot_atom(std::string_view text) {
  if (text.empty() || text.front() == '.' || text.back() == '.' || text.find("..") != std::string_view::npos) return false;
  for (char const here : text) {
    if (!is_letter(here) && !is_digit(here) && !is_one_of(here, ".!#$%&'*+-/=?^_`{|}~")) return false;
  }
  return true;
}

bool is_quoted_local_part(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  auto const inner = text.substr(1, text.size() - 2);
  for (std::size_t at = 0; at < inner.size(); ++at) {
    if (inner[at] == '"') return false;
    if (inner[at] == '\\' && ++at == inner.size()) return false;
    if (inner[at] < 0x20 || inner[at] > 0x7E) return false;
  }
  return true;
}

bool is_mail_domain(std::string_view text) {
  if (!text.starts_with('[')) return is_hostname(text);
  if (!text.ends_with(']')) return false;
  auto const address = text.substr(1, text.size() - 2);
  return address.starts_with("IPv6:") ? is_ipv6(address.substr(5)) : is_ipv4(address);
}

// Groups of hex digits between single colons; the last may be a dotted quad, which counts as two. -1: not such a list.
int count_groups(std::string_view text, bool quad_allowed) {
  if (text.empty()) return 0;
  int groups = 0;
  while (true) {
    auto const colon = text.find(':');
    auto const group = text.substr(0, colon);
    bool const last = colon == std::string_view::npos;
    if (last && quad_allowed && group.find('.') != std::string_view::npos) return is_ipv4(group) ? groups + 2 : -1;
    if (group.empty() || group.size() > 4) return -1;
    for (char const here : group) {
      if (!is_hex(here)) return -1;
    }
    ++groups;
    if (last) return groups;
    text.remove_prefix(colon + 1);
  }
}

}  // namespace

bool is_uri(std::string_view text) {
  auto const colon = text.find(':');
  if (colon == std::string_view::npos || !is_scheme(text.substr(0, colon))) return false;
  text.remove_prefix(colon + 1);
  if (auto const hash = text.find('#'); hash != std::string_view::npos) {
    if (!only_uri_characters(text.substr(hash + 1), ":@/?")) return false;
    text = text.substr(0, hash);
  }
  if (auto const mark = text.find('?'); mark != std::string_view::npos) {
    if (!only_uri_characters(text.substr(mark + 1), ":@/?")) return false;
    text = text.substr(0, mark);
  }
  if (text.starts_with("//")) {
    auto const slash = text.find('/', 2);
    if (!is_authority(text.substr(2, slash == std::string_view::npos ? slash : slash - 2))) return false;
    text = slash == std::string_view::npos ? std::string_view{} : text.substr(slash);
  }
  return only_uri_characters(text, ":@/");
}

bool is_hostname(std::string_view text) {
  constexpr std::size_t hostname_max = 253;
  if (text.empty() || text.size() > hostname_max) return false;
  while (true) {
    auto const dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_email(std::string_view text) {
  constexpr std::size_t local_part_max = 64;
  auto const at = text.rfind('@');
  if (at == std::string_view::npos || at > local_part_max) return false;
  auto const local = text.substr(0, at);
  return (is_dot_atom(local) || is_quoted_local_part(local)) && is_mail_domain(text.substr(at + 1));
}

bool is_ipv4(std::string_view text) {
  for (int part = 0; part < 4; ++part) {
    auto const dot = part < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos || dot == 0 || dot > 3) return false;
    int value = 0;
    for (char const here : text.substr(0, dot)) {
      if (!is_digit(here)) return false;
      value = value * 10 + (here - '0');
    }
    if (value > 255 || (dot > 1 && text[0] == '0')) return false;
    text.remove_prefix(part < 3 ? dot + 1 : dot);
  }
  return true;
}

bool is_ipv6(std::string_view text) {
  constexpr int groups_all = 8;
  auto const gap = text.find("::");
  if (gap == std::string_view::npos) return count_groups(text, true) == groups_all;
  int const before = count_groups(text.substr(0, gap), false);
  int const after = count_groups(text.substr(gap + 2), true);
  return before >= 0 && after >= 0 && before + after < groups_all;
}

}  // namespace atone::schema_detail
