#include "drill/plan.hpp"

#include <charconv>

namespace atone::drill {
namespace {

// What "{n}" or "{n%17}" at the beginning of `text` stands for, and how long it is; length 0: none is there.
std::pair<std::string, std::size_t> placeholder(std::string_view text, std::uint64_t n) {
  constexpr std::string_view plain = "{n}";
  constexpr std::string_view rest = "{n%";
  if (text.starts_with(plain)) return {std::to_string(n), plain.size()};
  if (!text.starts_with(rest)) return {"", 0};
  std::uint64_t by = 0;
  auto const* const end = text.data() + text.size();
  auto const [stop, failed] = std::from_chars(text.data() + rest.size(), end, by);
  if (failed != std::errc{} || by == 0 || stop == end || *stop != '}') return {"", 0};
  return {std::to_string(n % by), static_cast<std::size_t>(stop - text.data()) + 1};
}

std::string network_text(network_fault const& of) {
  std::string text{name(of.kind)};
  if (of.kind == fault_kind::delay) text += ' ' + format_duration(of.of);
  if (of.jitter > duration::zero()) text += " ± " + format_duration(of.jitter);
  if (of.bytes > 0) text += ' ' + std::to_string(of.bytes);
  return text;
}

}  // namespace

std::string input_of(std::string_view text, std::uint64_t n) {
  std::string made;
  while (!text.empty()) {
    auto const [value, length] = placeholder(text, n);
    made += length == 0 ? std::string{text.front()} : value;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return made;
}

std::string fault_plan::text() const {
  auto const time = lasts ? " for " + format_duration(*lasts) : "";
  switch (kind) {
    case kind_of::kill: return "kill " + target + time;
    case kind_of::pause: return "pause " + target + time;
    case kind_of::clock: return "clock " + target + (off < duration::zero() ? " -" : " +") + format_duration(std::chrono::abs(off)) + time;
    case kind_of::network: return "proxy " + target + ' ' + network_text(network) + time;
    case kind_of::command: break;
  }
  return "run " + run + time;
}

}  // namespace atone::drill
