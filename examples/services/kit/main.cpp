#include <csignal>
#include <iostream>

#include <pthread.h>

#include "service.hpp"

namespace kit {
namespace {

// Blocked in every thread that is started from here on, so that only wait_for_stop() sees them.
sigset_t block_stop_signals() {
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);
  return stops;
}

void wait_for_stop(sigset_t const& stops) {
  int received = 0;
  while (sigwait(&stops, &received) != 0) {
  }
}

}  // namespace

int run_service(service_definition const& of, std::vector<std::string> const& arguments) {
  auto const options = parse_options(arguments, of.extras, "sqlite:" + of.name + ".db");
  if (!options) {
    std::cerr << of.name << ": " << options.error().message << '\n';
    return 2;
  }
  if (options->help) {
    std::cout << help_text(of.name, *options);
    return 0;
  }
  auto const stops = block_stop_signals();
  auto running = service::start(of, *options);
  if (!running) {
    std::cerr << of.name << ": " << running.error().message << '\n';
    return 1;
  }
  std::cout << "listening on 127.0.0.1:" << (*running)->port() << std::endl;
  wait_for_stop(stops);
  (*running)->stop();
  return 0;
}

}  // namespace kit
