#include "api/metrics.hpp"

#include <array>
#include <iterator>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace atone::api {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily single(std::string name, std::string help, MetricType type, double value) {
  prometheus::ClientMetric sample;
  (type == MetricType::Counter ? sample.counter.value : sample.gauge.value) = value;
  MetricFamily made;
  made.name = std::move(name);
  made.help = std::move(help);
  made.type = type;
  made.metric.push_back(std::move(sample));
  return made;
}

// Exact up to 2^53, beyond anything a process counts.
double number(std::uint64_t value) noexcept {
  return static_cast<double>(value);
}

std::vector<MetricFamily> engine_families(engine_figures const& of) {
  constexpr auto counter = MetricType::Counter;
  constexpr auto gauge = MetricType::Gauge;
  std::vector<MetricFamily> made;
  auto add = [&](std::string name, std::string help, MetricType type, std::uint64_t value) {
    made.push_back(single("atone_" + std::move(name), std::move(help), type, number(value)));
  };
  add("sagas_open", "Sagas under way in this process", gauge, of.open);
  add("sagas_resting", "Of them, sagas that wait long and are in the store alone", gauge, of.resting);
  add("sagas_started_total", "Sagas started by this process", counter, of.started);
  add("sagas_completed_total", "Sagas that ended with every effect once", counter, of.completed);
  add("sagas_compensated_total", "Sagas that ended without net effect", counter, of.compensated);
  add("sagas_parked_total", "Sagas that needed a person", counter, of.parked);
  add("events_total", "Events journalled", counter, of.events);
  add("commits_total", "Transactions of the journal", counter, of.commits);
  add("calls_total", "Calls to participants", counter, of.calls);
  add("calls_in_flight", "Calls to participants whose answer has not come", gauge, of.calls_in_flight);
  add("late_answers_total", "Answers that came after the machine had stopped waiting", counter, of.late_answers);
  add("journal_queue", "Records waiting for their commit", gauge, of.queue);
  add("writable", "1 while the last write succeeded and this process owns the store", gauge, of.writable ? 1 : 0);
  return made;
}

std::vector<MetricFamily> node_families(std::vector<node_view> const& nodes) {
  if (nodes.empty()) return {};
  std::uint64_t alive = 0;
  std::uint64_t driven = 0;
  duration offset{};
  for (auto const& one : nodes) {
    alive += one.alive ? 1 : 0;
    if (!one.here) continue;
    driven = one.shards;
    offset = one.clock_offset;
  }
  std::vector<MetricFamily> made;
  made.push_back(single("atone_shards_driven", "Shards whose sagas this process drives", MetricType::Gauge, number(driven)));
  made.push_back(
      single("atone_nodes_alive", "Nodes on this store that drive their shards, as this one sees them", MetricType::Gauge, number(alive)));
  made.push_back(single("atone_clock_offset_seconds", "How far this machine's clock is before the database's", MetricType::Gauge,
                        std::chrono::duration<double>{offset}.count()));
  return made;
}

double seconds(duration of) noexcept {
  return std::chrono::duration<double>{of}.count();
}

std::vector<MetricFamily> retention_families(retention_figures const& of) {
  std::vector<MetricFamily> made;
  made.push_back(single("atone_retention_seconds", "How long finished sagas are kept; 0: for ever", MetricType::Gauge, seconds(of.sagas)));
  made.push_back(single("atone_retention_deleted_sagas_total", "Finished sagas deleted by this process", MetricType::Counter,
                        number(of.deleted_sagas)));
  made.push_back(single("atone_retention_deleted_keys_total", "Business keys of deleted sagas deleted by this process", MetricType::Counter,
                        number(of.deleted_keys)));
  made.push_back(single("atone_retention_passes_total", "Times that all shards driven here were looked through for what is old enough",
                        MetricType::Counter, number(of.passes)));
  made.push_back(single("atone_retention_lag_seconds", "For how long what was deleted last should have been gone; 0 after a pass",
                        MetricType::Gauge, seconds(of.lag)));
  return made;
}

// One family of the metrics of feature sets: its name, what it says, and the value of one set.
struct feature_metric {
  std::string_view name;
  std::string_view help;
  MetricType type;
  double (*value)(features::feature_figures const&);
};

constexpr std::array feature_metrics{
    feature_metric{"freshness_seconds", "Now less the newest event in a published version", MetricType::Gauge,
                   [](auto const& of) { return of.freshness ? seconds(*of.freshness) : 0; }},
    feature_metric{"recomputes_total", "Recomputes answered by a version", MetricType::Counter,
                   [](auto const& of) { return number(of.recomputes); }},
    feature_metric{"published_total", "Versions computed and published", MetricType::Counter,
                   [](auto const& of) { return number(of.published); }},
    feature_metric{"superseded_total", "Recomputes of an input older than what stood", MetricType::Counter,
                   [](auto const& of) { return number(of.superseded); }},
    feature_metric{"coalesced_total", "Recomputes answered by a newer one of their batch", MetricType::Counter,
                   [](auto const& of) { return number(of.coalesced); }},
    feature_metric{"repeated_total", "Answers given again from what was stored under their key", MetricType::Counter,
                   [](auto const& of) { return number(of.repeated); }},
    feature_metric{"republished_total", "Recomputes undone", MetricType::Counter, [](auto const& of) { return number(of.republished); }},
    feature_metric{"refused_total", "Recomputes undone before, too late, or not computable", MetricType::Counter,
                   [](auto const& of) { return number(of.refused); }},
    feature_metric{"differences_total", "Inputs that gave other features than before", MetricType::Counter,
                   [](auto const& of) { return number(of.differences); }},
    feature_metric{"batches_total", "Batches computed", MetricType::Counter, [](auto const& of) { return number(of.batches); }},
    feature_metric{"commits_total", "Writes of the log made durable", MetricType::Counter,
                   [](auto const& of) { return number(of.commits); }},
    feature_metric{"entities", "Entities that have events", MetricType::Gauge, [](auto const& of) { return number(of.entities); }},
    feature_metric{"events", "Events kept", MetricType::Gauge, [](auto const& of) { return number(of.events); }},
    feature_metric{"stale", "Published entities whose version is stale", MetricType::Gauge,
                   [](auto const& of) { return number(of.stale); }},
    feature_metric{"log_bytes", "Size of the log", MetricType::Gauge, [](auto const& of) { return number(of.log_bytes); }},
    feature_metric{"writable", "1 while the log takes writes", MetricType::Gauge, [](auto const& of) { return of.writable ? 1.0 : 0.0; }},
};

void add_sample(MetricFamily& to, MetricType type, std::string const& set, std::string const& engine, double value) {
  prometheus::ClientMetric sample;
  sample.label.push_back({"set", set});
  if (!engine.empty()) sample.label.push_back({"engine", engine});
  (type == MetricType::Counter ? sample.counter.value : sample.gauge.value) = value;
  to.metric.push_back(std::move(sample));
}

std::vector<MetricFamily> feature_families(feature_services const& services) {
  if (services.empty()) return {};
  std::vector<MetricFamily> made;
  std::map<std::string, features::feature_figures> figures;
  for (auto const& [set, service] : services) figures.emplace(set, service->figures());
  for (auto const& one : feature_metrics) {
    MetricFamily family;
    family.name = "atone_features_" + std::string{one.name};
    family.help = one.help;
    family.type = one.type;
    for (auto const& [set, of] : figures) add_sample(family, one.type, set, "", one.value(of));
    made.push_back(std::move(family));
  }
  MetricFamily rows;
  rows.name = "atone_features_rows_total";
  rows.help = "Rows of results, by where they were computed";
  rows.type = MetricType::Counter;
  for (auto const& [set, of] : figures) {
    add_sample(rows, rows.type, set, "cpu", number(of.rows_by_cpu));
    add_sample(rows, rows.type, set, "gpu", number(of.rows_by_gpu));
  }
  made.push_back(std::move(rows));
  return made;
}

constexpr std::array every_outcome{forward_outcome::answered,   forward_outcome::here,        forward_outcome::lost,
                                   forward_outcome::no_driver,  forward_outcome::unreachable, forward_outcome::no_address,
                                   forward_outcome::second_hop, forward_outcome::too_many,    forward_outcome::stopped};

prometheus::Histogram::BucketBoundaries const& buckets() {
  static prometheus::Histogram::BucketBoundaries const seconds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
  return seconds;
}

}  // namespace

std::string_view name(forward_outcome of) noexcept {
  switch (of) {
    case forward_outcome::answered: return "answered";
    case forward_outcome::here: return "here";
    case forward_outcome::lost: return "lost";
    case forward_outcome::no_driver: return "no_driver";
    case forward_outcome::unreachable: return "unreachable";
    case forward_outcome::no_address: return "no_address";
    case forward_outcome::second_hop: return "second_hop";
    case forward_outcome::too_many: return "too_many";
    case forward_outcome::stopped: return "stopped";
  }
  return "unknown";
}

struct metrics::impl {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& requests;
  prometheus::Family<prometheus::Histogram>& seconds;
  prometheus::Family<prometheus::Counter>& forwarded;

  impl()
      : requests(prometheus::BuildCounter().Name("atone_http_requests_total").Help("Requests answered by the API").Register(registry)),
        seconds(prometheus::BuildHistogram().Name("atone_http_request_seconds").Help("Time to the answer").Register(registry)),
        forwarded(prometheus::BuildCounter()
                      .Name("atone_forwarded_requests_total")
                      .Help("Requests for sagas that this process does not drive, by what came of them")
                      .Register(registry)) {
    for (auto const one : every_outcome) count(one);  // at 0 from the start: an increase is seen from the first one on
  }

  prometheus::Counter& count(forward_outcome of) { return forwarded.Add({{"outcome", std::string{name(of)}}}); }
};

metrics::metrics(std::string const& version) : impl_(std::make_unique<impl>()) {
  prometheus::BuildGauge().Name("atone_build_info").Help("Always 1").Register(impl_->registry).Add({{"version", version}}).Set(1);
}

metrics::~metrics() = default;

void metrics::answered(std::string_view route, std::string_view method, std::int32_t status, std::chrono::duration<double> took) {
  std::string const path{route};
  std::string const verb{method};
  impl_->requests.Add({{"route", path}, {"method", verb}, {"status", std::to_string(status)}}).Increment();
  impl_->seconds.Add({{"route", path}, {"method", verb}}, buckets()).Observe(took.count());
}

void metrics::forwarded(forward_outcome of) {
  impl_->count(of).Increment();
}

std::string metrics::text(engine_figures const& engine, std::vector<node_view> const& nodes, retention_figures const& deleted,
                          feature_services const& features) const {
  auto families = engine_families(engine);
  for (auto& one : node_families(nodes)) families.push_back(std::move(one));
  for (auto& one : retention_families(deleted)) families.push_back(std::move(one));
  for (auto& one : feature_families(features)) families.push_back(std::move(one));
  auto own = impl_->registry.Collect();
  families.insert(families.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return prometheus::TextSerializer{}.Serialize(families);
}

}  // namespace atone::api
