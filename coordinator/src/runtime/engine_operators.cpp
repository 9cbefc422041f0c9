// What people ask for: views, waits, and the operator's actions.
#include <algorithm>

#include <atone/utf8.hpp>

#include "instance.hpp"
#include "planted.hpp"

namespace atone {

// Here, and not in the header: copied in place in all those results and functions, g++ 12 takes them for uninitialised.
saga_view::saga_view() = default;
saga_view::~saga_view() = default;
saga_view::saga_view(saga_view const&) = default;
saga_view& saga_view::operator=(saga_view const&) = default;
saga_view::saga_view(saga_view&&) noexcept = default;
saga_view& saga_view::operator=(saga_view&&) noexcept = default;

namespace runtime {

void engine::view(saga_id id, callback<std::optional<saga_view>> then) {
  auto const* const of = find(id);
  if (of == nullptr || of->reloading) return ports_.turns.defer([then] { then(std::optional<saga_view>{}); });
  // Memory may be ahead of the store, and will be further ahead then: what it says now is told once it is durable.
  auto const view = std::optional{view_of(*of)};
  if (idle() || planted(planted_bug::view_before_durable)) return ports_.turns.defer([then, view] { then(view); });
  tell(id, [then, view](error const* failed) {
    if (failed != nullptr) return then(*failed);
    then(view);
  });
}

std::uint64_t engine::wait(saga_id id, callback<std::optional<saga_view>> then) {
  if (auto const* const lies = resting_.find(id); lies != nullptr && !lies->parked) {
    resting_waits_[id].emplace_back(++waits_, std::move(then));
    return waits_;
  }
  auto* const of = find(id);
  if (of != nullptr && of->foreign) {  // another's from its first event on
    ports_.turns.defer([then] { then(std::optional<saga_view>{}); });
    return 0;
  }
  bool const at_rest = of != nullptr && !of->reloading && (is_final(of->row.status) || of->row.status == saga_status::parked);
  if (of == nullptr || at_rest) {
    view(id, std::move(then));
    return 0;
  }
  of->waiters.emplace_back(++waits_, std::move(then));
  return waits_;
}

void engine::end_wait(saga_id id, std::uint64_t number) {
  auto const same = [number](auto const& one) { return one.first == number; };
  if (auto* const of = find(id)) std::erase_if(of->waiters, same);
  auto const resting = resting_waits_.find(id);
  if (resting == resting_waits_.end()) return;
  std::erase_if(resting->second, same);
  if (resting->second.empty()) resting_waits_.erase(resting);
}

result<event> engine::operator_event(instance const& of, operator_request const& what) const {
  using action = operator_request::action_kind;
  event made;
  made.cause = of.machine.last();
  made.actor = what.actor;
  made.text = what.note;
  made.step = what.step;
  bool const everything = what.action == action::retry && of.machine.parked_itself();
  bool const on_step = !everything && (what.action == action::retry || what.action == action::skip || what.action == action::complete);
  if (on_step && what.step.empty()) {
    auto const parked = of.machine.parked_steps();
    if (parked.size() > 1)
      return error{errc::invalid_argument,
                   std::to_string(parked.size()) + " steps are parked; say which one, for example " + parked.front().text()};
    if (parked.size() == 1) made.step = parked.front();
    if (parked.empty() && what.action != action::retry) return error{errc::conflict, "no step of the saga is parked"};
  }
  bool const needs_note = what.action == action::skip || what.action == action::complete;
  if (needs_note && what.note.empty())
    return error{errc::invalid_argument, std::string{name(what.action)} + " needs a note: it is the record of why"};
  switch (what.action) {
    case action::cancel:
      made.kind = event_kind::cancel_requested;
      made.step = step_path{};
      break;
    case action::pause:
      made.kind = event_kind::pause_requested;
      made.step = step_path{};
      break;
    case action::resume:
      made.kind = event_kind::resume_requested;
      made.step = step_path{};
      break;
    case action::retry: made.kind = event_kind::operator_retry; break;
    case action::skip: made.kind = event_kind::operator_skip; break;
    case action::complete:
      made.kind = event_kind::operator_complete;
      made.payload = what.output.empty() ? "null" : what.output;
      break;
  }
  return made;
}

void engine::act(operator_request what, callback<saga_view> then) {
  auto const fail = [&](error why) { ports_.turns.defer([then, why = std::move(why)] { then(why); }); };
  if (!driving_ || stopping_) return fail(not_driving());
  if (rests(what.saga)) {
    return wake(what.saga, [this, what, then](error const* failed) { failed != nullptr ? then(*failed) : act(what, then); });
  }
  auto* const of = find(what.saga);
  if (of == nullptr || of->starting) return fail(error{errc::not_found, "no saga " + what.saga.text() + " is under way"});
  if (of->reloading) return fail(error{errc::unavailable, "the saga is being read again; try again"});
  if (!of->broken.empty()) return fail(error{errc::conflict, "the saga's history can't be replayed: " + of->broken});
  if (of->sql_in_flight) return when_free(*of, [this, what, then] { act(what, then); });
  auto made = operator_event(*of, what);
  if (made) {  // a person has looked: the count begins anew
    of->crashes = of->crashes_found = 0;
    of->suspect = false;
  }
  bool const lost = planted(planted_bug::lose_cancel) && what.action == operator_request::action_kind::cancel;
  result<void> done = lost ? result<void>{} : made ? deliver(*of, *made) : result<void>{made.error()};
  operator_action_row row;
  row.saga = what.saga;
  row.actor = clean_text(what.actor);
  row.action = name(what.action);
  row.step = step_path{clean_text((made ? made->step : what.step).text().substr(0, step_path::size_max))};
  row.note = clean_text(what.note);
  row.outcome = done ? "done" : clean_text(done.error().message);
  row.at = ports_.clock.now();
  gathering_->rows.actions.push_back(std::move(row));
  auto const refusal = done ? std::nullopt : std::optional{done.error()};
  auto const view = view_of(*of);
  tell(what.saga, [then, refusal, view](error const* failed) {
    if (failed != nullptr) return then(*failed);
    if (refusal) return then(*refusal);
    then(view);
  });
}

}  // namespace runtime
}  // namespace atone

namespace atone {

std::string_view name(operator_request::action_kind of) noexcept {
  using action = operator_request::action_kind;
  switch (of) {
    case action::cancel: return "cancel";
    case action::pause: return "pause";
    case action::resume: return "resume";
    case action::retry: return "retry";
    case action::skip: return "skip";
    case action::complete: return "complete";
  }
  return "unknown";
}

}  // namespace atone
