// The program `atone`: finds out where it runs, and hands over to a command.
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <thread>

#include <atone/http.hpp>

#include "cli/parse.hpp"

namespace atone::cli {
namespace {

std::string environment(char const* name, std::string_view otherwise = "") {
  auto const* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::string{otherwise} : std::string{value};
}

std::size_t columns_of_terminal() {
  winsize size{};
  bool const known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : terminal_traits{}.width;
}

terminal_traits traits_of_terminal(bool no_colour) {
  terminal_traits traits;
  traits.interactive = isatty(STDOUT_FILENO) == 1 && environment("TERM") != "dumb";
  traits.colour = traits.interactive && !no_colour && environment("NO_COLOR").empty();
  auto const locale = environment("LC_ALL", environment("LC_CTYPE", environment("LANG")));
  traits.utf8 = locale != "C" && locale != "POSIX";
  if (traits.interactive) traits.width = columns_of_terminal();
  return traits;
}

api_answer fetch(api_request what, http::tls_options const& tls) {
  http::request sent;
  sent.method = std::move(what.method);
  sent.body = std::move(what.body);
  for (auto const& [name, value] : what.headers) sent.headers.add(name, value);
  auto came = http::fetch(what.url, std::move(sent), what.timeout, tls);
  api_answer answer;
  answer.failure = came.failure;
  answer.detail = std::move(came.detail);
  answer.status = came.response.status;
  answer.body = std::move(came.response.body);
  return answer;
}

surroundings surroundings_of(terminal const& screen, arguments const& typed) {
  http::tls_options tls;
  tls.ca_file = typed.get("ca");
  return {screen,
          std::cin,
          [tls](api_request what) { return fetch(std::move(what), tls); },
          [](duration span) { std::this_thread::sleep_for(span); },
          [] { return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now()); },
          environment("USER", environment("LOGNAME", "unknown")),
          typed.get("url", environment("ATONE_URL", "http://127.0.0.1:7070")),
          typed.get("token", environment("ATONE_API_TOKEN")),
          typed.get("store", environment("ATONE_STORE", "sqlite:atone.db"))};
}

int run(std::vector<std::string> words) {
  auto const line = parse_line(std::move(words), std::cout, std::cerr);
  if (line.command == nullptr) return static_cast<int>(line.code);
  terminal const screen{std::cout, std::cerr, traits_of_terminal(line.no_colour)};
  auto const code = line.command->run(line.typed, surroundings_of(screen, line.typed));
  std::cout.flush();
  return static_cast<int>(code);
}

}  // namespace
}  // namespace atone::cli

int main(int count, char** words) {
  std::signal(SIGPIPE, SIG_IGN);
  return atone::cli::run({words + 1, words + count});
}
