#include <array>
#include <charconv>
#include <cmath>

#include <atone/assert.hpp>
#include <atone/json.hpp>

#include <atone/utf8.hpp>

namespace atone::json {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

void append_escaped(std::string& out, char character) {
  constexpr std::string_view special = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
  auto const known = special.find(character);
  out += '\\';
  if (known != std::string_view::npos) {
    out += letters[known];
    return;
  }
  auto const bits = static_cast<unsigned char>(character);
  out += "u00";
  out += hex_digits[bits >> 4];
  out += hex_digits[bits & 15];
}

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> text{};
  auto const [end, failed] = std::to_chars(text.data(), text.data() + text.size(), value);
  ATONE_ASSERT(failed == std::errc{});
  out.append(text.data(), end);
}

// Bytes from `at` on that stand for themselves.
std::size_t plain_run(std::string_view text, std::size_t at) noexcept {
  auto const from = at;
  while (at < text.size()) {
    auto const byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') break;
    ++at;
  }
  return at - from;
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    if (auto const plain = plain_run(text, at); plain > 0) {
      out += text.substr(at, plain);
      at += plain;
      continue;
    }
    auto const length = utf8_length(text, at);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++at;
      continue;
    }
    char const here = text[at];
    if (length == 1 && (static_cast<unsigned char>(here) < 0x20 || here == '"' || here == '\\')) {
      append_escaped(out, here);
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  out += '"';
}

// Commas, and the order of keys and values.
void writer::before_value() {
  if (open_.empty()) {
    ATONE_ASSERT(out_.empty());  // one text, one value
    return;
  }
  if (open_.back() == '{') {
    ATONE_ASSERT(after_key_);
    after_key_ = false;
    return;
  }
  if (!first_) out_ += ',';
  first_ = false;
}

writer& writer::begin_object() {
  before_value();
  out_ += '{';
  open_.push_back('{');
  first_ = true;
  return *this;
}

writer& writer::end_object() {
  ATONE_ASSERT(!open_.empty() && open_.back() == '{' && !after_key_);
  out_ += '}';
  open_.pop_back();
  first_ = false;
  return *this;
}

writer& writer::begin_array() {
  before_value();
  out_ += '[';
  open_.push_back('[');
  first_ = true;
  return *this;
}

writer& writer::end_array() {
  ATONE_ASSERT(!open_.empty() && open_.back() == '[');
  out_ += ']';
  open_.pop_back();
  first_ = false;
  return *this;
}

writer& writer::key(std::string_view name) {
  ATONE_ASSERT(!open_.empty() && open_.back() == '{' && !after_key_);
  if (!first_) out_ += ',';
  first_ = false;
  append_string(out_, name);
  out_ += ':';
  after_key_ = true;
  return *this;
}

writer& writer::string(std::string_view text) {
  before_value();
  append_string(out_, text);
  return *this;
}

writer& writer::number(std::int64_t value) {
  before_value();
  append_number(out_, value);
  return *this;
}

writer& writer::number(std::uint64_t value) {
  before_value();
  append_number(out_, value);
  return *this;
}

writer& writer::number(double value) {
  ATONE_ASSERT(std::isfinite(value));
  before_value();
  append_number(out_, value);
  return *this;
}

writer& writer::boolean(bool value) {
  before_value();
  out_ += value ? "true" : "false";
  return *this;
}

writer& writer::null() {
  before_value();
  out_ += "null";
  return *this;
}

writer& writer::raw(std::string_view json) {
  ATONE_ASSERT(!json.empty());
  before_value();
  out_ += json;
  return *this;
}

std::string writer::take() {
  ATONE_ASSERT(open_.empty() && !out_.empty());
  auto finished = std::move(out_);
  *this = writer{};
  return finished;
}

}  // namespace atone::json
