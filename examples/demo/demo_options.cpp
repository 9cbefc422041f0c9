#include "demo_options.hpp"

#include <charconv>
#include <optional>

namespace demo {
namespace {

using atone::errc;
using atone::error;
using atone::result;

constexpr std::uint32_t percent_max = 50;
constexpr std::uint32_t in_flight_max = 1024;
constexpr std::uint32_t kills_max = 1000;

error wrong(std::string const& flag, std::string const& found, std::string const& expected) {
  return error{errc::invalid_argument, flag + ": found '" + found + "', expected " + expected};
}

template <class Number>
result<void> read_number(std::string const& flag, std::string const& text, Number least, Number most, Number& into) {
  Number value = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    return wrong(flag, text, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  into = value;
  return {};
}

std::string* text_flag(std::string const& flag, demo_options& of) {
  if (flag == "--bin") return &of.bin;
  if (flag == "--saga") return &of.saga;
  if (flag == "--purchases") return &of.purchases;
  if (flag == "--work") return &of.work;
  if (flag == "--store") return &of.store;
  return nullptr;
}

result<void> take(std::string const& flag, std::string const& value, demo_options& into) {
  if (auto* const text = text_flag(flag, into)) {
    *text = value;
    return {};
  }
  if (flag == "--count") return read_number<std::uint32_t>(flag, value, 1, 1'000'000, into.count);
  if (flag == "--faults") return read_number<std::uint32_t>(flag, value, 0, percent_max, into.fault_percent);
  if (flag == "--seed") return read_number<std::uint64_t>(flag, value, 0, UINT64_MAX, into.seed);
  if (flag == "--in-flight") return read_number<std::uint32_t>(flag, value, 1, in_flight_max, into.in_flight);
  if (flag == "--kills") return read_number<std::uint32_t>(flag, value, 0, kills_max, into.kills);
  if (flag != "--outage") return error{errc::invalid_argument, "unknown flag " + flag + "; --help lists them"};
  auto const outage = atone::parse_duration(value);
  if (!outage) return wrong(flag, value, outage.error().message);
  into.outage = *outage;
  return {};
}

// Flags without a value.
bool* switch_flag(std::string const& flag, demo_options& of) {
  if (flag == "--all") return &of.all;
  if (flag == "--help") return &of.help;
  return nullptr;
}

}  // namespace

result<demo_options> parse_demo_options(std::vector<std::string> const& arguments, demo_options defaults) {
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    if (auto* const on = switch_flag(arguments[at], defaults)) {
      *on = true;
      continue;
    }
    if (at + 1 == arguments.size()) return error{errc::invalid_argument, arguments[at] + ": expected a value after it"};
    if (auto taken = take(arguments[at], arguments[at + 1], defaults); !taken) return taken.error();
    ++at;
  }
  return defaults;
}

std::string demo_help() {
  return "atone_demo: real purchases through three services, with faults, a crash and an audit\n"
         "  --count N        how many purchases (5000)\n"
         "  --all            all of the log\n"
         "  --faults N       percent of requests that meet a fault, 0 to 50 (10)\n"
         "  --seed N         which requests those are (42)\n"
         "  --in-flight N    sagas under way at a time (64)\n"
         "  --kills N        how often the daemon is killed with SIGKILL: once half-way, more at random moments; 0: never (1)\n"
         "  --outage TIME    how long the feature service is stopped; 0s: not at all (6s)\n"
         "  --store ADDRESS  the daemon's store; sqlite:PATH or postgresql://… (SQLite in the work folder)\n"
         "  --work DIR       folder for databases and logs, made anew (demo-data)\n"
         "  --purchases FILE the purchase log (the sample of 2,000 purchases)\n"
         "  --saga FILE      the definition (examples/sagas/order-placed.yaml)\n"
         "  --bin DIR        where atoned, atone and the services are (where the demo is)\n";
}

std::string fault_flags(std::uint32_t percent) {
  if (percent == 0) return {};
  // Shares of the whole in hundredths; refusals end a saga, the others only disturb it.
  struct share {
    char const* kind;
    std::uint32_t hundredths;
    char const* delay;
  };
  constexpr share shares[]{{"fail", 20, ""},       {"hang", 15, ":1500ms"}, {"drop", 20, ""},
                           {"late", 15, ":800ms"}, {"twice", 20, ""},       {"refuse", 10, ""}};
  std::string out;
  for (auto const& each : shares) {
    auto const millionths = std::to_string(1'000'000 + each.hundredths * percent * 100);  // the first digit is dropped: six decimals
    out += (out.empty() ? "" : ",") + std::string{each.kind} + "=0." + millionths.substr(1) + each.delay;
  }
  return out;
}

}  // namespace demo
