// Regular expressions: RE2's, whose time grows linearly with the text whatever the pattern. The only file that sees RE2 is pattern.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <atone/result.hpp>

namespace atone::expr {

inline constexpr std::size_t pattern_bytes_max = 1024;

class pattern {
 public:
  // The error's message is RE2's reason.
  static result<std::shared_ptr<pattern const>> compile(std::string_view text);

  ~pattern();
  pattern(pattern const&) = delete;
  pattern& operator=(pattern const&) = delete;

  // Anywhere in the text, as CEL has it; ^ and $ anchor.
  bool found_in(std::string_view text) const;

 private:
  struct engine;
  explicit pattern(std::unique_ptr<engine> made);

  std::unique_ptr<engine> engine_;
};

}  // namespace atone::expr
