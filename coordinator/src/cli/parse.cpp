#include "cli/parse.hpp"

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>

namespace atone::cli {
namespace {

// Where CLI11 writes; lives as long as the parser.
struct slot {
  std::string_view name;
  std::vector<std::string> values;
  bool flag = false;
};

std::string flag_names(option_spec const& one) {
  std::string names = "--" + std::string{one.name};
  return one.letter == '\0' ? names : "-" + std::string(1, one.letter) + "," + names;
}

class parser {
 public:
  parser() : app_("Atone: sagas across services, all or nothing.", "atone") {
    app_.require_subcommand(1);
    app_.add_flag("--no-color", no_colour_, "no colours (as with NO_COLOR)");
    app_.footer("`atone COMMAND --help` tells more. Exit statuses: docs/cli.md.");
    for (auto const& one : command_table()) add_command(one);
  }

  parsed_line parse(std::vector<std::string> words, std::ostream& out, std::ostream& err) {
    parsed_line line;
    try {
      std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
      app_.parse(std::move(words));
    } catch (CLI::ParseError const& why) {
      auto const code = app_.exit(why, out, err);
      line.code = code == 0 ? exit_code::done : exit_code::usage;
      return line;
    }
    line.no_colour = no_colour_;
    line.command = find_command(app_.get_subcommands().front()->get_name());
    for (auto const& one : slots_) take(*one, line);
    return line;
  }

 private:
  void add_command(command_spec const& one) {
    auto* sub = app_.add_subcommand(std::string{one.name}, std::string{one.summary});
    sub->group(std::string{one.group});
    sub->fallthrough();
    for (auto const& argument : one.arguments) {
      auto* added = sub->add_option(std::string{argument.name}, new_slot(argument.name).values, std::string{argument.help});
      added->required(argument.required);
      if (!argument.many) added->expected(argument.required ? 1 : 0, 1);
      added->type_name("");
    }
    for (auto const& option : one.options) {
      auto& to = new_slot(option.name);
      if (option.value.empty()) {
        sub->add_flag(flag_names(option), to.flag, std::string{option.help});
      } else {
        auto* added = sub->add_option(flag_names(option), to.values, std::string{option.help});
        added->allow_extra_args(false)->type_name(std::string{option.value});  // one value each time; may be repeated
      }
    }
  }

  slot& new_slot(std::string_view name) {
    slots_.push_back(std::make_unique<slot>());
    slots_.back()->name = name;
    return *slots_.back();
  }

  static void take(slot& from, parsed_line& to) {
    if (from.flag) to.typed.add(from.name, "yes");
    for (auto& value : from.values) to.typed.add(from.name, std::move(value));
  }

  CLI::App app_;
  std::vector<std::unique_ptr<slot>> slots_;
  bool no_colour_ = false;
};

}  // namespace

parsed_line parse_line(std::vector<std::string> words, std::ostream& out, std::ostream& err) {
  return parser{}.parse(std::move(words), out, err);
}

}  // namespace atone::cli
