// The one table of what a participant's answer means (docs/participants.md prints it, tests hold it).
// Thread rules: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <atone/event.hpp>
#include <atone/time.hpp>

namespace atone {

// What an HTTP status says about the work that was asked for.
enum class answer_class : std::uint8_t {
  done,                // 2xx but 202
  still_working,       // 202: poll Location, or wait for the callback
  refused,             // a final "no": 409, 422, other 4xx, and 3xx (redirects are not followed)
  transient_not_done,  // 425, 429
  transient_unknown,   // 408, 5xx, a reply that can't be read
};
std::string_view name(answer_class of) noexcept;

// Total: a number outside 200 … 599 is transient_unknown, since nobody can say what was meant.
answer_class classify_status(std::int32_t http_status) noexcept;

// What went wrong below HTTP.
enum class transport_failure : std::uint8_t {
  none,
  connect,       // no connection was made: the request never left
  lost,          // the connection broke after bytes of the request had left
  timeout,       // no whole answer in time
  malformed,     // the answer is not HTTP, or above the limits
  breaker_open,  // not tried: the service's breaker is open
};
std::string_view name(transport_failure of) noexcept;
// Whether a request that failed this way may have been done all the same; `none` only for transport_failure::none.
certainty certainty_of(transport_failure failure) noexcept;

// Retry-After in seconds or as an HTTP date relative to the reply's Date; capped at 1 hour; nothing when absent or unreadable.
std::optional<duration> parse_retry_after(std::string_view value, std::string_view date) noexcept;

// The header fields of a request to a participant; part of the wire format.
namespace headers {
inline constexpr std::string_view saga = "Atone-Saga";                  // saga_id::text()
inline constexpr std::string_view step = "Atone-Step";                  // step_path::text()
inline constexpr std::string_view op = "Atone-Op";                      // name(operation)
inline constexpr std::string_view attempt = "Atone-Attempt";            // decimal, from 1
inline constexpr std::string_view epoch = "Atone-Epoch";                // decimal; of two that drove a saga, the later sends the higher one
inline constexpr std::string_view node = "Atone-Node";                  // which coordinator sends, where several share the store; for logs
inline constexpr std::string_view idempotency_key = "Idempotency-Key";  // trace_id: the same for every attempt
inline constexpr std::string_view deadline = "Atone-Deadline";          // milliseconds that the answer is waited for
inline constexpr std::string_view callback = "Atone-Callback";          // URL to report to; only where the coordinator has one
inline constexpr std::string_view traceparent = "traceparent";          // W3C: the trace is the saga, the span the attempt
}  // namespace headers

}  // namespace atone
