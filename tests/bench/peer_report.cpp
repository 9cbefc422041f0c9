#include "peer_report.hpp"

#include <set>

#include "report.hpp"

namespace bench {
namespace {

std::string title_of(peer_row const& of) {
  if (of.workers == 0) return of.engine;
  return of.engine + ", " + std::to_string(of.workers) + (of.workers == 1 ? " worker" : " workers");
}

// How many times as many sagas a second the reference does, and how many times its median and its CPU time a saga the peer needs.
struct ratio {
  double rate = 0;
  double p50 = 0;
  double cpu = 0;

  ratio(case_figures const& reference, case_figures const& of)
      : rate(of.sagas_per_s > 0 ? reference.sagas_per_s / of.sagas_per_s : 0),
        p50(reference.p50_ms > 0 ? of.p50_ms / reference.p50_ms : 0),
        cpu(whole_cpu(reference) > 0 ? whole_cpu(of) / whole_cpu(reference) : 0) {}
};

std::vector<std::string> cells(peer_row const& of, case_figures const* reference) {
  auto const& figures = *of.figures;
  std::vector<std::string> made{of.work, title_of(of), figure(figures.sagas_per_s), figure(figures.p50_ms), figure(figures.p99_ms)};
  if (reference != nullptr && of.engine != reference_engine) {
    ratio const by{*reference, figures};
    made.insert(made.end(), {figure(by.rate), figure(by.p50), figure(by.cpu)});
  } else {
    made.insert(made.end(), {"", "", ""});
  }
  made.insert(made.end(), {figure(whole_cpu(figures)), figure(figures.idle_percent), figure(figures.others_percent)});
  return made;
}

std::string not_run_text(std::vector<peer_row> const& rows) {
  std::string text;
  std::set<std::string> told;
  for (auto const& each : rows) {
    auto const line = each.engine + " not run here: " + each.why_not + '\n';
    if (!each.figures && told.insert(line).second) text += line;
  }
  return text;
}

void write_ratios(atone::json::writer& to, std::vector<peer_row const*> const& best, std::vector<peer_row> const& rows) {
  to.key("ratios").begin_object();
  for (auto const* each : best) {
    auto const* const reference = reference_of(rows, each->work);
    if (reference == nullptr || each->engine == reference_engine) continue;
    ratio const by{*reference, *each->figures};
    to.key(each->engine + '_' + each->work).begin_object().key("rate").number(by.rate).key("p50").number(by.p50);
    to.key("cpu").number(by.cpu).end_object();
  }
  to.end_object();
}

void write_tried(atone::json::writer& to, std::vector<peer_row> const& rows) {
  to.key("tried").begin_array();
  for (auto const& each : rows) {
    if (!each.figures || each.workers == 0) continue;
    to.begin_object().key("engine").string(each.engine).key("work").string(each.work).key("workers").number(std::uint64_t{each.workers});
    to.key("sagas_per_s").number(each.figures->sagas_per_s).end_object();
  }
  to.end_array();
}

void write_not_run(atone::json::writer& to, std::vector<peer_row> const& rows) {
  std::map<std::string, std::string> why;
  for (auto const& each : rows) {
    if (!each.figures) why.emplace(each.engine + (each.work.empty() ? "" : "_" + each.work), each.why_not);
  }
  to.key("not_run").begin_object();
  for (auto const& [what, reason] : why) to.key(what).string(reason);
  to.end_object();
}

}  // namespace

peer_row const* best_of(std::vector<peer_row> const& rows, std::string const& engine, std::string const& work) {
  peer_row const* best = nullptr;
  for (auto const& each : rows) {
    if (!each.figures || each.engine != engine || each.work != work) continue;
    if (best == nullptr || each.figures->sagas_per_s > best->figures->sagas_per_s) best = &each;
  }
  return best;
}

case_figures const* reference_of(std::vector<peer_row> const& rows, std::string const& work) {
  auto const* const found = best_of(rows, std::string{reference_engine}, work);
  return found == nullptr ? nullptr : &*found->figures;
}

std::string peers_text(std::vector<peer_row> const& rows) {
  table figures{{"work", "engine", "sagas/s", "p50 ms", "p99 ms", "atoned's rate / its", "its p50 / atoned's", "its CPU / atoned's",
                 "CPU us/saga", "idle %", "others %"}};
  table costs{{"CPU microseconds a saga", ""}};
  for (auto const& each : rows) {
    if (!each.figures) continue;
    figures.add(cells(each, reference_of(rows, each.work)));
    costs.add({each.work + ", " + title_of(each), cpu_text(*each.figures)});
  }
  return figures.text() + '\n' + costs.text() + not_run_text(rows);
}

void write_peers(atone::json::writer& to, std::vector<peer_row> const& rows) {
  std::vector<peer_row const*> best;
  for (auto const& each : rows) {
    if (each.figures && best_of(rows, each.engine, each.work) == &each) best.push_back(&each);
  }
  for (auto const* each : best) {
    auto named = *each->figures;
    named.name = each->engine + '_' + each->work;
    write_case(to, named);
  }
  write_ratios(to, best, rows);
  write_tried(to, rows);
  write_not_run(to, rows);
}

}  // namespace bench
