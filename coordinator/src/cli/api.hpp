// One request to the daemon and what came of it; plain, so that commands need not see the HTTP library.
// Thread rules: plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/participant_protocol.hpp>
#include <atone/time.hpp>

namespace atone::cli {

using header_fields = std::vector<std::pair<std::string, std::string>>;

struct api_request {
  std::string method = "GET";
  std::string url;  // whole, with the query
  header_fields headers;
  std::string body;
  duration timeout = std::chrono::seconds{30};

  api_request() = default;
  // The first field of that name, or empty.
  std::string_view header(std::string_view name) const noexcept {
    for (auto const& [known, value] : headers) {
      if (known == name) return value;
    }
    return {};
  }
};

struct api_answer {
  transport_failure failure = transport_failure::none;
  std::string detail;  // the system's words for the failure
  std::int32_t status = 0;
  std::string body;

  api_answer() = default;
  bool ok() const noexcept { return failure == transport_failure::none; }
};

using fetch_function = std::function<api_answer(api_request)>;

}  // namespace atone::cli
