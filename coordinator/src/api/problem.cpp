#include "api/problem.hpp"

#include <atone/json.hpp>

namespace atone::api {
namespace {

std::int32_t status_of(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument: return 422;
    case errc::not_found: return 404;
    case errc::conflict: return 409;
    case errc::unavailable: return 503;
    case errc::outcome_unknown: return 503;
    case errc::fenced: return 503;
    case errc::bad_data: return 422;
    case errc::statement_failed:
    case errc::elsewhere:
    case errc::serialization: return 503;
    case errc::exhausted: return 429;
    case errc::unsupported: return 501;
    case errc::corrupt: return 500;
    case errc::internal: return 500;
  }
  return 500;
}

// "not found" -> "not_found": the words of errc, as programs like them.
std::string code_word(errc code) {
  std::string word{name(code)};
  for (auto& c : word) {
    if (c == ' ') c = '_';
  }
  return word;
}

}  // namespace

http::response answer_of(problem const& what) {
  json::writer out;
  out.begin_object().key("error").begin_object();
  out.key("code").string(what.code).key("message").string(what.message);
  if (!what.field.empty()) out.key("field").string(what.field);
  out.end_object().end_object();
  http::response made{what.status, out.take()};
  if (what.status == 429 || what.status == 503) made.headers.add("Retry-After", "1");
  if (what.status == 401) made.headers.add("WWW-Authenticate", "Bearer realm=\"atone\"");
  return made;
}

problem problem_of(error const& what) {
  return {status_of(what.code), code_word(what.code), what.message};
}

http::response answer_of(error const& what) {
  return answer_of(problem_of(what));
}

}  // namespace atone::api
