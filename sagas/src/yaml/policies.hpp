// Retry policies, timeouts and the defaults of a definition.
#pragma once

#include <optional>

#include <atone/definition.hpp>

#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::yaml {

// How a step's compensation is tried when it says nothing.
struct compensation_policy {
  retry_policy retry;
  duration attempt_timeout = std::chrono::seconds{3};
  duration limit = std::chrono::hours{24};

  compensation_policy() = default;
};

// `defaults` of a document, on top of the built-in ones.
struct defaults_policy {
  duration attempt_timeout = std::chrono::seconds{3};
  std::optional<duration> timeout;
  retry_policy retry;
  compensation_policy compensate;

  defaults_policy() = default;
};

constexpr std::int64_t attempts_max = 1'000'000;

// The retry keys of `map` over `base`; also checks them against each other.
retry_policy read_retry_keys(spot const& map, retry_policy base, report& out);
// `retry: {…}`.
retry_policy read_retry(spot const& at, retry_policy const& base, report& out);
// The policy keys of `compensate: {…}` or `defaults.compensate: {…}`.
compensation_policy read_compensation_policy(spot const& map, compensation_policy base, report& out);
defaults_policy read_defaults(spot const& at, report& out);

}  // namespace atone::yaml
