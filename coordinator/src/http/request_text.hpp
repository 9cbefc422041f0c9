// Requests and answers as the text that goes out. Thread rules: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <atone/http.hpp>

namespace atone::http {

// What is wrong with it: a method, target or header that would break out of its line.
written_request request_text(origin const& to, request const& what);

struct answer_form {
  bool head = false;   // answers HEAD: everything but the body
  bool close = false;  // the connection ends after it
  std::string_view date;

  answer_form() = default;
};
// Control characters in header values become spaces; headers that the server sets itself are left out.
std::string response_text(response const& what, answer_form const& form);

}  // namespace atone::http
