// Failures as the API says them: {"error": {"code", "message", "field"}} under the right status.
// Thread rules: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <atone/http.hpp>
#include <atone/result.hpp>

namespace atone::api {

struct problem {
  std::int32_t status = 400;
  std::string code;     // one word a program can switch on
  std::string message;  // for a person
  std::string field;    // which parameter, header or member; empty: none

  problem(std::int32_t of, std::string word, std::string text, std::string where = {})
      : status(of), code(std::move(word)), message(std::move(text)), field(std::move(where)) {}
};

// 429 and 503 carry Retry-After, 401 says what it wants.
http::response answer_of(problem const& what);
// How a failure of the coordinator reads over HTTP.
problem problem_of(error const& what);
http::response answer_of(error const& what);

}  // namespace atone::api
