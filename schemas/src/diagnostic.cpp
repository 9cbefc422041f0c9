#include <atone/diagnostic.hpp>

namespace atone {

std::string format(diagnostic const& of, std::string_view file) {
  auto text = std::string{file} + ':' + std::to_string(of.line) + ':' + std::to_string(of.column) + "  ";
  if (!of.path.empty()) text += of.path + "   ";
  if (of.severity == diagnostic::severity_kind::warning) text += "warning: ";
  text += of.message;
  if (!of.hint.empty()) text += "\n    " + of.hint;
  return text;
}

}  // namespace atone
