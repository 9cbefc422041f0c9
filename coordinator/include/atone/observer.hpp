// What happens inside a coordinator, for logs and metrics of the embedding program; one method a happening, each with an empty default.
// Thread rules: called on the coordinator's loop thread; must neither block nor throw, and must not call the blocking forms. The
// coordinator shares ownership (options::observer).
#pragma once

#include <atone/records.hpp>
#include <atone/result.hpp>

namespace atone {

// Told in the order of happening within one saga. What happens just before a crash may never be told here: the journal is the record.
class observer {
 public:
  virtual ~observer() = default;
  virtual void saga_started(saga_row const&) {}  // durable; not called for sagas that were recovered
  virtual void saga_ended(saga_row const&) {}    // durable: completed or compensated
  virtual void saga_parked(saga_row const&) {}   // durable: waits for a person; again each time it is parked anew
  virtual void alerted(alert_row const&) {}      // is being written; not yet deduplicated as the store does
  // An answer that nobody waited for any more, or of a saga that is not under way.
  virtual void answer_late(saga_id, step_path const&, operation, attempt) {}
  // This process drives no sagas any more: another has taken over, or the store can't be trusted. Restart it, or let it go.
  virtual void stopped_driving(error const&) {}
};

}  // namespace atone
