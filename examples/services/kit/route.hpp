// What a service does for which request: method and path, and the function behind them.
// Thread rules: routes are immutable once the service has started; their functions are called from many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/json.hpp>
#include <atone/participant.hpp>
#include <atone/result.hpp>

namespace kit {

// A request taken apart.
struct request_context {
  atone::participant::call call;  // which operation; empty for plain routes
  std::string attempt;
  std::map<std::string, std::string, std::less<>> path;  // {name} -> decoded text
  std::map<std::string, std::string, std::less<>> query;
  atone::json::value body;  // null when there was none
  std::string prepared;     // what the route's `prepare` returned

  request_context() = default;

  // A whole number from the path (first) or the body; errors (invalid_argument) name the field.
  atone::result<std::int64_t> integer(std::string_view name) const;
  atone::result<std::string> text(std::string_view name) const;
  // From the query: `preset` when it is absent.
  atone::result<std::int64_t> query_number(std::string_view name, std::int64_t preset, std::int64_t most) const;
};

// Changes something: runs behind the barrier, in one transaction with the stored answer. An error means that nothing happened.
using business = std::function<atone::result<atone::participant::answer>(atone::participant::sql_session&, request_context const&)>;
// What must be fetched before the transaction begins (no transaction stays open across a network wait).
using preparation = std::function<atone::result<std::string>(request_context const&)>;
// Only reads, without barrier and headers; answers JSON, or nothing for 404.
using reading = std::function<atone::result<std::optional<std::string>>(atone::participant::sql_session&, request_context const&)>;

struct route {
  std::string method;
  std::string pattern;  // "/orders/{order_id}"
  business change;      // either this
  preparation prepare;  // with this before it, if wanted
  reading read;         // or this

  static route changes(std::string method, std::string pattern, business work, preparation before = {});
  static route reads(std::string pattern, reading work);
};

// The path parameters when `path` (percent-encoded, without query) fits the pattern.
std::optional<std::map<std::string, std::string, std::less<>>> match(std::string_view pattern, std::string_view path);

}  // namespace kit
