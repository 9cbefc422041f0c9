#include "cli/completion.hpp"

#include <vector>

#include "cli/command.hpp"

namespace atone::cli {
namespace {

// The words a value is chosen from; empty: files.
std::vector<std::string_view> choices_of(std::string_view name) {
  if (name == "status") return {"running", "compensating", "waiting", "paused", "completed", "compensated", "parked"};
  if (name == "dialect") return {"postgresql", "sqlite"};
  if (name == "SHELL") return {"bash", "zsh", "fish"};
  if (name == "ACTION") return {"migrate", "status"};
  return {};
}

std::string joined(std::vector<std::string_view> const& words, std::string_view between) {
  std::string out;
  for (auto const word : words) {
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

// Inside single quotes of a shell.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char const one : text) out += one == '\'' ? std::string{"'\\''"} : std::string(1, one);
  return out + "'";
}

std::string option_words(command_spec const& of) {
  std::string words;
  for (auto const& one : of.options) {
    words += words.empty() ? "--" : " --";
    words += one.name;
  }
  return words;
}

std::string command_words() {
  std::vector<std::string_view> names;
  for (auto const& one : command_table()) names.push_back(one.name);
  return joined(names, " ");
}

std::string bash_cases() {
  std::string cases;
  for (auto const& one : command_table()) {
    std::string words;
    for (auto const& argument : one.arguments) words += joined(choices_of(argument.name), " ");
    auto const options = option_words(one);
    words += words.empty() || options.empty() ? options : " " + options;
    cases += "    " + std::string{one.name} + ") words=" + quoted(words) + " ;;\n";
  }
  return cases;
}

std::string bash_script() {
  std::string script = "# bash completion for atone:  source <(atone completion bash)\n_atone() {\n";
  script += "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words\n  case $previous in\n";
  for (auto const* name : {"status", "dialect"}) {
    script += "    --" + std::string{name} + ") COMPREPLY=($(compgen -W " + quoted(joined(choices_of(name), " ")) +
              " -- \"$current\")); return ;;\n";
  }
  script += "  esac\n  case ${COMP_WORDS[1]} in\n" + bash_cases();
  script += "    *) words=" + quoted(command_words()) + " ;;\n  esac\n";
  script += "  [ \"$COMP_CWORD\" -gt 1 ] || words=" + quoted(command_words()) + "\n";
  script += "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n";
  script += "  case $current in -*) ;; *) [ \"$COMP_CWORD\" -gt 1 ] && COMPREPLY+=($(compgen -f -- \"$current\")) ;; esac\n  return 0\n}\n";
  return script + "complete -o filenames -F _atone atone\n";
}

// In zsh's option descriptions brackets and colons mean something.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (char const one : text) {
    if (one == '[' || one == ']' || one == ':') out += '\\';
    out += one;
  }
  return out;
}

std::string zsh_action(std::string_view name) {
  auto const choices = choices_of(name);
  return choices.empty() ? "_files" : "(" + joined(choices, " ") + ")";
}

std::string zsh_arguments(command_spec const& of) {
  std::string text;
  for (auto const& one : of.options) {
    auto spec = "--" + std::string{one.name} + "[" + zsh_text(one.help) + "]";
    if (!one.value.empty()) spec += ":" + zsh_text(one.value) + ":" + zsh_action(one.name);
    text += " " + quoted(spec);
  }
  for (auto const& one : of.arguments) text += " " + quoted("*:" + zsh_text(one.name) + ":" + zsh_action(one.name));
  return text;
}

std::string zsh_script() {
  std::string script =
      "#compdef atone\n# zsh completion for atone:  atone completion zsh > a folder of $fpath/_atone\n_atone() {\n  local -a commands=(\n";
  for (auto const& one : command_table()) script += "    " + quoted(std::string{one.name} + ":" + zsh_text(one.summary)) + "\n";
  script += "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n  local command=$words[2]\n";
  script += "  shift words; (( CURRENT-- ))\n  case $command in\n";
  for (auto const& one : command_table()) script += "    " + std::string{one.name} + ") _arguments" + zsh_arguments(one) + " ;;\n";
  return script + "  esac\n}\n_atone \"$@\"\n";
}

std::string fish_option(command_spec const& of, option_spec const& one) {
  auto line = "complete -c atone -n '__fish_seen_subcommand_from " + std::string{of.name} + "' -l " + std::string{one.name};
  if (one.letter != '\0') line += " -s " + std::string(1, one.letter);
  auto const choices = choices_of(one.name);
  if (!one.value.empty()) line += choices.empty() ? " -r" : " -x -a " + quoted(joined(choices, " "));
  return line + " -d " + quoted(one.help) + "\n";
}

std::string fish_script() {
  std::string script = "# fish completion for atone:  atone completion fish | source\n";
  for (auto const& one : command_table()) {
    script += "complete -c atone -f -n __fish_use_subcommand -a " + std::string{one.name} + " -d " + quoted(one.summary) + "\n";
    for (auto const& argument : one.arguments) {
      auto const choices = choices_of(argument.name);
      if (choices.empty()) continue;
      script +=
          "complete -c atone -f -n '__fish_seen_subcommand_from " + std::string{one.name} + "' -a " + quoted(joined(choices, " ")) + "\n";
    }
    for (auto const& option : one.options) script += fish_option(one, option);
  }
  return script;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return "";
}

}  // namespace atone::cli
