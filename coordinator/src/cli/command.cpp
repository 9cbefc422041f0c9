#include "cli/command.hpp"

#include <array>
#include <fstream>
#include <iterator>

namespace atone::cli {

std::string arguments::get(std::string_view name, std::string_view otherwise) const {
  auto const found = values_.find(name);
  return found == values_.end() || found->second.empty() ? std::string{otherwise} : found->second.front();
}

std::vector<std::string> arguments::all(std::string_view name) const {
  auto const found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

command_spec const* find_command(std::string_view name) {
  for (auto const& one : command_table()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

exit_code report(error const& what, surroundings const& with) {
  with.screen.err() << "atone: " << printable(what.message) << '\n';
  return exit_code_of(what.code);
}

result<duration> typed_duration(arguments const& typed, std::string_view option, std::string_view otherwise) {
  auto parsed = parse_duration(typed.get(option, otherwise));
  if (parsed) return parsed;
  return error{errc::invalid_argument, "--" + std::string{option} + ": " + parsed.error().message};
}

result<std::string> read_text(std::string const& path, surroundings const& with) {
  if (path == "-") return std::string{std::istreambuf_iterator<char>{with.input}, {}};
  std::ifstream file{path, std::ios::binary};
  if (!file) return error{errc::invalid_argument, path + ": can't be opened"};
  std::string text;
  std::array<char, 65536> piece{};
  // By read(), which tells of a folder by its state: an iterator would throw.
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0) text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return error{errc::invalid_argument, path + ": can't be read"};
  return text;
}

}  // namespace atone::cli
