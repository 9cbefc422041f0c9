#include "yaml/policies.hpp"

#include <array>

#include <atone/yaml/fields.hpp>

#include "yaml/keys.hpp"

namespace atone::yaml {
namespace {

constexpr std::int64_t factor_milli_max = 100'000;
constexpr std::array jitter_words{std::string_view{"none"}, std::string_view{"full"}, std::string_view{"equal"}};

void read_jitter(spot const& at, retry_policy& into, report& out) {
  auto const word = read_word(at, jitter_words, out);
  if (!word) return;
  constexpr std::array kinds{retry_policy::jitter_kind::none, retry_policy::jitter_kind::full, retry_policy::jitter_kind::equal};
  into.jitter = kinds.at(*word);
}

}  // namespace

retry_policy read_retry_keys(spot const& map, retry_policy base, report& out) {
  if (auto const at = field(map, "attempts")) {
    if (auto const count = read_integer(*at, 1, attempts_max, out)) base.attempts = static_cast<std::uint32_t>(*count);
  }
  auto const delay = field(map, "delay");
  auto const cap = field(map, "cap");
  if (delay) base.delay = read_duration(*delay, out).value_or(base.delay);
  if (cap) base.cap = read_duration(*cap, out).value_or(base.cap);
  if (auto const at = field(map, "factor")) {
    if (auto const factor = read_thousandths(*at, 1000, factor_milli_max, out)) base.factor_milli = static_cast<std::uint32_t>(*factor);
  }
  if (auto const at = field(map, "jitter")) read_jitter(*at, base, out);
  if ((delay || cap) && base.delay > base.cap) {
    out.mistake(delay ? *delay : *cap,
                "the delay of " + format_duration(base.delay) + " is longer than its cap of " + format_duration(base.cap),
                cap ? "" : "raise `cap` with it");
  }
  return base;
}

retry_policy read_retry(spot const& at, retry_policy const& base, report& out) {
  if (!expect_map(at, "a map, as in {attempts: 5, delay: 200ms}", out)) return base;
  check_keys(at, retry_keys, out);
  return read_retry_keys(at, base, out);
}

compensation_policy read_compensation_policy(spot const& map, compensation_policy base, report& out) {
  base.retry = read_retry_keys(map, base.retry, out);
  if (auto const at = field(map, "attempt_timeout")) base.attempt_timeout = read_duration(*at, out).value_or(base.attempt_timeout);
  if (auto const at = field(map, "limit")) base.limit = read_duration(*at, out).value_or(base.limit);
  return base;
}

defaults_policy read_defaults(spot const& at, report& out) {
  defaults_policy made;
  if (!expect_map(at, "a map", out)) return made;
  check_keys(at, defaults_keys, out);
  if (auto const value = field(at, "attempt_timeout")) {
    made.attempt_timeout = read_duration(*value, out).value_or(made.attempt_timeout);
    made.compensate.attempt_timeout = made.attempt_timeout;
  }
  if (auto const value = field(at, "timeout")) made.timeout = read_duration(*value, out);
  if (auto const value = field(at, "retry")) made.retry = read_retry(*value, made.retry, out);
  auto const compensate = field(at, "compensate");
  if (!compensate || !expect_map(*compensate, "a map, as in {attempts: 20, delay: 1s}", out)) return made;
  check_keys(*compensate, default_compensate_keys, out);
  made.compensate = read_compensation_policy(*compensate, made.compensate, out);
  return made;
}

}  // namespace atone::yaml
