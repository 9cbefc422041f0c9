// Collects mistakes and warnings while a definition is read; all of them, not the first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <atone/diagnostic.hpp>

#include <atone/yaml/node.hpp>

namespace atone::yaml {

// Diagnostics of one document. Belongs to one load.
class report {
 public:
  // Beyond what is shown, so that the first ones in the text are shown whatever the order they were found in.
  static constexpr std::size_t kept_max = 10 * load_limits::diagnostics_max;

  void mistake(place at, std::string_view path, std::string message, std::string hint = {});
  void mistake(spot const& at, std::string message, std::string hint = {}) {
    mistake(at->at, at.path, std::move(message), std::move(hint));
  }
  void warning(place at, std::string_view path, std::string message, std::string hint = {});
  bool ok() const noexcept { return mistakes_ == 0; }
  std::size_t mistakes() const noexcept { return mistakes_; }

  // In the order of the text, the first diagnostics_max of them; mistakes go before warnings when there are more.
  std::vector<diagnostic> take();

 private:
  void add(diagnostic::severity_kind severity, place at, std::string_view path, std::string message, std::string hint);

  std::vector<diagnostic> kept_;
  std::size_t mistakes_ = 0;
};

}  // namespace atone::yaml
