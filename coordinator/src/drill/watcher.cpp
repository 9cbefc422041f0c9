#include "drill/watcher.hpp"

namespace atone::drill {

result<void> watcher::look(moment now, managed_process const* down) {
  for (std::size_t n = 0; n < seen_.size(); ++n) {
    auto& process = *installation_.processes()[n];
    if (&process == down) {
      seen_[n].up = false;
      seen_[n].due.reset();
      continue;
    }
    if (auto looked = look_at(process, seen_[n], now); !looked) return looked;
  }
  return {};
}

result<void> watcher::look_at(managed_process& which, state& of, moment now) {
  if (which.running()) {
    if (!of.up) of.since = now;
    of.up = true;
    if (now - of.since >= in_order_after) of.in_a_row = 0;
    return {};
  }
  // What the drill starts runs from then on: whoever is down without being due has ended by itself, whether it was seen running or not.
  bool const news = of.up || (which.can_start() && !of.due);
  if (news) {
    if (auto noted = note_end(which, of, now); !noted) return noted;
  }
  if (!of.due || now < *of.due) return {};
  of.due.reset();
  of.up = true;
  of.since = now;
  return which.start();
}

result<void> watcher::note_end(managed_process const& which, state& of, moment now) {
  of.up = false;
  ++ended_[which.plan().name];
  if (!which.can_start()) return {};  // somebody else does
  if (++of.in_a_row > restarts_max) {
    return error{errc::unavailable, "process " + which.plan().name + " ends again and again: " + which.exit_text()};
  }
  of.due = of.in_a_row == 1 ? now : now + pause;
  return {};
}

}  // namespace atone::drill
