#include "run.hpp"

#include <algorithm>

#include "node.hpp"

namespace atone::simulation {

std::vector<blueprint> definitions_of(std::uint64_t seed) {
  dice chance{seed * 0xD1342543DE82EF95U + 12345};
  bool const local = chance.chance(500);
  auto const count = chance.between(1, 3);
  std::vector<blueprint> made;
  for (std::uint64_t number = 0; number < count; ++number) {
    made.push_back(draw_blueprint(chance, "d" + std::to_string(number), local, chance.chance(500)));
  }
  return made;
}

run_report run(world_settings const& settings, std::vector<blueprint> const& definitions) {
  world simulated{settings, definitions};
  simulated.run();
  run_report made;
  made.seed = settings.seed;
  made.sagas = simulated.judge().sagas();
  made.crashes = simulated.crashes();
  made.happenings = simulated.time().taken();
  made.checks = simulated.judge().checks();
  made.parkings = simulated.judge().parkings();
  made.fingerprint = simulated.fingerprint();
  made.ends = simulated.judge().ends();
  made.violations = simulated.judge().violations();
  made.faults = simulated.faults().list();
  for (std::size_t kind = 0; kind < fault_kinds; ++kind) made.asked[kind] = simulated.faults().asked(static_cast<fault>(kind));
  made.trace = simulated.trace();
  return made;
}

run_report run_seed(std::uint64_t seed, bool trace) {
  auto const definitions = definitions_of(seed);
  auto settings = drawn_settings(seed);
  settings.trace = trace;
  return run(settings, definitions);
}

}  // namespace atone::simulation
