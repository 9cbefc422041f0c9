// The services that sagas call, with their own tables and barrier: they outlive every crash of a coordinator.
// Thread rules: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "faults.hpp"
#include "judge.hpp"

namespace atone::simulation {

class participants {
 public:
  struct reply {
    bool refused = false;
    std::string body;

    reply() = default;
  };

  participants(fault_source& faults, judge& told) : faults_(faults), judge_(told) {}

  // The request has arrived: what is done, is done now.
  reply handle(runtime::outgoing_call const& call);

 private:
  // One step of one saga in the service's table, behind the barrier.
  struct table {
    std::vector<std::pair<std::string, reply>> acts;  // by idempotency key
    std::optional<reply> undo;
    bool acted = false;
    bool tombstone = false;

    table() = default;
  };

  reply act(runtime::outgoing_call const& call, table& of);
  reply undo(runtime::outgoing_call const& call, table& of);
  void tell(runtime::outgoing_call const& call, deed what, std::int64_t value, bool fits);

  fault_source& faults_;
  judge& judge_;
  std::unordered_map<saga_id, std::map<std::string, table, std::less<>>> tables_;
  std::int64_t values_ = 0;
};

}  // namespace atone::simulation
