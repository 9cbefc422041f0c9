#include "faults.hpp"

#include <optional>
#include <utility>

namespace kit {
namespace {

using atone::errc;
using atone::error;
using atone::result;

constexpr std::array<std::pair<std::string_view, fault_kind>, fault_kinds> words{{
    {"none", fault_kind::none},
    {"fail", fault_kind::fail},
    {"hang", fault_kind::hang},
    {"drop", fault_kind::drop},
    {"late", fault_kind::late},
    {"twice", fault_kind::twice},
    {"refuse", fault_kind::refuse},
}};

constexpr atone::duration delay_max = std::chrono::minutes{1};

error wrong(std::string_view part, std::string_view expected) {
  return error{errc::invalid_argument, "faults: found '" + std::string{part} + "', expected " + std::string{expected}};
}

std::optional<fault_kind> kind_of(std::string_view word) {
  for (auto const& [known, kind] : words) {
    if (known == word && kind != fault_kind::none) return kind;
  }
  return std::nullopt;
}

// "0.02", "1", ".5" as millionths, at most six decimals; no floating point, so that the sum is exact.
std::optional<std::uint32_t> rate_of(std::string_view text) {
  constexpr std::size_t decimals_max = 6;
  auto const point = text.find('.');
  auto const whole = text.substr(0, point);
  auto const part = point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
  if (whole.size() + part.size() == 0 || whole.size() > 1 || part.size() > decimals_max) return std::nullopt;
  std::string digits{whole.empty() ? "0" : whole};
  digits += part;
  digits.append(decimals_max - part.size(), '0');
  std::uint32_t value = 0;
  for (char const each : digits) {
    if (each < '0' || each > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint32_t>(each - '0');
  }
  if (value > fault_plan::whole) return std::nullopt;
  return value;
}

bool needs_delay(fault_kind kind) {
  return kind == fault_kind::hang || kind == fault_kind::late;
}

result<void> parse_part(std::string_view part, fault_plan& plan) {
  auto const equals = part.find('=');
  auto const kind = kind_of(part.substr(0, equals));
  if (!kind || equals == std::string_view::npos) return wrong(part, "fail=, hang=, drop=, late=, twice= or refuse= with a rate");
  auto const colon = part.find(':', equals);
  auto const rate = rate_of(part.substr(equals + 1, colon == std::string_view::npos ? colon : colon - equals - 1));
  if (!rate) return wrong(part, "a rate between 0 and 1, at most six decimals");
  auto& entry = plan.entries[static_cast<std::size_t>(*kind)];
  if (entry.rate > 0) return wrong(part, "each kind once");
  if (needs_delay(*kind) != (colon != std::string_view::npos)) {
    return wrong(part, needs_delay(*kind) ? "a duration after the rate, as in hang=0.02:1500ms" : "no duration for this kind");
  }
  entry.rate = *rate;
  if (colon == std::string_view::npos) return {};
  auto const delay = atone::parse_duration(part.substr(colon + 1));
  if (!delay) return wrong(part, delay.error().message);
  if (*delay > delay_max) return wrong(part, "at most " + atone::format_duration(delay_max));
  entry.delay = *delay;
  return {};
}

// Uniform in [0, whole): the first eight bytes of a digest, the same on every machine.
std::uint64_t draw_point(fault_plan const& plan, request_identity const& request) {
  std::string text = std::to_string(plan.seed);
  for (std::string_view const part : {request.saga, request.step, atone::name(request.op), request.attempt}) {
    text += '\n';
    text += part;
  }
  auto const digest = atone::content_hash::of(text).value();
  std::uint64_t value = 0;
  for (std::size_t at = 0; at < 8; ++at) value = value << 8 | digest[at];
  return value % fault_plan::whole;
}

}  // namespace

std::string_view name(fault_kind kind) noexcept {
  return words[static_cast<std::size_t>(kind)].first;
}

bool fault_plan::empty() const noexcept {
  for (auto const& each : entries) {
    if (each.rate > 0) return false;
  }
  return true;
}

result<fault_plan> parse_faults(std::string_view text) {
  fault_plan plan;
  std::uint32_t sum = 0;
  while (!text.empty()) {
    auto const comma = text.find(',');
    if (auto parsed = parse_part(text.substr(0, comma), plan); !parsed) return parsed.error();
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    if (text.empty() && comma != std::string_view::npos) return wrong(",", "another fault after the comma");
  }
  for (auto const& each : plan.entries) sum += each.rate;
  if (sum > fault_plan::whole) return error{errc::invalid_argument, "faults: the rates add up to more than 1"};
  return plan;
}

fault draw(fault_plan const& plan, request_identity const& request) {
  if (plan.empty()) return fault{};
  auto const point = draw_point(plan, request);
  std::uint64_t upper = 0;
  for (std::size_t index = 0; index < fault_kinds; ++index) {
    upper += plan.entries[index].rate;
    if (point >= upper) continue;
    auto const kind = static_cast<fault_kind>(index);
    if (kind == fault_kind::refuse && request.op != atone::operation::act) return fault{};
    return fault{kind, plan.entries[index].delay};
  }
  return fault{};
}

}  // namespace kit
