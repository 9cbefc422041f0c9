// The daemon's HTTP API as the commands see it.
// Thread rules: one thread; every call blocks up to its timeout.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/json.hpp>
#include <atone/result.hpp>

#include "cli/command.hpp"

namespace atone::cli {

// A path with query parameters, encoded as they are added.
class target {
 public:
  explicit target(std::string path) : text_(std::move(path)) {}
  // One more segment.
  target& segment(std::string_view value);
  target& query(std::string_view name, std::string_view value);
  std::string const& text() const noexcept { return text_; }

 private:
  std::string text_;
  bool has_query_ = false;
};

class daemon_client {
 public:
  static constexpr duration answer_max = std::chrono::seconds{30};

  explicit daemon_client(surroundings const& with) : with_(with) {}

  // The JSON of a 2xx answer. Everything else is an error in the daemon's own words where it gave any.
  result<json::value> get(target const& from, duration timeout = answer_max) const;
  result<json::value> post(target const& to, std::string body, header_fields headers = {}, duration timeout = answer_max) const;
  // Whatever came, for /health, /ready and /metrics.
  result<api_answer> raw(target const& from, duration timeout = answer_max) const;

 private:
  result<api_answer> send(api_request what, std::string const& at) const;

  surroundings const& with_;
};

// The error an answer carries: {"error": {"message": …}} in any status but 2xx.
error error_of(api_answer const& answer);

}  // namespace atone::cli
