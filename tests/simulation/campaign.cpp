#include "campaign.hpp"

#include <ostream>

namespace atone::simulation {

bool campaign::run_one(std::uint64_t seed) {
  auto const made = run_seed(seed, trace_);
  ++runs_;
  sagas_ += made.sagas;
  crashes_ += made.crashes;
  happenings_ += made.happenings;
  checks_ += made.checks;
  parkings_ += made.parkings;
  faults_ += made.faults.size();
  for (auto const& [status, count] : made.ends) ends_[status] += count;
  if (trace_) out_ << made.trace;
  if (made.violations.empty()) return true;
  ++failed_;
  tell(made);
  return false;
}

void campaign::tell(run_report const& of) {
  for (auto const& one : of.violations) out_ << "seed " << of.seed << ": " << one.checker << ": " << one.text << '\n';
  out_ << "  again, with all that happens: atone_simulation --seed " << of.seed << " --trace\n";
  if (!shrink_) return;
  auto const least = simulation::shrink(of.seed, of);
  out_ << "  the smallest list of faults that still fails, of " << of.faults.size() << ":\n";
  for (auto const& one : least) out_ << "    " << name(one.kind) << ' ' << one.at << '\n';
}

void campaign::report() const {
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begun_;
  out_ << runs_ << " seeds, " << sagas_ << " sagas, " << failed_ << " failing seeds; " << faults_ << " faults, " << crashes_ << " crashes, "
       << parkings_ << " parkings, " << happenings_ << " happenings, " << checks_ << " checks; " << took.count() << " s, "
       << static_cast<std::uint64_t>(static_cast<double>(sagas_) / took.count()) << " sagas/s\n";
  for (auto const& [status, count] : ends_) out_ << "  " << name(status) << ' ' << count << '\n';
}

}  // namespace atone::simulation
