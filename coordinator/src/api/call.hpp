// One request to the API on its way through: what was asked, and the one place where the answer goes.
// Thread rules: a call belongs to whoever works on it; the answer may be given from any thread, the first one counts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/http.hpp>

namespace atone::api {

using reply = std::function<void(http::response)>;

struct call {
  http::request request;
  std::vector<std::string> parts;                          // what the braces of the route's pattern matched, decoded
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
  std::string_view pattern;                                // of the route
  std::string actor;                                       // who asks, for the record
  reply send;

  call() = default;
};
using call_ptr = std::shared_ptr<call>;

}  // namespace atone::api
