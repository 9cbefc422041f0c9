#include "drill/proxy/message_splitter.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace atone::drill {
namespace {

constexpr std::string_view head_end = "\r\n\r\n";

bool same_word(std::string_view left, std::string_view right) noexcept {
  auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [&](char a, char b) { return lower(a) == lower(b); });
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The body's length as the head tells it; nothing when it is told in another way.
std::optional<std::size_t> body_length(std::string_view head) {
  std::size_t length = 0;
  while (!head.empty()) {
    auto const end = std::min(head.find("\r\n"), head.size());
    auto const line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    auto const colon = std::min(line.find(':'), line.size());
    if (same_word(line.substr(0, colon), "transfer-encoding")) return std::nullopt;
    if (!same_word(line.substr(0, colon), "content-length")) continue;
    auto const text = trimmed(line.substr(std::min(colon + 1, line.size())));
    auto const [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (failed != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  }
  return length;
}

}  // namespace

bool message_splitter::take_one(std::vector<std::string>& out) {
  if (!kept_.empty() && (kept_.front() < 'A' || kept_.front() > 'Z')) lost_ = true;
  auto const end = lost_ ? std::string::npos : kept_.find(head_end);
  if (end == std::string::npos) return false;
  auto const body = body_length(std::string_view{kept_}.substr(0, end));
  if (!body || *body > message_max) {
    lost_ = true;
    return false;
  }
  auto const whole = end + head_end.size() + *body;
  if (kept_.size() < whole) return false;
  out.push_back(kept_.substr(0, whole));
  kept_.erase(0, whole);
  return true;
}

std::vector<std::string> message_splitter::add(std::string_view bytes) {
  std::vector<std::string> whole;
  if (lost_) return whole;
  kept_ += bytes;
  while (take_one(whole)) {
  }
  lost_ = lost_ || kept_.size() > message_max;
  if (lost_) kept_ = {};
  return whole;
}

}  // namespace atone::drill
