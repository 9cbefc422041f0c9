// Who is gone, and who should drive what: decided by each coordinator for itself from what the store says of all of them. Pure: the
// times are handed in, so a test or a simulator decides what they are.
//
// A member is gone when no progress of it was seen for the length of its lease, by a coordinator that saw the store all that time:
// after an outage of the store everybody gets a whole lease anew, since nobody could show a sign of life meanwhile. The clock is the
// watcher's own, of durations; neither the members' clocks nor the database's say anything.
//
// Balance: every living member's share is the shards divided by their number; the remainder goes to those that have most. All
// come to the same shares from the same roster, and only those with too many give, so nothing moves twice.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include <atone/journal.hpp>

namespace atone::runtime {

class lease_policy {
 public:
  // `blind_after`: looks that lie further apart than this say nothing of what was between them.
  explicit lease_policy(duration blind_after) : blind_after_(blind_after) {}

  struct decision {
    std::vector<member> gone;      // to be fenced, as they were seen
    std::size_t claim = 0;         // free shards to take
    std::vector<shard_move> give;  // of this coordinator's own, to those that have too few

    decision() = default;
  };

  // Before the store was asked and after it had answered, by a clock of durations that never stops (boot time). What is seen first may have
  // been true only at the end of a look; who is judged must have shown nothing until its beginning.
  decision decide(roster const& seen, duration asked, duration answered);
  // The store did not answer.
  void blinded() noexcept { last_look_ = std::nullopt; }

 private:
  struct sighting {
    epoch of;
    std::uint64_t progress = 0;
    duration since{};

    sighting() = default;
  };

  std::vector<member> gone(roster const& seen, duration asked, duration answered);

  duration const blind_after_;
  std::optional<duration> last_look_;
  std::map<writer_number, sighting> sightings_;
};

// How many shards each living member should have, by its number.
std::map<writer_number, std::size_t> fair_shares(roster const& seen);

}  // namespace atone::runtime
