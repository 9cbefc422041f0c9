// What happens inside a coordinator, for logs and metrics of the embedding program; one method a happening, each with an empty default.
// Thread rules: called on the coordinator's loop thread; must not block, and must not call the blocking forms.
#pragma once

#include <atone/records.hpp>
#include <atone/result.hpp>

namespace atone {

class observer {
 public:
  virtual ~observer() = default;
  virtual void saga_started(saga_row const&) {}  // durable
  virtual void saga_ended(saga_row const&) {}    // durable: completed or compensated
  virtual void saga_parked(saga_row const&) {}   // durable: waits for a person
  virtual void alerted(alert_row const&) {}      // is being written
  virtual void answer_late(saga_id, step_path const&, operation, attempt) {}
  // This process drives no sagas any more: another has taken over, or the store can't be trusted. Restart it, or let it go.
  virtual void stopped_driving(error const&) {}
};

}  // namespace atone
