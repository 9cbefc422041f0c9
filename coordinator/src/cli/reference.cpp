#include "cli/reference.hpp"

#include "cli/command.hpp"

namespace atone::cli {
namespace {

constexpr std::string_view opening = R"(# The command line

`atone` speaks to a running `atoned` over HTTP; `init`, `lint`, `draw`, `barrier`, `completion` and `version` need no daemon, and
`db` opens the store itself. Tables are for people; `-o json` prints what the daemon answered, unchanged, for programs.

| variable | meaning |
|---|---|
| `ATONE_URL` | address of the daemon, instead of `http://127.0.0.1:7070` |
| `ATONE_API_TOKEN` | secret of a bearer token |
| `ATONE_STORE` | store for `db` and `doctor`, instead of `sqlite:atone.db` |
| `NO_COLOR` | set to anything: no colours (nor are there any when the output is no terminal) |

Text that came from outside (causes, keys, notes) is shown with control characters made visible.

## Exit statuses

| status | meaning |
|---|---|
)";

// Bars would end the cell.
std::string cell(std::string_view text) {
  std::string out;
  for (char const one : text) {
    if (one == '|') out += '\\';
    out += one;
  }
  return out;
}

std::string usage_of(command_spec const& of) {
  std::string usage = "atone " + std::string{of.name};
  for (auto const& one : of.arguments) {
    auto const word = std::string{one.name} + (one.many ? "…" : "");
    usage += one.required ? " " + word : " [" + word + "]";
  }
  return of.options.empty() ? usage : usage + " [options]";
}

std::string option_row(option_spec const& one) {
  std::string words = "`";
  if (one.letter != '\0') words += "-" + std::string(1, one.letter) + ", ";
  words += "--" + std::string{one.name};
  if (!one.value.empty()) words += " " + std::string{one.value};
  return "| " + words + "` | " + cell(one.help) + " |\n";
}

std::string command_section(command_spec const& of) {
  std::string text = "### atone " + std::string{of.name} + "\n\n`" + usage_of(of) + "`: " + std::string{of.summary} + ".\n\n";
  if (of.arguments.empty() && of.options.empty()) return text;
  text += "| word | meaning |\n|---|---|\n";
  for (auto const& one : of.arguments) text += "| `" + std::string{one.name} + "` | " + cell(one.help) + " |\n";
  for (auto const& one : of.options) text += option_row(one);
  return text + "\n";
}

}  // namespace

std::string reference_page() {
  std::string page{opening};
  for (auto const& one : exit_code_table()) {
    page += "| " + std::to_string(static_cast<std::int32_t>(one.code)) + " | " + cell(one.meaning) + " |\n";
  }
  std::string_view group;
  for (auto const& one : command_table()) {
    if (one.group != group) page += "\n## " + std::string{one.group} + "\n\n";
    group = one.group;
    page += command_section(one);
  }
  while (page.ends_with("\n\n")) page.pop_back();
  return page;
}

}  // namespace atone::cli
