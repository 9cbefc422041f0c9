#include "stored_view.hpp"

#include <utility>

#include <atone/machine.hpp>

namespace atone::runtime {

saga_view stored_view(saga_row row, std::vector<event> const& history, definition_ptr const& definition) {
  saga_view view;
  view.row = std::move(row);
  if (!history.empty()) view.row.last = history.back().seq;
  for (auto const& one : history) {
    if (one.kind == event_kind::lock_granted) view.lock = one.text;
  }
  if (definition == nullptr || definition->ref.hash != view.row.definition.hash) return view;
  saga_machine machine{definition, view.row.id, view.row.key};
  for (auto const& one : history) {
    if (one.seq.value() != machine.last().value() + 1 || !machine.apply(one)) return view;  // what can't be replayed is shown by its row
  }
  view.steps = machine.steps();
  view.parked = machine.parked_steps();
  view.lock = machine.lock();
  return view;
}

}  // namespace atone::runtime
