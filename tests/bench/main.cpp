// atone_bench NAME [FLAG…]: measures Atone with servers of its own. Exit codes: 0 measured, 1 could not be measured, 2 the command
// line can't be used, 130 interrupted.
#include <cstdio>
#include <map>
#include <string>

#include "commands.hpp"
#include "failure.hpp"

namespace {

using command = void (*)(bench::stage&);

std::map<std::string, command> commands() {
  return {{"throughput", bench::throughput}, {"store-limit", bench::store_limit},
          {"recovery", bench::recovery},     {"memory", bench::memory},
          {"growth", bench::growth},         {"overload", bench::overload},
          {"retention", bench::retention},   {"peers", bench::peers},
          {"waiting", bench::waiting},       {"stress", bench::stress}};
}

int measure(command which, bench::options const& with) {
  try {
    bench::waiter const clock;
    bench::stage on{clock, with};
    which(on);
    return 0;
  } catch (bench::interrupted const&) {
    return 130;
  } catch (std::exception const& why) {
    std::fprintf(stderr, "bench: %s\n", why.what());
    return 1;
  }
}

}  // namespace

int main(int count, char** words) {
  auto const known = commands();
  try {
    auto const with = bench::read_options(count, words);
    auto const found = known.find(with.name);
    if (found != known.end()) return measure(found->second, with);
    std::fputs(bench::usage_text().c_str(), with.name.empty() || with.name == "--help" ? stdout : stderr);
    return with.name == "--help" ? 0 : 2;
  } catch (bench::failure const& why) {
    std::fprintf(stderr, "bench: %s\n", why.what());
    return 2;
  }
}
