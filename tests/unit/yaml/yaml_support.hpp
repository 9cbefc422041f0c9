// Small definitions to load, and what came of it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <atone/load.hpp>

#include <atone/yaml/read_tree.hpp>
#include <atone/yaml/report.hpp>

namespace atone::yaml_test {

inline std::string read_file(std::filesystem::path const& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::filesystem::path source_dir() {
  return ATONE_SOURCE_DIR;
}

inline std::vector<std::filesystem::path> files_of(std::filesystem::path const& folder, std::string const& extension) {
  std::vector<std::filesystem::path> found;
  for (auto const& one : std::filesystem::directory_iterator{folder}) {
    if (one.path().extension() == extension) found.push_back(one.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// A saga around these steps (each line indented by two), with the input {id: integer, note?: string} and two services.
inline std::string saga_with(std::string const& steps, std::string const& tail = "") {
  return "saga: tested\nversion: 1\ndeadline: 1m\n"
         "input:\n"
         "  type: object\n"
         "  required: [id]\n"
         "  properties: {id: {type: integer}, note: {type: string}}\n"
         "services:\n"
         "  shop: {local: shop}\n"
         "  orders: {http: \"http://127.0.0.1:7001\"}\n"
         "steps:\n" +
         steps + tail;
}

// One read-only step with these further lines.
inline std::string saga_of_step(std::string const& lines) {
  return saga_with("  - id: one\n    read_only: true\n" + lines);
}

// All diagnostics, a line each, with hints.
inline std::string told(loaded const& of) {
  std::string text;
  for (auto const& one : of.diagnostics) text += format(one, "f") + "\n";
  return text;
}

inline std::size_t mistakes_in(loaded const& of) {
  return static_cast<std::size_t>(std::count_if(of.diagnostics.begin(), of.diagnostics.end(),
                                                [](diagnostic const& one) { return one.severity == diagnostic::severity_kind::mistake; }));
}

inline action_verb const& action_of(step const& of) {
  return std::get<action_verb>(of.verb);
}
inline action_verb const& first_action(loaded const& of) {
  return action_of(of.definition->steps.at(0));
}

// A tree, and what was said while it was read.
struct read_back {
  std::optional<yaml::node> root;
  std::vector<diagnostic> said;
};

inline read_back read(std::string_view text) {
  yaml::report out;
  read_back done;
  done.root = yaml::read_tree(text, out, "a document", "");
  done.said = out.take();
  return done;
}

// The first message, or nothing.
inline std::string first(std::vector<diagnostic> const& of) {
  return of.empty() ? std::string{} : of.front().message;
}

}  // namespace atone::yaml_test
