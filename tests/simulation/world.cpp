#include "world.hpp"

#include <algorithm>

#include "node.hpp"
#include "people.hpp"

namespace atone::simulation {
namespace {

constexpr std::uint64_t happenings_max = 3'000'000;
constexpr duration report_again = std::chrono::seconds{1};
constexpr duration grace = std::chrono::seconds{21};  // after the last end: what is still on its way arrives

// Whether no clock jumps and nobody stands still: then the pace of attempts says something.
bool steady(world_settings const& of) {
  auto const harms = [](fault kind) { return kind == fault::clock_jump || kind == fault::freeze; };
  if (of.script) return std::none_of(of.script->begin(), of.script->end(), [&](happened const& one) { return harms(one.kind); });
  return of.likely[static_cast<std::size_t>(fault::clock_jump)] == 0 && of.likely[static_cast<std::size_t>(fault::freeze)] == 0;
}

engine_bounds drawn_bounds(dice chance) {
  engine_bounds made;
  auto aside = chance;
  aside.next();
  if (aside.chance(500)) made.adopted_a_turn = aside.between(1, 3);
  if (aside.chance(500)) {  // short waits count as long ones: most sagas leave memory between two attempts
    made.rest_least = std::chrono::milliseconds{aside.between(0, 2000)};
    made.wakes_a_read = aside.between(1, 4);
  }
  if (!chance.chance(400)) return made;
  if (chance.chance(500)) made.open_max = static_cast<std::uint32_t>(chance.between(5, 40));
  if (chance.chance(500)) made.queue_max = chance.between(1, 20);
  if (chance.chance(500)) made.timers_a_turn = chance.between(1, 3);
  if (chance.chance(500)) made.commands_a_turn = chance.between(1, 3);
  if (chance.chance(500)) made.records_a_batch = chance.between(1, 6);
  made.early_alarms = chance.chance(500);
  return made;
}

extras drawn_extras(dice chance) {
  extras made;
  if (!chance.chance(600)) return made;
  made.stops = chance.chance(600);
  made.callbacks = chance.chance(600);
  made.sql_starts = chance.chance(600);
  return made;
}

}  // namespace

world_settings drawn_settings(std::uint64_t seed) {
  dice chance{seed ^ 0xA5A5A5A5A5A5A5A5U};
  world_settings made;
  made.seed = seed;
  made.leased = chance.chance(500);
  made.nodes = made.leased ? static_cast<unsigned>(chance.between(2, 4)) : 1;
  made.shards = made.leased ? static_cast<std::uint16_t>(chance.between(made.nodes, 8)) : 1;
  made.lease = std::chrono::seconds{2} * (1 << chance.below(3));
  made.sagas = static_cast<unsigned>(chance.between(20, 120));
  made.arrivals = std::chrono::seconds{chance.between(1, 30)};
  made.rage = std::chrono::seconds{chance.between(10, 60)};
  made.likely = drawn_rates(chance, made.leased);
  made.bounds = drawn_bounds(dice{seed ^ 0x3C6EF372FE94F82BU});  // dice of their own: what else a seed draws stays as it was
  // No seed that is kept in seeds.txt has any.
  made.extra = drawn_extras(dice{seed ^ 0x71b7fc6124817e18U});
  return made;
}

world::world(world_settings with, std::vector<blueprint> const& definitions)
    : settings_(std::move(with)),
      definitions_(definitions),
      delays_(settings_.seed),
      faults_(settings_.likely, settings_.seed ^ 0x5DEECE66DU),
      judge_(definitions, steady(settings_)),
      store_(settings_.shards, judge_),
      services_(faults_, judge_) {
  if (settings_.script) faults_.script(*settings_.script);
  judge_.clock([this] { return agenda_.now(); });
  if (settings_.trace) {
    judge_.trace([this](saga_id of, event const& what) {
      note("journal", of.text().substr(20) + " " + std::to_string(what.seq.value()) + " " + std::string{name(what.kind)} + " " +
                          what.step.text() + " " + std::string{name(what.op)} + " " + std::to_string(what.n.value()) + " " +
                          std::string{name(what.sureness)} + " " + std::string{name(what.timer)} + " " + what.text);
    });
  }
  store_.clock([this] { return store_time(); });
  people_ = std::make_unique<people>(*this);
  for (unsigned number = 0; number < settings_.nodes; ++number) nodes_.push_back(std::make_unique<node>(*this, number));
}
world::~world() = default;

saga_id world::next_saga() {
  saga_id::bytes bytes{};
  ++ids_;
  for (std::size_t byte = 0; byte < 8; ++byte) bytes[15 - byte] = static_cast<std::uint8_t>(ids_ >> (8 * byte));
  return saga_id{bytes};
}

void world::note(std::string_view what, std::string const& more) {
  trace_ += std::to_string(agenda_.now().count());
  trace_ += ' ';
  trace_ += what;
  trace_ += ' ';
  trace_ += more;
  trace_ += '\n';
}

void world::jump_clock() {
  if (!happens(fault::clock_jump)) return;
  auto const by = delays_.up_to(std::chrono::seconds{20});
  clock_offset_ += delays_.chance(500) ? by : -by;
}

void world::report(runtime::outgoing_call const& what, runtime::call_answer const& answer, int times) {
  auto const again = [this, what, answer, times] {
    if (times > 1) agenda_.after(report_again, owner{}, [this, what, answer, times] { report(what, answer, times - 1); });
  };
  auto const at = std::find_if(nodes_.begin(), nodes_.end(),
                               [&](auto const& one) { return one->up() && !one->frozen() && one->engine().under_way(what.saga); });
  if (at == nodes_.end()) return again();
  if (settings_.trace) note("report", what.saga.text().substr(20) + " " + what.step.text() + " " + std::string{atone::name(what.op)});
  (*at)->engine().report(what.saga, what.step, what.op, what.n, answer, [this, what, answer, again](result<void> outcome) {
    if (outcome) return judge_.report_acknowledged(what, answer);
    if (outcome.error().code == errc::conflict) return judge_.report_came_late(what);
    if (outcome.error().retryable()) again();
  });
}

void world::become_calm() {
  faults_.calm();
  store_.forgive();
  if (settings_.trace) note("calm", "");
}

void world::step() {
  auto next = agenda_.take();
  auto const of = next.of;
  if (of.node == owner::nobody) {
    next.what();
  } else {
    nodes_[of.node]->happen(std::move(next));
  }
  for (auto const& one : nodes_) {
    if (one->doomed()) one->crash();
  }
}

void world::run() {
  for (auto const& one : nodes_) {
    agenda_.after(delays_.up_to(std::chrono::milliseconds{500}), owner{}, [&one = *one] { one.boot(); });
  }
  agenda_.after(settings_.rage, owner{}, [this] { become_calm(); });
  people_->begin();
  std::optional<duration> over;
  while (!agenda_.empty() && agenda_.taken() < happenings_max && agenda_.next_at() <= settings_.limit) {
    step();
    if (!judge_.violations().empty()) return;
    bool const all = people_->all_answered() && judge_.everything_ended();
    if (!all) over.reset();
    if (all && !over) over = agenda_.now() + grace;
    if (over && agenda_.now() >= *over) break;
  }
  judge_.finish(store_);
}

}  // namespace atone::simulation
