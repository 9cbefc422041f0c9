// What callers ask of sagas, also of those that are not under way here: views, waits, actions, reports, who drives them.
#include <algorithm>
#include <utility>

#include "impl_parts.hpp"
#include "runtime/stored_view.hpp"

namespace atone {
namespace {

constexpr duration look_pause_max = std::chrono::milliseconds{500};  // between looks into the store

}  // namespace

result<std::optional<open_saga>> read_saga(journal_reader& in, saga_id saga) {
  auto row = in.find(saga);
  if (!row) return row.error();
  if (!*row) return std::optional<open_saga>{};
  auto events = in.history(saga);
  if (!events) return events.error();
  if (events->empty()) {  // deleted between these two looks?
    auto const still = in.find(saga);
    if (!still) return still.error();
    if (!*still) return std::optional<open_saga>{};
  }
  auto log = in.compensations(saga);
  if (!log) return log.error();
  open_saga made;
  made.row = std::move(**row);
  made.events = std::move(*events);
  made.compensations = std::move(*log);
  return std::optional{std::move(made)};
}

void coordinator::impl::answer_from_store(saga_id id, std::function<void(result<saga_view>)> then) {
  // Once: whoever asks is told of an outage, and asks again.
  auto const read = [id](journal_reader& in) -> result<std::optional<open_saga>> {
    auto found = read_saga(in, id);
    if (found && !*found) return no_such_saga(in, id);
    return found;
  };
  read_once<std::optional<open_saga>>(read, [this, then = std::move(then)](result<std::optional<open_saga>> found) {
    if (!found) return then(found.error());
    auto& stored = **found;
    auto const& bound = stored.row.definition;
    auto const definition = engine->find_definition(bound.name, bound.version);
    then(runtime::stored_view(std::move(stored.row), stored.events, definition));
  });
}

void coordinator::impl::wait(saga_id id, duration timeout, std::function<void(result<saga_view>)> then) {
  wait_once(std::make_shared<wait_state>(loop, id, clock.now() + std::min(timeout, duration_max), std::move(then)));
}

void coordinator::impl::wait_once(std::shared_ptr<wait_state> const& one) {
  one->number = engine->wait(one->saga, [this, one](result<std::optional<saga_view>> found) {
    if (!one->then) return;
    if (!found) return one->finish(found.error());
    if (*found) return one->finish(std::move(**found));
    wait_in_store(one, false);
  });
  if (one->number == 0) return;  // answered without waiting
  one->timer.expires_after(std::max(duration{0}, std::chrono::duration_cast<duration>(one->until - clock.now())));
  one->timer.async_wait([this, one](boost::system::error_code cancelled) {
    if (cancelled || !one->then) return;
    engine->end_wait(one->saga, one->number);
    engine->view(one->saga, [this, one](result<std::optional<saga_view>> now) {
      if (!now) return one->finish(now.error());
      if (*now) return one->finish(std::move(**now));
      wait_in_store(one, true);
    });
  });
}

// Not under way here: it has ended, or another coordinator drives it. Then the store is looked at again and again, and so is the engine:
// the saga may come here. A look is at the saga's row alone, until that says that the wait is over.
void coordinator::impl::wait_in_store(std::shared_ptr<wait_state> const& one, bool last) {
  auto const answer = [this, one] { answer_from_store(one->saga, [one](result<saga_view> stored) { one->finish(std::move(stored)); }); };
  if (last || !shards || clock.now() >= one->until) return answer();
  read_once<std::optional<saga_row>>([id = one->saga](journal_reader& in) { return in.find(id); },
                                     [this, one, answer](result<std::optional<saga_row>> row) {
                                       if (!row && row.error().retryable() && !stopped.load()) return wait_again(one);
                                       if (!row) return one->finish(row.error());
                                       bool const goes_on = *row && !is_final((*row)->status) && (*row)->status != saga_status::parked;
                                       goes_on ? wait_again(one) : answer();
                                     });
}

void coordinator::impl::wait_again(std::shared_ptr<wait_state> const& one) {
  if (stopped.load()) return one->finish(library::stopped_error());
  in_store.insert(one);
  one->timer.expires_after(one->pause);
  one->pause = std::min(one->pause * 2, look_pause_max);
  one->timer.async_wait([this, one](boost::system::error_code cancelled) {
    in_store.erase(one);
    if (!cancelled && one->then) wait_once(one);
  });
}

// A definition may have been published through another coordinator a moment ago.
void coordinator::impl::start(start_request what, std::function<void(result<started>)> then) {
  bool const known = !shards || engine->find_definition(what.saga, what.version) != nullptr;
  auto told = [this, then = std::move(then)](result<started> outcome) { tell_started(std::move(outcome), then); };
  if (known) return engine->start(std::move(what), std::move(told));
  shards->refresh_definitions([this, what = std::move(what), told = std::move(told)](result<void> read) mutable {
    if (!read) return told(read.error());
    engine->start(std::move(what), std::move(told));
  });
}

error coordinator::impl::elsewhere(saga_row const& row) const {
  if (!shards) return error{errc::unavailable, "saga " + row.id.text() + " is not under way"};
  auto const who = shards->driver_of(row.home);
  if (!who || who->number == shards->seen().self) {
    return error{errc::unavailable, "saga " + row.id.text() + " is on its way between two coordinators; try again"};
  }
  return error{errc::elsewhere, "saga " + row.id.text() + " is driven by " + who->node.value() +
                                    (who->address.empty() ? std::string{} : " at " + who->address)};
}

std::vector<node_view> coordinator::impl::nodes() const {
  std::vector<node_view> found;
  if (!shards) {
    node_view own;
    own.node = settings.node;
    own.address = settings.address;
    own.alive = own.here = true;
    own.shards = 1;
    return {own};
  }
  for (auto const& one : shards->seen().members) {
    node_view made;
    made.node = one.node;
    made.address = one.address;
    made.alive = one.alive;
    made.here = one.number == shards->seen().self;
    made.shards = one.held.size();
    if (made.here) made.clock_offset = clock_offset;
    found.push_back(std::move(made));
  }
  return found;
}

// An action on a saga that is not under way is refused by what the store says of it.
void coordinator::impl::act(operator_request what, std::function<void(result<saga_view>)> then) {
  engine->act(what, [this, what, then = std::move(then)](result<saga_view> outcome) {
    if (outcome || outcome.error().code != errc::not_found || engine->under_way(what.saga)) return then(std::move(outcome));
    answer_from_store(what.saga, [this, then, what](result<saga_view> stored) {
      if (!stored) return then(std::move(stored));
      if (!stored->ended()) return then(elsewhere(stored->row));
      then(error{errc::conflict, "the saga has ended: " + std::string{name(stored->row.status)}});
    });
  });
}

void coordinator::impl::report(saga_id id, step_path step, operation op, attempt n, runtime::call_answer answer,
                               std::function<void(result<void>)> then) {
  engine->report(id, std::move(step), op, n, std::move(answer), [this, id, then = std::move(then)](result<void> outcome) {
    bool const here = !shards || outcome || outcome.error().code != errc::not_found || engine->under_way(id);
    if (here) return then(std::move(outcome));
    read_once<std::optional<saga_row>>([id](journal_reader& in) { return in.find(id); },
                                       [this, outcome, then](result<std::optional<saga_row>> row) {
                                         if (!row) return then(row.error());
                                         if (!*row || is_final((*row)->status)) return then(outcome);
                                         then(elsewhere(**row));
                                       });
  });
}

void coordinator::impl::driver_of(saga_id id, std::function<void(result<driver>)> then) {
  auto const find = [id](journal_reader& in) -> result<std::optional<saga_row>> {
    auto row = in.find(id);
    if (row && !*row) return no_such_saga(in, id);
    return row;
  };
  read_once<std::optional<saga_row>>(find, [this, then = std::move(then)](result<std::optional<saga_row>> row) {
    if (!row) return then(row.error());
    driver made;
    made.here = !shards || shards->holds((*row)->home);
    made.node = settings.node;
    auto const who = shards ? shards->driver_of((*row)->home) : std::nullopt;
    if (made.here) return then(made);
    if (!who) return then(elsewhere(**row));
    made.node = who->node;
    made.address = who->address;
    then(made);
  });
}

}  // namespace atone
