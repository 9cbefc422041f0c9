#include "options.hpp"

#include <charconv>
#include <fstream>
#include <stdexcept>

namespace atone::simulation {

char const* const usage =
    "atone_simulation [--seed N] [--seeds K | --minutes M] [--replay FILE] [--trace] [--shrink]\n"
    "atone_simulation_planted --planted [--only BUG] [--seed N]\n"
    "  --seed N      begins with this seed (default: a fresh one); the same seed gives the same run\n"
    "  --seeds K     runs K seeds, N, N + 1 …\n"
    "  --minutes M   runs seeds for so long\n"
    "  --replay FILE runs the seeds that are kept in a file\n"
    "  --trace       prints what happens, with virtual time in microseconds\n"
    "  --shrink      looks for the smallest list of faults that still fails\n"
    "  --planted     switches one planted bug on after the other, and says which checker finds it\n";

namespace {

template <class Number>
bool read(std::string const& text, Number& into) {
  auto const [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), into);
  return wrong == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::optional<program_options> read_options(std::vector<std::string> const& words, std::string& wrong) {
  program_options made;
  for (std::size_t at = 0; at < words.size(); ++at) {
    auto const& word = words[at];
    if (word == "--trace") made.trace = true;
    if (word == "--shrink") made.shrink = true;
    if (word == "--planted") made.planted = true;
    if (word == "--help") made.help = true;
    if (word == "--trace" || word == "--shrink" || word == "--planted" || word == "--help") continue;
    if (at + 1 == words.size()) {
      wrong = word + ": expected a value behind it";
      return std::nullopt;
    }
    auto const& value = words[++at];
    std::uint64_t number = 0;
    double minutes = 0;
    if (word == "--seed" && read(value, number)) {
      made.seed = number;
    } else if (word == "--seeds" && read(value, number)) {
      made.seeds = number;
    } else if (word == "--minutes" && read(value, minutes)) {
      made.minutes = minutes;
    } else if (word == "--replay") {
      made.replay = value;
    } else if (word == "--only") {
      made.only = value;
    } else {
      wrong = word + " " + value + ": no such option, or not a number";
      return std::nullopt;
    }
  }
  return made;
}

std::vector<std::uint64_t> kept_seeds(std::string const& file) {
  std::ifstream from{file};
  if (!from) throw std::runtime_error{file + ": can't be read"};
  std::vector<std::uint64_t> seeds;
  for (std::string line; std::getline(from, line);) {
    auto text = line.substr(0, line.find('#'));
    while (!text.empty() && text.back() == ' ') text.pop_back();
    if (text.empty()) continue;
    std::uint64_t seed = 0;
    if (!read(text, seed)) throw std::runtime_error{file + ": '" + line + "': expected a seed"};
    seeds.push_back(seed);
  }
  return seeds;
}

}  // namespace atone::simulation
