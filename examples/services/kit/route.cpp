#include "route.hpp"

#include <limits>

#include <atone/http.hpp>
#include <atone/percent.hpp>

#include "options.hpp"

namespace kit {
namespace {

using atone::errc;
using atone::error;
using atone::result;

error wrong_field(std::string_view name, std::string const& what) {
  return error{errc::invalid_argument, "field '" + std::string{name} + "': " + what};
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  auto const negative = !text.empty() && text.front() == '-';
  auto const value = parse_number(negative ? text.substr(1) : text, std::numeric_limits<std::int64_t>::max());
  if (!value) return std::nullopt;
  auto const magnitude = static_cast<std::int64_t>(*value);
  return negative ? -magnitude : magnitude;
}

std::string_view take_segment(std::string_view& rest) {
  auto const slash = rest.find('/');
  auto const segment = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  return segment;
}

bool is_placeholder(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

}  // namespace

result<std::int64_t> request_context::integer(std::string_view name) const {
  if (auto const found = path.find(name); found != path.end()) {
    if (auto const value = parse_integer(found->second)) return *value;
    return wrong_field(name, "found '" + found->second + "' in the path, expected a whole number");
  }
  auto const found = body.type() == atone::json::kind::object ? body.find(name) : std::nullopt;
  if (!found) return wrong_field(name, "is missing, expected a whole number");
  auto const value = found->type() == atone::json::kind::number ? found->as_int64() : std::nullopt;
  if (!value) return wrong_field(name, "found " + std::string{found->raw()} + ", expected a whole number");
  return *value;
}

result<std::string> request_context::text(std::string_view name) const {
  if (auto const found = path.find(name); found != path.end()) return found->second;
  auto const found = body.type() == atone::json::kind::object ? body.find(name) : std::nullopt;
  if (!found) return wrong_field(name, "is missing, expected text");
  if (found->type() != atone::json::kind::string) return wrong_field(name, "found " + std::string{found->raw()} + ", expected text");
  return found->as_string();
}

result<std::int64_t> request_context::query_number(std::string_view name, std::int64_t preset, std::int64_t most) const {
  auto const found = query.find(name);
  if (found == query.end()) return preset;
  auto const value = parse_number(found->second, static_cast<std::uint64_t>(most));
  if (!value) return wrong_field(name, "found '" + found->second + "', expected a whole number of at most " + std::to_string(most));
  return static_cast<std::int64_t>(*value);
}

route route::changes(std::string method, std::string pattern, business work, preparation before) {
  route made;
  made.method = std::move(method);
  made.pattern = std::move(pattern);
  made.change = std::move(work);
  made.prepare = std::move(before);
  return made;
}

route route::reads(std::string pattern, reading work) {
  route made;
  made.method = "GET";
  made.pattern = std::move(pattern);
  made.read = std::move(work);
  return made;
}

std::optional<std::map<std::string, std::string, std::less<>>> match(std::string_view pattern, std::string_view path) {
  std::map<std::string, std::string, std::less<>> found;
  while (!pattern.empty() || !path.empty()) {
    auto const wanted = take_segment(pattern);
    auto const given = take_segment(path);
    if (pattern.empty() != path.empty()) return std::nullopt;
    if (!is_placeholder(wanted)) {
      if (wanted != given) return std::nullopt;
      continue;
    }
    auto decoded = atone::percent_decode(given);
    if (!decoded || decoded->empty()) return std::nullopt;
    found.emplace(wanted.substr(1, wanted.size() - 2), std::move(*decoded));
  }
  return found;
}

}  // namespace kit
