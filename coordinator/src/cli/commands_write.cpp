// init, lint, publish, definitions. (draw: commands_draw.cpp)
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include <atone/features/feature_set.hpp>
#include <atone/load.hpp>

#include "cli/command.hpp"
#include "cli/daemon_client.hpp"
#include "cli/example_saga.hpp"
#include "cli/saga_name.hpp"
#include "cli/table.hpp"
#include "cli/wire.hpp"

namespace atone::cli {
namespace {

// What lint found in one file.
struct linted {
  std::string file;
  std::vector<diagnostic> diagnostics;
  std::size_t mistakes = 0;

  linted() = default;
};

std::string shown_name(std::string const& file) {
  return file == "-" ? "standard input" : file;
}

// What a document begins with tells its kind; whatever is no feature set is read as a saga.
bool is_feature_set(std::string_view text) {
  constexpr std::string_view key = "feature_set:";
  return text.substr(0, key.size()) == key || text.find("\nfeature_set:") != std::string_view::npos;
}

linted counted_mistakes(std::string const& file, std::vector<diagnostic> diagnostics) {
  linted found;
  found.file = shown_name(file);
  found.diagnostics = std::move(diagnostics);
  for (auto const& one : found.diagnostics) found.mistakes += one.severity == diagnostic::severity_kind::mistake ? 1 : 0;
  return found;
}

linted lint_text(std::string const& file, std::string const& text) {
  return counted_mistakes(file, is_feature_set(text) ? features::load_feature_set(text).diagnostics : load_definition(text).diagnostics);
}

void print_diagnostics(linted const& found, std::ostream& to) {
  for (auto const& one : found.diagnostics) to << printable_lines(format(one, found.file)) << '\n';
}

std::string counted(std::size_t count, std::string const& word) {
  return std::to_string(count) + ' ' + word + (count == 1 ? "" : "s");
}

void write_diagnostic(json::writer& to, diagnostic const& one, std::string const& file) {
  to.begin_object();
  to.key("file").string(file).key("line").number(std::uint64_t{one.line}).key("column").number(std::uint64_t{one.column});
  to.key("severity").string(one.severity == diagnostic::severity_kind::mistake ? "mistake" : "warning");
  to.key("path").string(one.path).key("message").string(one.message).key("hint").string(one.hint);
  to.end_object();
}

void print_json(std::vector<linted> const& all, std::size_t mistakes, terminal const& to) {
  json::writer out;
  out.begin_object().key("mistakes").number(std::uint64_t{mistakes}).key("diagnostics").begin_array();
  for (auto const& found : all) {
    for (auto const& one : found.diagnostics) write_diagnostic(out, one, found.file);
  }
  out.end_array().end_object();
  to.out() << out.take() << '\n';
}

void print_summary(std::vector<linted> const& all, std::size_t mistakes, terminal const& to) {
  std::size_t total = 0;
  for (auto const& found : all) {
    print_diagnostics(found, to.out());
    total += found.diagnostics.size();
  }
  auto const warnings = total - mistakes;
  auto line = mistakes == 0 ? std::string{"No mistakes"} : counted(mistakes, "mistake");
  if (warnings != 0) line += ", " + counted(warnings, "warning");
  to.out() << to.paint(mistakes == 0 ? style::good : style::bad, line + ".") << '\n';
}

// "my-saga.yaml" -> "my-saga": letters, digits and dashes of the file's name.
std::string name_from(std::string const& file) {
  std::string name;
  for (char const one : std::filesystem::path{file}.stem().string()) {
    auto const byte = static_cast<unsigned char>(one);
    if (std::isalnum(byte) != 0) name += static_cast<char>(std::tolower(byte));
    if ((one == '-' || one == '_' || one == ' ') && !name.empty()) name += '-';
  }
  auto const has_front = !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0;
  return has_front ? name : "my-saga";
}

void print_definitions(json::value const& list, terminal const& to) {
  table out{{"saga", "version", "published", "hash"}};
  for (auto const& one : elements_of(list, "definitions")) {
    out.add({printable(text_of(one, "saga")), std::to_string(integer_of(one, "version")),
             printable(text_of(one, "published_at").substr(0, 19)), printable(text_of(one, "hash").substr(0, 12))});
  }
  out.print(to);
}

}  // namespace

exit_code run_init(arguments const& typed, surroundings const& with) {
  auto const file = typed.get("FILE");
  if (std::filesystem::exists(file)) return report({errc::invalid_argument, file + " exists already: it is left as it is"}, with);
  std::ofstream to{file, std::ios::binary};
  to << example_saga(name_from(file));
  if (!to.flush()) return report({errc::invalid_argument, file + ": can't be written"}, with);
  with.screen.out() << "wrote " << printable(file) << "; next: atone lint " << printable(file) << '\n';
  return exit_code::done;
}

exit_code run_lint(arguments const& typed, surroundings const& with) {
  std::vector<linted> all;
  std::size_t mistakes = 0;
  for (auto const& file : typed.all("FILE")) {
    auto text = read_text(file, with);
    if (!text) return report(text.error(), with);
    all.push_back(lint_text(file, *text));
    mistakes += all.back().mistakes;
  }
  if (with.wants_json(typed)) {
    print_json(all, mistakes, with.screen);
  } else {
    print_summary(all, mistakes, with.screen);
  }
  return mistakes == 0 ? exit_code::done : exit_code::negative;
}

exit_code run_publish(arguments const& typed, surroundings const& with) {
  auto const file = typed.get("FILE");
  auto text = read_text(file, with);
  if (!text) return report(text.error(), with);
  auto const found = counted_mistakes(file, load_definition(*text).diagnostics);
  print_diagnostics(found, with.screen.err());
  if (found.mistakes != 0) {
    with.screen.err() << counted(found.mistakes, "mistake") << ". Nothing was published.\n";
    return exit_code::negative;
  }
  header_fields headers;
  headers.emplace_back("Content-Type", "application/yaml");
  auto const answer = daemon_client{with}.post(target{"/v1/definitions"}, std::move(*text), std::move(headers));
  if (!answer) return report(answer.error(), with);
  if (with.wants_json(typed)) {
    with.screen.out() << answer->raw() << '\n';
  } else {
    with.screen.out() << "published " << printable(text_of(*answer, "saga")) << '@' << integer_of(*answer, "version") << "  "
                      << printable(text_of(*answer, "hash").substr(0, 12)) << '\n';
  }
  return exit_code::done;
}

exit_code run_definitions(arguments const& typed, surroundings const& with) {
  target from{"/v1/definitions"};
  bool const one = typed.has("NAME");
  if (one) add_saga_name(from, typed.get("NAME"));
  auto const answer = daemon_client{with}.get(from);
  if (!answer) return report(answer.error(), with);
  if (with.wants_json(typed)) {
    with.screen.out() << answer->raw() << '\n';
  } else if (one) {
    with.screen.out() << printable_lines(text_of(*answer, "text"));
  } else {
    print_definitions(*answer, with.screen);
  }
  return exit_code::done;
}

}  // namespace atone::cli
