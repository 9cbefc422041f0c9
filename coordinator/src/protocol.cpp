// The one table of what a participant's answer means. docs/participants.md prints it; a test compares the two.
#include <algorithm>
#include <charconv>
#include <chrono>

#include <atone/participant_protocol.hpp>

#include "http/http_date.hpp"

namespace atone {
namespace {

constexpr duration retry_after_max = std::chrono::hours{1};

}  // namespace

std::string_view name(answer_class of) noexcept {
  switch (of) {
    case answer_class::done: return "done";
    case answer_class::still_working: return "still_working";
    case answer_class::refused: return "refused";
    case answer_class::transient_not_done: return "transient_not_done";
    case answer_class::transient_unknown: return "transient_unknown";
  }
  return "unknown";
}

answer_class classify_status(std::int32_t http_status) noexcept {
  if (http_status < 200 || http_status > 599) return answer_class::transient_unknown;
  if (http_status == 202) return answer_class::still_working;
  if (http_status < 300) return answer_class::done;
  if (http_status == 425 || http_status == 429) return answer_class::transient_not_done;
  if (http_status == 408 || http_status >= 500) return answer_class::transient_unknown;
  return answer_class::refused;
}

std::string_view name(transport_failure of) noexcept {
  switch (of) {
    case transport_failure::none: return "none";
    case transport_failure::connect: return "connect";
    case transport_failure::lost: return "lost";
    case transport_failure::timeout: return "timeout";
    case transport_failure::malformed: return "malformed";
    case transport_failure::breaker_open: return "breaker_open";
  }
  return "unknown";
}

certainty certainty_of(transport_failure failure) noexcept {
  switch (failure) {
    case transport_failure::none: return certainty::none;
    case transport_failure::connect:
    case transport_failure::breaker_open: return certainty::not_done;
    case transport_failure::lost:
    case transport_failure::timeout:
    case transport_failure::malformed: return certainty::unknown;
  }
  return certainty::unknown;
}

std::optional<duration> parse_retry_after(std::string_view value, std::string_view date) noexcept {
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
  if (value.empty()) return std::nullopt;
  bool const all_digits = std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (all_digits) {
    std::int64_t seconds = 0;
    auto const [end, failure] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    bool const beyond = failure != std::errc{} || seconds > std::chrono::seconds{std::chrono::hours{1}}.count();
    return beyond ? retry_after_max : duration{std::chrono::seconds{seconds}};
  }
  auto const until = http::parse_http_date(value);
  auto const since = http::parse_http_date(date);
  if (!until || !since) return std::nullopt;
  return std::clamp<duration>(*until - *since, duration::zero(), retry_after_max);
}

}  // namespace atone
