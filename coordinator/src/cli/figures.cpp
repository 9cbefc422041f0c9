#include "cli/figures.hpp"

#include <array>
#include <cstdio>

namespace atone::cli {
namespace {

using std::chrono::duration_cast;

template <class... Values>
std::string printed(char const* form, Values... values) {
  std::array<char, 64> text{};
  auto const size = std::snprintf(text.data(), text.size(), form, values...);
  return {text.data(), static_cast<std::size_t>(size)};
}

long long whole(duration span, duration unit) {
  return span / unit;
}

}  // namespace

std::string readable(duration span) {
  using namespace std::chrono;
  if (span < duration::zero()) span = duration::zero();
  if (span < seconds{1}) return printed("%lld ms", whole(span, milliseconds{1}));
  if (span < minutes{1}) return printed("%lld.%02lld s", whole(span, seconds{1}), whole(span % seconds{1}, milliseconds{10}));
  if (span < hours{1}) return printed("%lld min %02lld s", whole(span, minutes{1}), whole(span % minutes{1}, seconds{1}));
  if (span < hours{48}) return printed("%lld h %02lld min", whole(span, hours{1}), whole(span % hours{1}, minutes{1}));
  return printed("%lld d %02lld h", whole(span, hours{24}), whole(span % hours{24}, hours{1}));
}

std::string readable(timestamp at) {
  auto text = format_timestamp(at).substr(0, 19);  // 2026-11-30T13:37:00
  if (text.size() == 19) text[10] = ' ';
  return text;
}

std::string ago(timestamp at, timestamp now) {
  return readable(duration_cast<duration>(now - at)) + " ago";
}

}  // namespace atone::cli
