// The same load on an empty store and on one that holds many finished sagas.
#include <cstdio>

#include "commands.hpp"
#include "measure.hpp"
#include "report.hpp"
#include "store_limit.hpp"

namespace bench {
namespace {

case_settings case_of(std::string name, callee to, place const& in) {
  case_settings made;
  made.name = std::move(name);
  made.to = to;
  made.in_flight = to == callee::http ? 256 : 1000;
  made.store = in.kind;
  made.in = in;
  return made;
}

}  // namespace

void growth(stage& on) {
  auto const& with = on.options();
  auto const kind = wanted_store(with, store_kind::postgresql);
  std::vector<case_figures> made;
  for (auto const to : {callee::http, callee::local}) {
    std::string const word = to == callee::http ? "http" : "embedded";
    made.push_back(measure(on, case_of(word + "_empty", to, on.make_place(kind))));
  }
  auto const full = on.make_place(kind);
  std::fprintf(stderr, "bench: writing %llu finished sagas\n", static_cast<unsigned long long>(with.rows));
  fill_store(on, full, with.rows);
  if (kind == store_kind::postgresql) on.postgresql().checkpoint();
  made.push_back(measure(on, case_of("http_full", callee::http, full)));
  made.push_back(measure(on, case_of("embedded_full", callee::local, full)));
  auto const http_ratio = made[2].sagas_per_s / made[0].sagas_per_s;
  auto const embedded_ratio = made[3].sagas_per_s / made[1].sagas_per_s;
  std::printf("%s\n%s\nwith %llu finished sagas: %s of the empty store's rate by HTTP, %s embedded\n", machine_text(on).c_str(),
              cases_text(made).c_str(), static_cast<unsigned long long>(with.rows), figure(http_ratio).c_str(),
              figure(embedded_ratio).c_str());
  atone::json::writer document;
  begin_document(document, on.options());
  document.key("rows").number(with.rows);
  for (auto const& each : made) write_case(document, each);
  document.key("http_ratio").number(http_ratio).key("embedded_ratio").number(embedded_ratio);
  finish_document(document, on);
}

}  // namespace bench
