#include "cli/drill_command.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "cli/audit_command.hpp"
#include "drill/clock_library.hpp"
#include "drill/run.hpp"

namespace atone::cli {
namespace {

std::atomic<bool> interrupt_seen{false};

void note_interrupt(int) {
  interrupt_seen = true;
}

// While it lives, SIGINT, SIGTERM and SIGHUP end the drill in good order instead of the program.
class interrupts {
 public:
  interrupts()
      : on_int_(std::signal(SIGINT, note_interrupt)),
        on_term_(std::signal(SIGTERM, note_interrupt)),
        on_hang_up_(std::signal(SIGHUP, note_interrupt)) {
    interrupt_seen = false;
    if (on_hang_up_ == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // under nohup
  }
  ~interrupts() {
    std::signal(SIGINT, on_int_);
    std::signal(SIGTERM, on_term_);
    std::signal(SIGHUP, on_hang_up_);
  }
  interrupts(interrupts const&) = delete;
  interrupts& operator=(interrupts const&) = delete;

 private:
  void (*on_int_)(int);
  void (*on_term_)(int);
  void (*on_hang_up_)(int);
};

std::optional<std::string> variable(std::string const& name) {
  auto const* const found = std::getenv(name.c_str());
  if (found == nullptr) return std::nullopt;
  return std::string{found};
}

// Two when anything is in the way: nothing was drilled.
exit_code not_carried_out(error const& what, surroundings const& with) {
  static_cast<void>(report(what, with));
  return static_cast<exit_code>(drill::exit_code(drill::standing::unknown));
}

result<std::uint64_t> seed_of(arguments const& typed, std::uint64_t otherwise) {
  if (!typed.has("seed")) return otherwise;
  auto const text = typed.get("seed");
  std::uint64_t seed = 0;
  auto const [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (failed == std::errc{} && stop == text.data() + text.size()) return seed;
  return error{errc::invalid_argument, "--seed: found '" + text + "', expected a whole number"};
}

result<std::string> token_of(drill::drill_plan const& plan, surroundings const& with) {
  if (!with.token.empty() || plan.token_file.empty()) return with.token;
  auto read = read_text(plan.token_file, with);
  while (read && !read->empty() && (read->back() == '\n' || read->back() == '\r')) read->pop_back();
  return read;
}

std::vector<audit_source> sources_of(drill::drill_plan const& plan) {
  std::vector<audit_source> made;
  for (auto const& [service, url] : plan.audit) {
    made.emplace_back();
    made.back().service = service;
    made.back().url = url;
  }
  return made;
}

// Unlike that of any other drill: the time, and the seed where two begin in one moment.
std::string run_id(std::chrono::nanoseconds since_epoch, std::uint64_t seed) {
  auto mixed = static_cast<std::uint64_t>(since_epoch.count()) * 0x9E3779B97F4A7C15ULL ^ (seed + 1) * 0xBF58476D1CE4E5B9ULL;
  std::array<char, 16> digits{};
  auto const [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), mixed ^ (mixed >> 29U), 16);
  return failed == std::errc{} ? std::string{digits.data(), end} : std::string{"run"};
}

drill::drill_world world_of(arguments const& typed, surroundings const& with) {
  drill::drill_world made;
  auto const now = with.now().time_since_epoch();
  made.first = static_cast<std::uint64_t>(now / std::chrono::milliseconds{1});
  made.tls.ca_file = typed.get("ca");
  made.clock_library = drill::find_clock_library();
  made.must_be_whole = variable("CI").has_value();
  made.interrupted = [] { return interrupt_seen.load(); };
  made.tell = [&with](std::string const& line) { with.screen.err() << printable(line) << std::endl; };
  return made;
}

std::string schedule_text(drill::drill_plan const& plan) {
  if (plan.lasts) return format_duration(*plan.lasts) + ", " + (plan.drawn ? "drawn by weight" : "one after another, again and again");
  return std::to_string(plan.rounds * plan.faults.size()) + (plan.drawn ? ", drawn by weight" : ", one after another");
}

// What would be done, without doing it.
void print_plan(drill::drill_plan const& plan, std::uint64_t seed, std::ostream& to) {
  constexpr std::size_t shown_max = 20;
  to << "drill " << printable(plan.name) << "   seed " << seed << '\n';
  for (auto const& url : plan.coordinators) to << "  coordinator " << printable(url) << '\n';
  to << "  load        " << printable(plan.load.saga) << ", " << plan.load.in_flight << " under way; input "
     << printable(drill::input_of(plan.load.input, 1)) << '\n';
  for (auto const& each : plan.proxies) {
    to << "  proxy       " << printable(each.name) << "   " << printable(each.listen.address) << ':' << each.listen.port << " -> "
       << printable(each.to.address) << ':' << each.to.port << '\n';
  }
  for (auto const& each : plan.processes) {
    to << "  process     " << printable(each.name) << "   " << printable(each.start.empty() ? "by " + each.pid_file : each.start) << '\n';
  }
  to << "  faults      " << schedule_text(plan) << "; the first ones:\n";
  drill::fault_order order{plan, seed};
  auto const all = plan.lasts ? shown_max : std::min<std::size_t>(shown_max, plan.rounds * plan.faults.size());
  for (std::size_t n = 0; n < all; ++n) to << "    " << printable(plan.faults[order.next()].text()) << '\n';
}

exit_code carry_out(drill::drill_plan const& plan, std::uint64_t seed, arguments const& typed, surroundings const& with) {
  auto const token = token_of(plan, with);
  if (!token) return not_carried_out(token.error(), with);
  auto world = world_of(typed, with);
  world.seed = seed;
  world.run = run_id(with.now().time_since_epoch(), seed);
  world.token = *token;
  world.audit = [&](std::string const& url) {
    auto there = with;
    there.url = url;
    there.token = *token;
    return audit_all(sources_of(plan), there);
  };
  interrupts const noted;
  auto const found = drill::run_drill(plan, world);
  if (!found) return not_carried_out(found.error(), with);
  if (with.wants_json(typed)) {
    with.screen.out() << drill::to_json(*found, plan.must) << '\n';
  } else {
    with.screen.out() << printable_lines(drill::to_text(*found, plan.must));
    if (found->audit && !found->audit->findings.empty()) with.screen.out() << printable_lines(audit::to_text(*found->audit));
  }
  return static_cast<exit_code>(drill::exit_code(drill::verdict(drill::judge(*found, plan.must))));
}

}  // namespace

exit_code run_drill(arguments const& typed, surroundings const& with) {
  auto const file = typed.get("PLAN");
  auto const text = read_text(file, with);
  if (!text) return not_carried_out(text.error(), with);
  auto const loaded = drill::load_plan_text(*text, variable);
  auto const shown = file == "-" ? "standard input" : file;
  for (auto const& one : loaded.diagnostics) with.screen.err() << printable_lines(format(one, shown)) << '\n';
  if (!loaded.ok()) return exit_code::usage;
  auto const seed = seed_of(typed, static_cast<std::uint64_t>(with.now().time_since_epoch().count()) % 1'000'000);
  if (!seed) return not_carried_out(seed.error(), with);
  if (!typed.has("dry-run")) return carry_out(*loaded.plan, *seed, typed, with);
  print_plan(*loaded.plan, *seed, with.screen.out());
  return exit_code::done;
}

}  // namespace atone::cli
