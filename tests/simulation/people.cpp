#include "people.hpp"

#include <algorithm>

#include "node.hpp"
#include "runtime/stored_view.hpp"

namespace atone::simulation {
namespace {

using action = operator_request::action_kind;
constexpr duration patience = std::chrono::seconds{3};   // of a client for its answer
constexpr duration round = std::chrono::seconds{2};      // of the operators
constexpr int missed_max = 20;                           // looks for an alert: a minute, which no commit takes
constexpr duration meddling = std::chrono::seconds{10};  // somebody comes within this time

operator_request request(saga_id id, action what) {
  operator_request made;
  made.action = what;
  made.saga = id;
  made.actor = "somebody";
  made.note = "seen to";
  return made;
}

}  // namespace

void people::begin() {
  for (unsigned number = 0; number < world_.settings().sagas; ++number) {
    world_.time().after(world_.delays().up_to(world_.settings().arrivals), owner{}, [this, number] { one_saga(number); });
  }
  unanswered_ = world_.settings().sagas;
  world_.time().after(round, owner{}, [this] { rounds(); });
}

node* people::any_node() {
  auto& nodes = world_.nodes();
  auto const first = world_.delays().below(nodes.size());
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    auto& one = *nodes[(first + at) % nodes.size()];
    if (one.up() && !one.frozen()) return &one;
  }
  return nullptr;
}

node* people::driver_of(saga_id id) {
  for (auto const& one : world_.nodes()) {
    if (one->up() && !one->frozen() && one->engine().under_way(id)) return one.get();
  }
  return nullptr;
}

void people::one_saga(unsigned number) {
  auto& chance = world_.delays();
  auto const& definition = world_.definitions()[chance.below(world_.definitions().size())];
  start_facts facts;
  facts.user = static_cast<std::int64_t>(chance.below(5));
  auto made = std::make_shared<wish>();
  made->saga = definition.name;
  made->key = "key-" + std::to_string(number);
  made->input = "{\"user\": " + std::to_string(facts.user);
  for (int flag = 0; flag < input_flags; ++flag) {
    bool const set = chance.chance(700);
    facts.flags.at(static_cast<std::size_t>(flag)) = set;
    made->input += ", \"f" + std::to_string(flag) + "\": " + (set ? "true" : "false");
  }
  made->input += "}";
  world_.judge().expect(made->saga, made->key, facts);
  if (world_.settings().extra.sql_starts && chance.chance(400)) return ask_by_sql(made);
  ask(made);
  if (chance.chance(100)) world_.time().after(chance.up_to(patience * 3), owner{}, [this, made] { ask(made); });  // again, though answered
}

// Another program starts it inside a transaction of its own, sometimes twice, and looks later what has come of it.
void people::ask_by_sql(std::shared_ptr<wish> const& what) {
  auto& chance = world_.delays();
  for (int times = chance.chance(150) ? 2 : 1; times > 0; --times) {
    shard const waits_in{static_cast<std::uint16_t>(chance.below(world_.store().shards()))};
    world_.store().ask_start(waits_in, what->saga, what->key, what->input);
  }
  look_for(what);
}

// Refused, and somebody was told: it is asked for once more. Nobody may have been told yet, but not for long. `missed`: so often before.
void people::look_for(std::shared_ptr<wish> const& what, int missed) {
  world_.time().after(patience, owner{}, [this, what, missed] {
    auto const holder = world_.store().holder(what->saga, what->key);
    if (holder) return answered(what, *holder);
    auto const state = world_.store().state_of_request(what->saga, what->key);
    bool const gone = state == shared_store::request_state::gone;
    if (state == shared_store::request_state::waiting || (gone && missed < missed_max)) return look_for(what, gone ? missed + 1 : 0);
    if (gone) world_.judge().request_lost(what->saga, what->key);
    ask_by_sql(what);
  });
}

// Until it is answered, of whoever is there.
void people::ask(std::shared_ptr<wish> const& what) {
  world_.time().after(patience, owner{}, [this, what] {
    if (!what->answered) ask(what);
  });
  auto* const at = any_node();
  if (at == nullptr) return;
  start_request made;
  made.saga = what->saga;
  made.key = business_key{what->key};
  made.input = what->input;
  at->engine().start(std::move(made), [this, what](result<started> outcome) {
    if (outcome) answered(what, outcome->id);
  });
}

void people::answered(std::shared_ptr<wish> const& what, saga_id id) {
  world_.judge().start_acknowledged(what->saga, what->key, id);
  if (std::exchange(what->answered, true)) return;
  --unanswered_;
  if (world_.happens(fault::cancel)) act_later(id, action::cancel, std::chrono::seconds{4});
  if (world_.happens(fault::pause)) {
    act_later(id, action::pause, std::chrono::seconds{2});
    world_.time().after(std::chrono::seconds{2} + world_.delays().up_to(meddling), owner{},
                        [this, id] { act(request(id, action::resume)); });
  }
  if (world_.happens(fault::meddle)) world_.time().after(world_.delays().up_to(meddling), owner{}, [this, id] { see_to(id); });
  if (world_.happens(fault::look)) world_.time().after(world_.delays().up_to(patience), owner{}, [this, id] { look_at(id); });
  if (world_.delays().chance(200)) world_.time().after(world_.delays().up_to(patience), owner{}, [this, id] { wait_for(id); });
}

void people::wait_for(saga_id id) {
  auto* const at = driver_of(id);
  if (at == nullptr) return;
  at->engine().wait(id, [this](result<std::optional<saga_view>> told) {
    if (told && *told) world_.judge().told_ended(**told);
  });
}

void people::look_at(saga_id id) {
  auto* const at = driver_of(id);
  if (at == nullptr) return;
  view(*at, id, [this](saga_view const& told) { world_.judge().viewed(told); });
}

// What is not in the engine's memory is looked up in the store.
void people::view(node& at, saga_id id, std::function<void(saga_view const&)> then) {
  at.engine().view(id, [this, &at, id, then](result<std::optional<saga_view>> told) {
    if (!told) return;
    if (*told) return then(**told);
    auto const* const stored = world_.store().find(id);
    if (stored == nullptr) return;
    auto const& bound = stored->row.definition;
    then(runtime::stored_view(stored->row, stored->events, at.engine().find_definition(bound.name, bound.version)));
  });
}

void people::act_later(saga_id id, action what, duration within) {
  world_.time().after(world_.delays().up_to(within), owner{}, [this, id, what] { act(request(id, what)); });
}

void people::act(operator_request const& what) {
  auto* const at = driver_of(what.saga);
  if (at == nullptr) return;
  at->engine().act(what, [this, what](result<saga_view> outcome) {
    if (outcome) world_.judge().action_acknowledged(what);
  });
}

// Operators look at everything that waits for a person; while faults rage they are somewhere else.
void people::rounds() {
  world_.time().after(round, owner{}, [this] { rounds(); });
  if (world_.faults().raging()) return;
  for (auto const id : world_.judge().at_rest()) see_to(id);
}

void people::see_to(saga_id id) {
  auto* const at = driver_of(id);
  if (at == nullptr) return;
  view(*at, id, [this](saga_view const& seen) {
    if (seen.row.status == saga_status::paused) return act(request(seen.row.id, action::resume));
    if (seen.row.status != saga_status::parked) return;
    if (seen.parked.empty()) return act(request(seen.row.id, action::retry));
    for (auto const& step : seen.parked) settle(seen, step);
  });
}

// Tried again once or twice; then a person decides.
void people::settle(saga_view const& view, step_path const& step) {
  auto& tries = tries_[{view.row.id, step.text()}];
  auto what = request(view.row.id, action::retry);
  what.step = step;
  if (++tries > 2) {
    auto const at = std::find_if(view.steps.begin(), view.steps.end(), [&](step_view const& one) { return one.path == step; });
    bool const undo = at != view.steps.end() && at->undo == undo_phase::parked;
    what.action = undo || tries % 2 == 0 ? action::skip : action::complete;
    what.output = R"({"v": 777})";
  }
  act(what);
}

}  // namespace atone::simulation
