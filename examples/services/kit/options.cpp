#include "options.hpp"

#include <charconv>
#include <limits>

#include <atone/assert.hpp>

namespace kit {
namespace {

using atone::errc;
using atone::error;
using atone::result;

error wrong(std::string_view flag, std::string_view found, std::string_view expected) {
  return error{errc::invalid_argument, std::string{flag} + ": found '" + std::string{found} + "', expected " + std::string{expected}};
}

struct parsing {
  service_options made;
  std::string faults;
  std::uint64_t seed = 0;
};

result<void> take(std::string_view flag, std::string const& value, parsing& into) {
  if (flag == "--port") {
    auto const port = parse_number(value, std::numeric_limits<std::uint16_t>::max());
    if (!port) return wrong(flag, value, "a port number, or 0 for any free one");
    into.made.port = static_cast<std::uint16_t>(*port);
    return {};
  }
  if (flag == "--seed") {
    auto const seed = parse_number(value, std::numeric_limits<std::uint64_t>::max());
    if (!seed) return wrong(flag, value, "a whole number");
    into.seed = *seed;
    return {};
  }
  if (flag == "--db") {
    into.made.db = value;
    return {};
  }
  if (flag == "--faults") {
    into.faults = value;
    return {};
  }
  for (auto& each : into.made.extras) {
    if (each.name == flag) {
      each.value = value;
      return {};
    }
  }
  return error{errc::invalid_argument, "unknown flag " + std::string{flag} + "; --help lists them"};
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t most) {
  std::uint64_t value = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

std::string const& service_options::extra(std::string_view name) const {
  for (auto const& each : extras) {
    if (each.name == name) return each.value;
  }
  ATONE_ASSERT(!"an extra flag that was not declared");
  return db;
}

result<service_options> parse_options(std::vector<std::string> const& arguments, std::vector<extra_flag> extras, std::string db) {
  parsing state;
  state.made.db = std::move(db);
  state.made.extras = std::move(extras);
  for (std::size_t at = 0; at < arguments.size(); at += 2) {
    if (arguments[at] == "--help") {
      state.made.help = true;
      return state.made;
    }
    if (at + 1 == arguments.size()) return error{errc::invalid_argument, arguments[at] + ": expected a value after it"};
    if (auto taken = take(arguments[at], arguments[at + 1], state); !taken) return taken.error();
  }
  auto plan = parse_faults(state.faults);
  if (!plan) return plan.error();
  plan->seed = state.seed;
  state.made.faults = *plan;
  return state.made;
}

std::string help_text(std::string_view program, service_options const& defaults) {
  std::string out = std::string{program} +
                    "\n"
                    "  --port N       where to listen on 127.0.0.1; 0: any free port, which is printed\n"
                    "  --db ADDRESS   sqlite:PATH or postgresql://… (" +
                    defaults.db +
                    ")\n"
                    "  --faults LIST  fail=RATE,hang=RATE:DURATION,drop=RATE,late=RATE:DURATION,twice=RATE,refuse=RATE\n"
                    "  --seed N       which requests the faults hit\n";
  for (auto const& each : defaults.extras) out += "  " + each.name + "  " + each.help + " (" + each.value + ")\n";
  return out;
}

}  // namespace kit
