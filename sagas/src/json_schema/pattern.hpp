// A regular expression of a schema. RE2 stands behind it: matching takes time in proportion to the text, whatever the pattern.
// Not taken of ECMA 262: look-around and back references, which RE2 refuses; the message says so.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <atone/result.hpp>

namespace re2 {
class RE2;
}

namespace atone::schema_detail {

class pattern {
 public:
  static constexpr std::size_t size_max = 1024;  // bytes

  // The error's message says what RE2 did not take.
  static result<pattern> compile(std::string const& text);
  // Anywhere in the text, as the specification asks; a pattern that means the whole text is anchored.
  bool found_in(std::string_view text) const;
  std::string const& text() const noexcept { return text_; }

 private:
  pattern(std::string text, std::shared_ptr<re2::RE2 const> compiled) : text_(std::move(text)), compiled_(std::move(compiled)) {}

  std::string text_;
  std::shared_ptr<re2::RE2 const> compiled_;
};

}  // namespace atone::schema_detail
