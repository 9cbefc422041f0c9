#include <filesystem>
#include <fstream>

#include <atone/draw.hpp>
#include <atone/load.hpp>

#include "cli/command.hpp"
#include "cli/graphviz.hpp"

namespace atone::cli {
namespace {

result<std::string> drawn(definition const& what, std::string const& extension) {
  if (extension.empty() || extension == ".mmd") return draw_mermaid(what);
  if (extension == ".dot") return draw_dot(what);
  if (extension == ".svg" || extension == ".png") return run_graphviz(draw_dot(what), extension.substr(1));
  return error{errc::invalid_argument, "-o: '" + extension + "' is no kind of drawing: expected .svg, .png, .dot or .mmd"};
}

exit_code report_mistakes(loaded const& what, std::string const& file, surroundings const& with) {
  for (auto const& one : what.diagnostics) with.screen.err() << printable_lines(format(one, file)) << '\n';
  with.screen.err() << "Nothing was drawn.\n";
  return exit_code::negative;
}

}  // namespace

exit_code run_draw(arguments const& typed, surroundings const& with) {
  auto const file = typed.get("FILE");
  auto const text = read_text(file, with);
  if (!text) return report(text.error(), with);
  auto const what = load_definition(*text);
  if (!what.ok()) return report_mistakes(what, file, with);
  auto const path = typed.get("output");
  auto const picture = drawn(*what.definition, std::filesystem::path{path}.extension().string());
  if (!picture) return report(picture.error(), with);
  if (path.empty()) {
    with.screen.out() << *picture;
    return exit_code::done;
  }
  std::ofstream to{path, std::ios::binary | std::ios::trunc};
  to << *picture;
  if (!to.flush()) return report({errc::invalid_argument, path + ": can't be written"}, with);
  return exit_code::done;
}

}  // namespace atone::cli
