#include "drill/variables.hpp"

namespace atone::drill {
namespace {

class filler {
 public:
  filler(variable_lookup const& variables, yaml::report& out) : variables_(variables), out_(out) {}

  void fill(yaml::node& of) {
    for (auto& item : of.items) fill(item);
    for (auto& member : of.entries) fill(member.value);
    if (of.is_scalar() && of.text.find("${") != std::string::npos) of.text = filled(of.text, of);
  }

 private:
  std::string filled(std::string_view rest, yaml::node const& of) {
    std::string made;
    while (!rest.empty()) {
      auto const at = rest.find("${");
      if (at == std::string_view::npos) return made.append(rest);
      bool const escaped = at > 0 && rest[at - 1] == '$';
      made.append(rest.substr(0, escaped ? at - 1 : at));
      rest.remove_prefix(at + 2);
      if (escaped) {
        made += "${";
        continue;
      }
      auto const end = end_of(rest);
      if (end == std::string_view::npos) {
        out_.mistake(of.at, "", "found `${` without its `}`", "a `${` that is meant as it stands is written $${");
        return made;
      }
      made += value_of(rest.substr(0, end), of);
      rest.remove_prefix(end + 1);
    }
    return made;
  }

  // The brace that closes, past those of what stands inside.
  static std::size_t end_of(std::string_view text) {
    std::size_t open = 1;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text.substr(at).starts_with("${")) ++open;
      if (text[at] == '}' && --open == 0) return at;
    }
    return std::string_view::npos;
  }

  std::string value_of(std::string_view inside, yaml::node const& of) {
    auto const otherwise = inside.find(":-");
    std::string const name{inside.substr(0, otherwise)};
    if (auto found = variables_(name)) return *found;
    if (otherwise != std::string_view::npos) return filled(inside.substr(otherwise + 2), of);
    out_.mistake(of.at, "", "the environment variable " + name + " is not set", "set it, or give another value: ${" + name + ":-value}");
    return {};
  }

  variable_lookup const& variables_;
  yaml::report& out_;
};

}  // namespace

void fill_in(yaml::node& tree, variable_lookup const& variables, yaml::report& out) {
  filler{variables, out}.fill(tree);
}

}  // namespace atone::drill
