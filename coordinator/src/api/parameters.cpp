#include "api/parameters.hpp"

#include <algorithm>
#include <charconv>

namespace atone::api {
namespace {

constexpr std::size_t quoted_max = 80;  // bytes of a foreign text repeated in a message

std::string quote(std::string_view text) {
  std::string made = "\"";
  made += text.substr(0, quoted_max);
  made += text.size() > quoted_max ? "…\"" : "\"";
  return made;
}

problem bad(std::string_view field, std::string_view found, std::string expected) {
  return {400, "invalid_argument", std::string{field} + ": found " + quote(found) + ", expected " + std::move(expected),
          std::string{field}};
}

std::string listed(std::vector<std::string_view> const& known) {
  std::string made;
  for (auto const one : known) made += (made.empty() ? "" : ", ") + std::string{one};
  return made.empty() ? "none" : made;
}

bool contains(std::vector<std::string_view> const& known, std::string_view name) {
  return std::find(known.begin(), known.end(), name) != known.end();
}

std::optional<std::uint32_t> to_number(std::string_view text) noexcept {
  std::uint32_t value = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> find_parameter(call const& of, std::string_view name) {
  for (auto const& [known, value] : of.query) {
    if (known == name) return value;
  }
  return std::nullopt;
}

read_result<bool> check_parameters(call const& of, std::vector<std::string_view> const& known) {
  for (auto const& [name, value] : of.query) {
    if (contains(known, name)) continue;
    return problem{400, "invalid_argument", "unknown query parameter " + quote(name) + ", known: " + listed(known),
                   name.substr(0, quoted_max)};
  }
  return true;
}

read_result<std::uint32_t> read_number(call const& of, std::string_view name, std::uint32_t otherwise, std::uint32_t low,
                                       std::uint32_t high) {
  auto const text = find_parameter(of, name);
  if (!text) return otherwise;
  auto const value = to_number(*text);
  if (value && *value >= low && *value <= high) return *value;
  return bad(name, *text, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

read_result<std::optional<duration>> read_wait(call const& of, std::string_view name, duration most) {
  auto const text = find_parameter(of, name);
  if (!text) return std::optional<duration>{};
  auto const value = parse_duration(*text);
  if (!value) return bad(name, *text, "a duration such as 30s");
  return std::optional{std::min(*value, most)};
}

read_result<std::optional<timestamp>> read_time(call const& of, std::string_view name) {
  auto const text = find_parameter(of, name);
  if (!text) return std::optional<timestamp>{};
  auto const value = parse_timestamp(*text);
  if (!value) return bad(name, *text, "a time in UTC such as 2026-11-30T13:37:00Z");
  return value;
}

read_result<std::optional<definition_version>> read_version(call const& of) {
  auto const text = find_parameter(of, "version");
  if (!text) return std::optional<definition_version>{};
  auto const value = to_number(*text);
  if (!value || *value == 0) return bad("version", *text, "a whole number from 1");
  return std::optional{definition_version{*value}};
}

read_result<std::optional<saga_id>> read_saga_parameter(call const& of, std::string_view name) {
  auto const text = find_parameter(of, name);
  if (!text) return std::optional<saga_id>{};
  auto const value = saga_id::parse(*text);
  if (!value) return bad(name, *text, "a saga's id (26 characters)");
  return value;
}

read_result<saga_id> read_saga_part(call const& of, std::size_t which) {
  auto const value = saga_id::parse(of.parts.at(which));
  if (!value) return bad("id", of.parts[which], "a saga's id (26 characters)");
  return *value;
}

read_result<json::value> read_object(call const& of, std::vector<std::string_view> const& known) {
  auto parsed = json::parse(of.request.body.empty() ? "{}" : of.request.body);
  if (!parsed) return problem{400, "invalid_argument", "the body is not JSON: " + parsed.error().message, "body"};
  if (parsed->type() != json::kind::object) {
    return problem{400, "invalid_argument", "the body is a JSON " + std::string{name(parsed->type())} + ", expected an object", "body"};
  }
  for (auto const& [member, value] : parsed->members()) {
    if (contains(known, member)) continue;
    return problem{400, "invalid_argument", "unknown member " + quote(member) + ", known: " + listed(known), member.substr(0, quoted_max)};
  }
  return *std::move(parsed);
}

read_result<std::string> read_text(json::value const& object, std::string_view name) {
  auto const found = object.find(name);
  if (!found || found->is_null()) return std::string{};
  if (found->type() == json::kind::string) return found->as_string();
  return bad(name, found->raw(), "a string");
}

}  // namespace atone::api
