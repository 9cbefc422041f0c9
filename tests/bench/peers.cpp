// The same sagas through other engines, in the same run on the same machine, and how many times as many ours does.
#include "peers.hpp"

#include <cstdio>
#include <set>

#include "commands.hpp"
#include "failure.hpp"
#include "measure.hpp"
#include "peer_report.hpp"
#include "report.hpp"

namespace bench {
namespace {

constexpr std::uint32_t usual_in_flight = 256;
constexpr std::uint32_t workers_max = 2;  // 1 … so many are tried
constexpr int warm_up_times = 5;          // of --warm-up
// Compilers at run time need work rather than time: before it they cost a multiple.
constexpr std::uint64_t warm_up_sagas = 5000;
constexpr std::uint64_t warm_up_single = 1000;  // one at a time

struct peer {
  std::string name;
  std::string_view folder;
  store_kind store;
  served (*start)(stage&, place const&, peer_options const&);
};

std::vector<peer> const& all_peers() {
  static std::vector<peer> const all{{"restate", restate_folder, store_kind::own, start_restate},
                                     {"dbos", dbos_folder, store_kind::postgresql, start_dbos}};
  return all;
}

class comparison {
 public:
  explicit comparison(stage& on) : on_(on) {}

  std::vector<peer_row> rows() {
    install();
    for (auto const* work : {"ok", "refused", "single"}) {
      ours(work, "atoned", true);
      if (on_.options().wants("embedded")) ours(work, "embedded", false);
      for (auto const& each : all_peers()) theirs(each, work);
    }
    return std::move(rows_);
  }

 private:
  void install() {
    for (auto const& each : all_peers()) {
      if (!on_.options().wants(each.name)) continue;
      try {
        install_packages(on_, each.folder);
        (void)node_program(on_);
        usable_.insert(each.name);
      } catch (failure const& why) {
        note_missing(each.name, "", why.what());
      }
    }
  }

  case_settings settings_of(std::string const& work, std::string const& engine) const {
    case_settings made;
    made.name = engine + ' ' + work;
    made.refused = work == "refused";
    made.in_flight = work == "single" ? 1 : on_.options().in_flight.value_or(usual_in_flight);
    made.warm_up = warm_up_times * on_.options().warm_up;
    return made;
  }

  void ours(std::string const& work, std::string const& engine, bool by_daemon) {
    auto settings = settings_of(work, engine);
    settings.by_daemon = by_daemon;
    note(work, engine, 0, measure(on_, settings));
  }

  // How many workers serve best is tried with the first work.
  void theirs(peer const& of, std::string const& work) {
    if (!usable_.contains(of.name)) return;
    auto const* const known = best_of(rows_, of.name, "ok");
    auto const from = known == nullptr ? 1 : known->workers;
    auto const to = known == nullptr ? workers_max : known->workers;
    for (auto workers = from; workers <= to; ++workers) run_peer(of, work, workers);
  }

  void run_peer(peer const& of, std::string const& work, std::uint32_t workers) {
    peer_options with;
    with.workers = workers;
    with.refused = work == "refused";
    auto settings = settings_of(work, of.name + ", workers " + std::to_string(workers) + ',');
    settings.warm_up_sagas = settings.in_flight == 1 ? warm_up_single : warm_up_sagas;
    try {
      auto const in = on_.make_foreign_place(of.store);
      settings.in = in;
      settings.peer = [this, &of, in, with] { return of.start(on_, in, with); };
      note(work, of.name, workers, measure(on_, settings));
    } catch (failure const& why) {
      note_missing(of.name, work, why.what());
    }
  }

  void note(std::string const& work, std::string const& engine, std::uint32_t workers, case_figures figures) {
    peer_row made;
    made.work = work;
    made.engine = engine;
    made.workers = workers;
    made.figures = std::move(figures);
    rows_.push_back(std::move(made));
  }

  void note_missing(std::string const& engine, std::string const& work, std::string const& why) {
    std::fprintf(stderr, "bench: %s: %s\n", engine.c_str(), why.c_str());
    peer_row made;
    made.work = work;
    made.engine = engine;
    made.why_not = why;
    rows_.push_back(std::move(made));
  }

  stage& on_;
  std::set<std::string> usable_;
  std::vector<peer_row> rows_;
};

}  // namespace

void peers(stage& on) {
  auto const rows = comparison{on}.rows();
  std::printf("%s\n%s\n", machine_text(on).c_str(), peers_text(rows).c_str());
  atone::json::writer document;
  begin_document(document, on.options());
  write_peers(document, rows);
  finish_document(document, on);
}

}  // namespace bench
