#include "api/metrics.hpp"

#include <iterator>
#include <utility>
#include <vector>

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

prometheus::Histogram::BucketBoundaries const& buckets() {
  static prometheus::Histogram::BucketBoundaries const seconds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
  return seconds;
}

}  // namespace

struct metrics::impl {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& requests;
  prometheus::Family<prometheus::Histogram>& seconds;

  impl()
      : requests(prometheus::BuildCounter().Name("atone_http_requests_total").Help("Requests answered by the API").Register(registry)),
        seconds(prometheus::BuildHistogram().Name("atone_http_request_seconds").Help("Time to the answer").Register(registry)) {}
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

std::string metrics::text(engine_figures const& engine) const {
  auto families = engine_families(engine);
  auto own = impl_->registry.Collect();
  families.insert(families.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return prometheus::TextSerializer{}.Serialize(families);
}

}  // namespace atone::api
