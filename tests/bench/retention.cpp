// The same load beside a store that keeps what is finished, and beside one that deletes it meanwhile.
#include <algorithm>
#include <cstdio>

#include "commands.hpp"
#include "measure.hpp"
#include "report.hpp"
#include "store_limit.hpp"

namespace bench {
namespace {

constexpr std::uint32_t in_flight_default = 256;
constexpr atone::duration kept_for = std::chrono::seconds{1};  // so that all that was written before is old enough, and the load's own soon

case_settings case_of(stage& on, std::string name, place const& in, bool deletes) {
  case_settings made;
  made.name = std::move(name);
  made.to = callee::http;
  made.in_flight = on.options().in_flight.value_or(in_flight_default);
  made.store = in.kind;
  made.in = in;
  if (deletes) made.retention = kept_for;
  return made;
}

// Both loads without, with, and without once more: so is seen what the machine itself did meanwhile.
struct round_of_three {
  case_figures before, deleting, after;

  round_of_three() = default;
  double p99_ratio() const {
    auto const normal = (before.p99_ms + after.p99_ms) / 2;
    return normal > 0 ? deleting.p99_ms / normal : 0;
  }
};

round_of_three measure_round(stage& on, std::string const& name, place const& in, std::optional<double> rate) {
  auto const run = [&](char const* word, bool deletes) {
    auto of = case_of(on, name + word, in, deletes);
    of.rate = rate;
    return measure(on, of);
  };
  round_of_three made;
  made.before = run("_before", false);
  made.deleting = run("_deleting", true);
  made.after = run("_after", false);
  return made;
}

}  // namespace

void retention(stage& on) {
  auto const& with = on.options();
  auto const in = on.make_place(wanted_store(with, store_kind::postgresql));
  std::fprintf(stderr, "bench: writing %llu finished sagas\n", static_cast<unsigned long long>(with.rows));
  fill_store(on, in, with.rows);
  if (in.kind == store_kind::postgresql) on.postgresql().checkpoint();
  auto const closed = measure_round(on, "closed", in, std::nullopt);
  auto const rate = with.rate.value_or(closed.before.sagas_per_s * with.open_share);
  auto const open = measure_round(on, "open", in, rate);
  std::printf("%s\n%s\n", machine_text(on).c_str(),
              cases_text({closed.before, closed.deleting, closed.after, open.before, open.deleting, open.after}).c_str());
  std::printf("deleted a second: %s beside the closed loop, %s beside the open one\n",
              figure(closed.deleting.deleted_per_s.value_or(0)).c_str(), figure(open.deleting.deleted_per_s.value_or(0)).c_str());
  std::printf("p99 while deleting, over the mean of before and after: %s closed, %s open\n", figure(closed.p99_ratio()).c_str(),
              figure(open.p99_ratio()).c_str());
  atone::json::writer document;
  begin_document(document, on.options());
  document.key("rows").number(with.rows);
  for (auto const* each : {&closed, &open}) {
    for (auto const* one : {&each->before, &each->deleting, &each->after}) write_case(document, *one);
  }
  document.key("closed_p99_ratio").number(closed.p99_ratio()).key("open_p99_ratio").number(open.p99_ratio());
  finish_document(document, on);
}

}  // namespace bench
