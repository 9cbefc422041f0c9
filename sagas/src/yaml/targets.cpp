#include "yaml/targets.hpp"

#include <algorithm>
#include <array>

#include <atone/yaml/fields.hpp>
#include <atone/yaml/scalars.hpp>

namespace atone::yaml {
namespace {

constexpr std::array methods{std::string_view{"GET"}, std::string_view{"HEAD"},  std::string_view{"POST"},
                             std::string_view{"PUT"}, std::string_view{"PATCH"}, std::string_view{"DELETE"}};
constexpr std::string_view expected_call = "`SERVICE METHOD /path` or `SERVICE handler`";
constexpr std::size_t path_size_max = 2048;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    auto const begin = text.find_first_not_of(" \t\n\r", at);
    if (begin == std::string_view::npos) break;
    auto const end = std::min(text.find_first_of(" \t\n\r", begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return out;
}

bool is_field_name(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

bool is_path_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view{"-._~!$&'()*+,;=:@%/"}.find(c) != std::string_view::npos;
}

// Splits a path into literal pieces and placeholders; what is wrong with it goes to `fault`.
std::vector<http_target::piece> pieces_of(std::string_view path, std::string& fault) {
  std::vector<http_target::piece> out;
  while (!path.empty() && fault.empty()) {
    auto const open = std::min(path.find('{'), path.size());
    auto const literal = path.substr(0, open);
    if (!std::all_of(literal.begin(), literal.end(), is_path_character)) {
      fault = literal.find_first_of("?#") != std::string_view::npos
                  ? "has a query or fragment; query parameters come from the other fields of `in`"
                  : "has a character that a path can't have; percent-encode it";
    }
    if (!literal.empty()) out.push_back({false, std::string{literal}});
    path.remove_prefix(open);
    if (path.empty()) break;
    auto const close = path.find('}');
    auto const name = close == std::string_view::npos ? std::string_view{} : path.substr(1, close - 1);
    if (!is_field_name(name)) fault = "has a placeholder that is not {field}";
    out.push_back({true, std::string{name}});
    path.remove_prefix(close == std::string_view::npos ? path.size() : close + 1);
  }
  return out;
}

bool has_dot_segment(std::string_view path) {
  for (std::size_t at = 0; at <= path.size();) {
    auto const end = std::min(path.find('/', at), path.size());
    auto const segment = path.substr(at, end - at);
    if (segment == "." || segment == "..") return true;
    at = end + 1;
  }
  return false;
}

std::optional<http_target> read_http(spot const& at, std::string_view method, std::string_view path, report& out) {
  http_target made;
  made.method = method;
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) {
    out.mistake(at, "unknown method `" + std::string{method} + "`; expected GET, HEAD, POST, PUT, PATCH or DELETE");
    return std::nullopt;
  }
  std::string fault;
  if (path.empty() || path[0] != '/') fault = "does not begin with /";
  if (path.size() > path_size_max) fault = "is longer than " + std::to_string(path_size_max) + " characters";
  if (fault.empty() && has_dot_segment(path)) fault = "has a segment `.` or `..`";
  if (fault.empty()) made.path = pieces_of(path, fault);
  if (fault.empty()) return made;
  out.mistake(at, "the path `" + std::string{path.substr(0, 80)} + "` " + fault);
  return std::nullopt;
}

std::optional<local_target> read_local(spot const& at, std::string_view handler, report& out) {
  local_target made;
  made.handler = handler;
  auto const proper = is_field_name(handler) && handler[0] >= 'a' && handler[0] <= 'z';
  if (proper) return made;
  out.mistake(at, "`" + std::string{handler} + "` is not the name of a handler", "letters, digits, '-' and '_', a lower-case letter first");
  return std::nullopt;
}

service const* find_service(spot const& at, std::string_view name, std::vector<service> const& services, report& out) {
  std::vector<std::string_view> known;
  for (auto const& one : services) {
    if (one.name == name) return &one;
    known.push_back(one.name);
  }
  auto const near = nearest(name, known);
  out.mistake(at, "there is no service `" + std::string{name} + "`" + (near.empty() ? "" : "; did you mean `" + std::string{near} + "`?"),
              near.empty() ? "name it under `services`" : "");
  return nullptr;
}

bool sends_body(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

// A value that can stand in a path or a query.
void check_scalar(spot const& value, std::string_view where, bool in_path, report& out) {
  if (value->is_map() || value->is_sequence() || (value->kind == node_kind::null && value->written)) {
    return out.mistake(value, describe(*value) + " can't stand in a " + std::string{where} + "; expected a text, a number or a boolean");
  }
  if (!in_path || !value->is_scalar()) return;
  if (value->text.empty() || value->text == "." || value->text == "..") {
    out.mistake(value, describe(*value) + " can't stand in a path", "empty, `.` and `..` would change which path is meant");
  }
}

void check_http_input(http_target const& to, spot const& verb, spot const& in, report& out) {
  for (auto const& piece : to.path) {
    if (!piece.placeholder) continue;
    auto const value = field(in, piece.text);
    if (!value) {
      out.mistake(verb, "the path needs `" + piece.text + "`, which `in` does not have", "every {field} of a path comes from `in`");
    } else {
      check_scalar(*value, "path", true, out);
    }
  }
  if (sends_body(to.method)) return;
  for (auto const& member : in->entries) {
    auto const used =
        std::any_of(to.path.begin(), to.path.end(), [&](auto const& piece) { return piece.placeholder && piece.text == member.key.text; });
    if (!used) check_scalar(in.child(member.key.text, member.value), "query of a " + to.method + " request", false, out);
  }
}

}  // namespace

std::optional<target> read_call(spot const& at, std::vector<service> const& services, report& out) {
  auto const text = read_text(at, expected_call, out);
  if (!text) return std::nullopt;
  auto const words = words_of(*text);
  if (words.size() < 2 || words.size() > 3) {
    out.mistake(at, "found " + describe(*at) + "; expected " + std::string{expected_call});
    return std::nullopt;
  }
  auto const* service = find_service(at, words[0], services, out);
  if (service == nullptr) return std::nullopt;
  call_target made;
  made.service = service->name;
  auto const http = service->kind == service::kind_of::http;
  if (http != (words.size() == 3)) {
    out.mistake(at, http ? "`" + made.service + "` is called by HTTP; expected `" + made.service + " METHOD /path`"
                         : "`" + made.service + "` is local; expected `" + made.service + " handler`");
    return std::nullopt;
  }
  if (http) {
    auto how = read_http(at, words[1], words[2], out);
    if (!how) return std::nullopt;
    made.how = std::move(*how);
  } else {
    auto how = read_local(at, words[1], out);
    if (!how) return std::nullopt;
    made.how = std::move(*how);
  }
  return target{std::move(made)};
}

void check_target_input(target const& what, spot const& verb, std::optional<spot> const& in, report& out) {
  static_assert(std::variant_size_v<target> == 2);
  // An expression is known when it runs; the request is refused then.
  if (in && is_expression(**in)) return;
  node const nothing = [] {
    node empty;
    empty.kind = node_kind::map;
    return empty;
  }();
  auto const fields = in ? *in : spot{nothing, verb.path};
  if (auto const* sql = std::get_if<sql_target>(&what)) {
    if (!fields->is_map()) return out.mistake(fields, "found " + describe(*fields) + "; expected a map of the statement's parameters");
    for (auto const& name : sql_names(sql->text)) {
      if (fields->find(name) == nullptr) out.mistake(verb, "the statement takes `:" + name + "`, which `in` does not have");
    }
    return;
  }
  auto const* http = std::get_if<http_target>(&std::get<call_target>(what).how);
  if (http == nullptr) return;
  auto const placeholders = std::any_of(http->path.begin(), http->path.end(), [](auto const& piece) { return piece.placeholder; });
  if (!fields->is_map() && (placeholders || !sends_body(http->method))) {
    return out.mistake(fields, "found " + describe(*fields) + "; expected a map: the path and query take their fields from it");
  }
  if (fields->is_map()) check_http_input(*http, verb, fields, out);
}

}  // namespace atone::yaml
