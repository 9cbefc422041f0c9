#include "api/forwarded.hpp"

#include <array>

#include <atone/json.hpp>
#include <atone/percent.hpp>

#include "http/text.hpp"

namespace atone::api {
namespace {

constexpr std::string_view code_not_driven = "elsewhere";
constexpr std::array<std::string_view, 5> headers_along{"Authorization", "Content-Type", "Accept", "X-Atone-Actor", "traceparent"};
constexpr std::array<std::string_view, 4> headers_back{"Content-Type", "Retry-After", "WWW-Authenticate", "Location"};

bool goes_along(std::string_view name) noexcept {
  if (http::same_name(name, forwarded_header)) return false;
  constexpr std::string_view own = "Atone-";  // Atone-Token, and what later versions add
  if (http::same_name(name.substr(0, own.size()), own)) return true;
  for (auto const known : headers_along) {
    if (http::same_name(name, known)) return true;
  }
  return false;
}

}  // namespace

bool was_forwarded(http::request const& what) noexcept {
  return what.headers.has(forwarded_header);
}

http::request forwarded_request(http::request const& what, std::string const& node) {
  http::request made;
  made.method = what.method;
  made.target = what.target;
  made.body = what.body;
  for (auto const& [name, value] : what.headers.all()) {
    if (goes_along(name)) made.headers.add(name, value);
  }
  made.headers.add(forwarded_header, percent_encode(node));
  return made;
}

problem not_driven_here(saga_id saga) {
  return {503, std::string{code_not_driven}, "this request was passed on by another node, and saga " + saga.text() + " is not driven here"};
}

bool is_not_driven(http::response const& from) {
  if (from.status != 503) return false;
  auto const body = json::parse(from.body);
  if (!body || body->type() != json::kind::object) return false;
  auto const inner = body->find("error");
  if (!inner || inner->type() != json::kind::object) return false;
  auto const code = inner->find("code");
  return code && code->type() == json::kind::string && code->as_string() == code_not_driven;
}

http::response passed_answer(http::response const& from) {
  http::response made;
  made.status = from.status;
  made.body = from.body;
  for (auto const name : headers_back) {
    if (auto const value = from.headers.get(name); !value.empty()) made.headers.add(name, value);
  }
  return made;
}

}  // namespace atone::api
