// The demo: real purchases of 1997 through three services that share no database, with faults of all kinds, the feature service
// stopped for a while, the daemon killed half-way, and a proof from the services' own tables that every saga is all or nothing.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <atone/load.hpp>

#include "books.hpp"
#include "run_sagas.hpp"

namespace demo {
namespace {

using atone::errc;
using atone::error;
using atone::result;

result<std::string> read_file(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return error{errc::not_found, path + " can't be read"};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

demo_options defaults(std::string const& program) {
  demo_options made;
  std::error_code failure;
  auto const self = std::filesystem::canonical("/proc/self/exe", failure);
  made.bin = (failure ? std::filesystem::path{program} : self).parent_path().string();
  made.saga = std::string{DEMO_SOURCE_DIR} + "/examples/sagas/order-placed.yaml";
  made.purchases = std::string{DEMO_SOURCE_DIR} + "/tests/golden/cdnow_sample.txt";
  return made;
}

result<std::vector<purchase>> read_purchases(demo_options const& options) {
  auto const text = read_file(options.purchases);
  if (!text) return text.error();
  auto purchases = parse_purchases(*text);
  if (!purchases) return purchases;
  if (!options.all && purchases->size() > options.count) purchases->resize(options.count);
  return purchases;
}

void print_banner(stage const& on) {
  std::cout << "Atone " << DEMO_VERSION << "   store: " << on.store() << "   participants:";
  for (auto const& each : on.services()) std::cout << ' ' << each.name << " :" << each.port << ' ';
  std::cout << '\n';
}

result<void> publish(stage const& on, std::string const& file) {
  auto const yaml = read_file(file);
  if (!yaml) return yaml.error();
  auto const loaded = atone::load_definition(*yaml);
  if (!loaded.ok()) return error{errc::invalid_argument, file + " has mistakes; `atone lint` lists them"};
  if (auto published = on.publish(*yaml); !published) return published;
  auto const& ref = loaded.definition->ref;
  std::cout << "[1/4] publish " << ref.name << '@' << ref.version.value() << "   " << describe(*loaded.definition) << std::endl;
  return {};
}

// True when the books agree.
bool check_books(stage const& on, tally const& count) {
  expected_books expected;
  expected.completed = count.completed();
  expected.cents = count.completed_cents();
  auto const orders = on.get(on.services()[0].url() + "/totals");
  auto const profiles = on.get(on.services()[1].url() + "/totals");
  if (!orders || !profiles) {
    std::cout << "      books   can't be read: " << (orders ? profiles : orders).error().message << '\n';
    return false;
  }
  auto const wrong = compare_books(expected, *orders, *profiles);
  for (auto const& each : wrong) std::cout << "      books   WRONG   " << each << '\n';
  if (wrong.empty()) {
    std::cout << "      books   " << grouped(expected.completed) << " open orders and "
              << grouped(static_cast<std::uint64_t>(expected.cents)) << " cents spent, as the completed sagas say\n";
  }
  return wrong.empty();
}

void print_stats(stage const& on) {
  std::vector<atone::json::value> stats;
  for (auto const& each : on.services()) {
    if (auto read = on.get(each.url() + "/atone/stats")) stats.push_back(*read);
  }
  std::cout << "      faults shown " << grouped(sum_of_faults(stats)) << "   duplicates swallowed by barriers "
            << grouped(sum_of(stats, "duplicates")) << "   late actions refused " << grouped(sum_of(stats, "late_actions"))
            << "   empty compensations " << grouped(sum_of(stats, "empty")) << '\n';
}

void show_one(stage const& on, tally const& count) {
  if (!count.last_compensated()) return;
  std::cout << '\n' << on.run_atone({"show", count.last_compensated()->text()}).text << '\n';
}

bool audit(stage const& on) {
  std::vector<std::string> words{"audit"};
  auto const sources = on.service_flags();
  words.insert(words.end(), sources.begin(), sources.end());
  auto const found = on.run_atone(std::move(words));
  std::cout << "[4/4] " << found.text;
  return found.exit_code == 0;
}

result<bool> play(demo_options const& options) {
  auto const purchases = read_purchases(options);
  if (!purchases) return purchases.error();
  auto set = stage::set(options);
  if (!set) return set.error();
  auto& on = **set;
  print_banner(on);
  if (auto published = publish(on, options.saga); !published) return published.error();
  std::cout << "[2/4] " << grouped(purchases->size()) << " real purchases (CDNOW, 1997), " << options.fault_percent
            << " % faults injected, seed " << options.seed << std::endl;
  tally count{*purchases};
  progress_line line{std::cout, isatty(STDOUT_FILENO) == 1, purchases->size()};
  auto const ran = run_sagas(on, options, *purchases, count, line);
  if (!ran) return ran.error();
  std::cout << "[3/4] outcome\n" << count.text();
  show_one(on, count);
  auto const proven = audit(on);
  print_stats(on);
  auto const agree = check_books(on, count);
  std::cout << "databases and logs are in " << options.work << '\n';
  return proven && agree && count.parked() == 0;
}

int run(std::vector<std::string> const& arguments, std::string const& program) {
  auto const options = parse_demo_options(arguments, defaults(program));
  if (!options) {
    std::cerr << "atone_demo: " << options.error().message << '\n';
    return 2;
  }
  if (options->help) {
    std::cout << demo_help();
    return 0;
  }
  auto const good = play(*options);
  if (!good) {
    std::cerr << "atone_demo: " << good.error().message << '\n';
    return 1;
  }
  return *good ? 0 : 1;
}

}  // namespace
}  // namespace demo

int main(int count, char** words) {
  std::signal(SIGPIPE, SIG_IGN);
  return demo::run({words + 1, words + count}, words[0]);
}
