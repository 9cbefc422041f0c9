#include "pattern.hpp"

#include <re2/re2.h>

namespace atone::expr {
namespace {

constexpr std::int64_t memory_bytes_max = 1 << 20;  // of one compiled pattern

re2::RE2::Options options() {
  re2::RE2::Options chosen;
  chosen.set_log_errors(false);
  chosen.set_max_mem(memory_bytes_max);
  return chosen;
}

}  // namespace

struct pattern::engine {
  explicit engine(std::string_view text) : compiled(re2::StringPiece{text.data(), text.size()}, options()) {}
  re2::RE2 compiled;
};

pattern::pattern(std::unique_ptr<engine> made) : engine_(std::move(made)) {}
pattern::~pattern() = default;

result<std::shared_ptr<pattern const>> pattern::compile(std::string_view text) {
  if (text.size() > pattern_bytes_max) {
    return error{errc::exhausted, "a pattern of " + std::to_string(text.size()) + " bytes; at most " + std::to_string(pattern_bytes_max)};
  }
  auto made = std::make_unique<engine>(text);
  if (!made->compiled.ok()) return error{errc::invalid_argument, made->compiled.error()};
  return std::shared_ptr<pattern const>{new pattern{std::move(made)}};
}

bool pattern::found_in(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece{text.data(), text.size()}, engine_->compiled);
}

}  // namespace atone::expr
