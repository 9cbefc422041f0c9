// Which coordinators share a store, and who of them drives which shards: the leases.
//
// What a store with leases keeps:
//  - a shard passes from one writer to another only by the writer itself (journal::hand_over) or by whoever has fenced it;
//  - whoever fences a writer raises its epoch first: from then on it commits nothing;
//  - a node that takes over under its own name finds the leases it had, unless others have claimed them.
// When a writer is gone is for those who watch it to decide, each by its own clock of durations.
//
// Thread rules: a membership belongs to one thread at a time; calls block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <atone/ids.hpp>
#include <atone/result.hpp>
#include <atone/time.hpp>

namespace atone {

// Names a node's writer in the store, for as long as the node is known.
using writer_number = strong<struct writer_number_tag, std::uint16_t>;

// One coordinator as the store has it.
struct member {
  writer_number number;
  node_id node;
  std::string address;  // URL where other coordinators reach it; empty: not at all
  duration lease{};     // how long without progress until the others take what it drives
  atone::epoch epoch;
  std::uint64_t progress = 0;  // rises with each sign of life and each commit of this epoch
  bool alive = false;          // drives its shards; false: was fenced, or has left
  std::vector<shard> held;
  std::vector<atone::epoch> epochs;  // of each of them: rises when a shard changes hands, and is what its requests carry

  member() = default;
};

// How everybody stands at one moment.
struct roster {
  std::vector<member> members;  // this writer's own among them
  std::vector<shard> free;      // driven by nobody
  writer_number self;
  timestamp database_time;
  std::uint64_t definitions = 0;  // how many versions are published

  roster() = default;
};

class membership {
 public:
  virtual ~membership() = default;

  // A sign of life, and how everybody stands. Errors: fenced; unavailable, also when it is not known whether it arrived; corrupt.
  virtual result<roster> renew(std::string const& address, duration lease) = 0;
  // Fences a member that shows no sign of life; its shards become free. False: it has moved since it was seen so. Never waits for what the
  // member may hold open: that is ended. Errors: unavailable.
  virtual result<bool> fence(member const& as_seen) = 0;
  // Takes up to `most` shards that nobody drives; theirs are the sagas to load. Errors: fenced; unavailable.
  virtual result<std::vector<shard>> claim(std::size_t most) = 0;
  // Returns when another coordinator has said that something changed, or after `most`.
  virtual void await_news(duration most) = 0;
  // This writer drives nothing any more; what it still holds is free. Errors: fenced; unavailable.
  virtual result<void> leave() = 0;
  // The key that all coordinators on this store sign callback tokens with, where none is configured. Errors: unavailable.
  virtual result<std::string> token_key() = 0;
};

}  // namespace atone
