#include <atone/yaml/read_tree.hpp>

#include <algorithm>
#include <sstream>
#include <string>

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <atone/yaml/source.hpp>

#include "tree_builder.hpp"

namespace atone::yaml {
namespace {

// Whether an unquoted expression stands on this line before `column` (from 0): then YAML has probably cut it.
bool expression_before(std::string_view line, std::size_t column) {
  auto const before = line.substr(0, std::min(column, line.size()));
  for (std::size_t at = before.find('='); at != std::string_view::npos; at = before.find('=', at + 1)) {
    auto const last = before.substr(0, at).find_last_not_of(' ');
    if (last == std::string_view::npos) return true;
    auto const spaced = last + 1 < at;
    if (std::string_view{"{[,"}.find(before[last]) != std::string_view::npos) return true;
    if (spaced && (before[last] == ':' || before[last] == '-')) return true;
  }
  return false;
}

bool indented_by_tab(std::string_view line) {
  auto const first = line.find_first_not_of(" \t");
  return line.substr(0, first).find('\t') != std::string_view::npos;
}

struct wording {
  std::string_view theirs;
  std::string_view message;
  std::string_view hint;
};
constexpr wording wordings[] = {
    {"illegal map value", "a value can't begin here", "quote a text that contains `: `; indent with spaces, keys of one map equally"},
    {"end of map flow not found", "this { } map is not closed, or a bracket inside it is not quoted",
     "quote texts with , [ ] { } inside { }"},
    {"end of sequence flow not found", "this [ ] list is not closed, or a bracket inside it is not quoted",
     "quote texts with , [ ] { } inside [ ]"},
    {"illegal tab when looking for indentation", "a tab is used for indentation", "indent with spaces"},
    {"the referenced anchor is not defined", "the alias refers to an anchor that is not defined before it", ""},
    {"end of map not found", "the map ends here unexpectedly", "keys of one map must be indented equally, with spaces"},
    {"end of sequence not found", "the list ends here unexpectedly", "items of one list must be indented equally, with spaces"},
    {"unknown token", "this character can't begin a value", "quote the text"},
};

void report_syntax(std::string_view text, YAML::Exception const& failure, std::string const& path, report& out) {
  auto const offset = failure.mark.is_null() ? text.size() : static_cast<std::size_t>(std::max(failure.mark.pos, 0));
  auto const at = place_of(text, offset);
  auto const line = line_at(text, offset);
  auto const start = static_cast<std::size_t>(line.data() - text.data());
  if (indented_by_tab(line)) return out.mistake(at, path, "a tab is used for indentation", "indent with spaces");
  if (expression_before(line, offset - std::min(start, offset) + 1)) {
    return out.mistake(at, path,
                       "YAML cuts the expression on this line here: `: `, ` #`, and inside { } or [ ] also , [ ] { } end a plain text",
                       "quote the expression");
  }
  for (auto const& known : wordings) {
    if (failure.msg == known.theirs) return out.mistake(at, path, std::string{known.message}, std::string{known.hint});
  }
  out.mistake(at, path, "not valid YAML: " + failure.msg);
}

}  // namespace

std::optional<node> read_tree(std::string_view text, report& out, std::string_view wanted, std::string_view beginning) {
  std::istringstream stream{std::string{text}};
  tree_builder builder{text, out};
  try {
    YAML::Parser parser{stream};
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (stop_reading const&) {
    return std::nullopt;
  } catch (YAML::Exception const& failure) {
    report_syntax(text, failure, builder.last_path(), out);
    return std::nullopt;
  } catch (std::exception const& failure) {
    out.mistake(place{}, "", std::string{"the YAML could not be read: "} + failure.what());
    return std::nullopt;
  }
  auto root = builder.take();
  if (!root) out.mistake(place{}, "", "the document is empty; expected " + std::string{wanted}, std::string{beginning});
  return root;
}

}  // namespace atone::yaml
