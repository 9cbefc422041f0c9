// atoned: the coordinator as a daemon. Exit codes: 0 stopped as asked, 1 could not start, 2 the command line can't be used.
#include <iostream>

#include "daemon/daemon.hpp"

int main(int count, char** words) {
  using namespace atone::daemon;
  auto const line = parse_line(count, words, std::cout, std::cerr);
  if (!line.run) return line.exit_code;
  log lines{line.run->log_level};
  // "listening on 127.0.0.1:7070 (http://127.0.0.1:7070)": scripts that started it on port 0 read the port from this line.
  auto const outcome = run(*line.run, lines, [](std::string const& url) {
    std::cout << "listening on " << url.substr(url.find("://") + 3) << " (" << url << ')' << std::endl;
  });
  if (outcome) return 0;
  lines.write(log_level::error, outcome.error().message, {{"code", atone::name(outcome.error().code)}});
  return 1;
}
