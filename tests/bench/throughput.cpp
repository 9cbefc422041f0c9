#include <cstdio>

#include "commands.hpp"
#include "measure.hpp"
#include "report.hpp"
#include "store_limit.hpp"

namespace bench {
namespace {

case_settings by_http(std::string name, std::uint32_t in_flight) {
  case_settings made;
  made.name = std::move(name);
  made.in_flight = in_flight;
  return made;
}

case_settings with_handlers(std::string name, store_kind store) {
  case_settings made;
  made.name = std::move(name);
  made.store = store;
  made.to = callee::local;
  made.in_flight = 1000;
  return made;
}

case_settings through_daemon(case_settings of) {
  of.by_daemon = true;
  return of;
}

std::vector<case_settings> cases_of(options const& with) {
  auto refused = by_http("http_refused", 256);
  refused.refused = true;
  auto open = by_http("http_open", 0);
  open.rate = with.rate.value_or(0);  // 0: a share of what http_ok comes to
  std::vector<case_settings> all{by_http("http_ok", 256),
                                 refused,
                                 by_http("http_single", 1),
                                 by_http("http_thousand", 1000),
                                 open,
                                 with_handlers("embedded_postgresql", store_kind::postgresql),
                                 with_handlers("embedded_sqlite", store_kind::sqlite)};
  if (with.with_daemon) {
    all.push_back(through_daemon(by_http("daemon_ok", 256)));
    all.push_back(through_daemon(by_http("daemon_single", 1)));
  }
  std::erase_if(all, [&](case_settings const& each) { return !with.wants(each.name); });
  for (auto& each : all) {
    if (with.in_flight) each.in_flight = *with.in_flight;
  }
  return all;
}

case_figures const* find(std::vector<case_figures> const& in, std::string const& name) {
  for (auto const& each : in) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

std::vector<case_figures> measure_all(stage& on) {
  std::vector<case_figures> made;
  for (auto settings : cases_of(on.options())) {
    if (settings.rate == 0.0) {
      auto const* const capacity = find(made, "http_ok");
      if (capacity == nullptr) continue;
      settings.rate = on.options().open_share * capacity->sagas_per_s;
    }
    made.push_back(measure(on, settings));
  }
  return made;
}

// The same work's rows without the engine, as many a commit as the engine had.
std::optional<store_figures> limit_of(stage& on, std::vector<case_figures> const& measured) {
  auto const* const embedded = find(measured, "embedded_postgresql");
  if (embedded == nullptr) return std::nullopt;
  return measure_store(on, store_kind::postgresql, embedded->records_per_commit.value_or(0));
}

}  // namespace

void throughput(stage& on) {
  atone::json::writer document;
  begin_document(document, on.options());
  auto const measured = measure_all(on);
  std::printf("%s\n%s\n", machine_text(on).c_str(), cases_text(measured).c_str());
  for (auto const& each : measured) write_case(document, each);
  if (find(measured, "http_single") != nullptr) {
    auto const single = on.postgresql().single_row_commits(on.make_place(store_kind::postgresql).database, on.options().window / 2);
    std::printf("one single-row insert and commit, same run: p50 %s ms\n", figure(milliseconds(single.quantile(0.5))).c_str());
    document.key("raw_commit_p50_ms").number(milliseconds(single.quantile(0.5)));
  }
  if (auto const limit = limit_of(on, measured)) {
    auto const ratio = find(measured, "embedded_postgresql")->sagas_per_s / limit->sagas_per_s;
    std::printf("raw limit of PostgreSQL, one connection, %s records a commit: %s sagas/s; embedded_postgresql is %s of it\n",
                figure(limit->records_per_commit).c_str(), figure(limit->sagas_per_s).c_str(), figure(ratio).c_str());
    document.key("raw_limit_sagas_per_s").number(limit->sagas_per_s).key("raw_limit_ratio").number(ratio);
  }
  finish_document(document, on);
}

void store_limit(stage& on) {
  atone::json::writer document;
  begin_document(document, on.options());
  table figures{{"store", "records/commit", "sagas/s", "commits/s", "p50 ms", "p99 ms"}};
  for (auto const kind : {store_kind::postgresql, store_kind::sqlite}) {
    if (!on.options().store.empty() && on.options().store != name(kind)) continue;
    document.key(name(kind)).begin_object();
    for (auto const records : {64, 256, 1000}) {
      auto const made = measure_store(on, kind, records);
      figures.add({std::string{name(kind)}, figure(made.records_per_commit), figure(made.sagas_per_s), figure(made.commits_per_s),
                   figure(made.p50_ms), figure(made.p99_ms)});
      document.key(std::to_string(records)).begin_object().key("sagas_per_s").number(made.sagas_per_s);
      document.key("p50_ms").number(made.p50_ms).key("p99_ms").number(made.p99_ms).end_object();
    }
    document.end_object();
  }
  std::printf("%s\n%s\n", machine_text(on).c_str(), figures.text().c_str());
  auto const single = on.postgresql().single_row_commits(on.make_place(store_kind::postgresql).database, on.options().window / 2);
  std::printf("PostgreSQL, one single-row insert and commit: p50 %s ms, p99 %s ms\n", figure(milliseconds(single.quantile(0.5))).c_str(),
              figure(milliseconds(single.quantile(0.99))).c_str());
  document.key("raw_commit_p50_ms").number(milliseconds(single.quantile(0.5)));
  finish_document(document, on);
}

}  // namespace bench
