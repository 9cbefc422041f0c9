#include "cli/url.hpp"

#include <atone/http.hpp>

namespace atone::cli {

result<void> check_url(std::string_view url) {
  auto const read = http::parse_origin(url);
  if (!read) return read.error();
  return {};
}

api_request get_request(std::string url, duration timeout) {
  api_request what;
  what.url = std::move(url);
  what.timeout = timeout;
  return what;
}

}  // namespace atone::cli
