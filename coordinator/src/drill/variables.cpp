#include "drill/variables.hpp"

namespace atone::drill {
namespace {

class filler {
 public:
  filler(variable_lookup const& variables, yaml::report& out) : variables_(variables), out_(out) {}

  void fill(yaml::node& of) {
    for (auto& item : of.items) fill(item);
    for (auto& member : of.entries) fill(member.value);
    if (of.is_scalar() && of.text.find("${") != std::string::npos) of.text = filled(of);
  }

 private:
  std::string filled(yaml::node const& of) {
    std::string made;
    std::string_view rest = of.text;
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
      auto const end = rest.find('}');
      if (end == std::string_view::npos) {
        out_.mistake(of.at, "", "found `${` without its `}`", "a `${` that is meant as it stands is written $${");
        return made;
      }
      made += value_of(rest.substr(0, end), of);
      rest.remove_prefix(end + 1);
    }
    return made;
  }

  std::string value_of(std::string_view inside, yaml::node const& of) {
    auto const otherwise = inside.find(":-");
    std::string const name{inside.substr(0, otherwise)};
    if (auto found = variables_(name)) return *found;
    if (otherwise != std::string_view::npos) return std::string{inside.substr(otherwise + 2)};
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
