#include "lease_policy.hpp"

#include <algorithm>
#include <optional>

namespace atone::runtime {
namespace {

std::vector<member const*> living(roster const& seen) {
  std::vector<member const*> alive;
  for (auto const& one : seen.members) {
    if (one.alive) alive.push_back(&one);
  }
  // Those that have most first: they keep the remainder, so that it does not move. The same order for everybody.
  std::sort(alive.begin(), alive.end(), [](member const* left, member const* right) {
    if (left->held.size() != right->held.size()) return left->held.size() > right->held.size();
    return left->number < right->number;
  });
  return alive;
}

// The surplus in the order of its givers, dealt out to those that have too few in theirs.
std::vector<shard_move> moves_of(roster const& seen, std::map<writer_number, std::size_t> const& shares) {
  auto const alive = living(seen);
  std::vector<writer_number> wanting;
  for (auto const* one : alive) {
    auto const share = shares.at(one->number);
    for (auto have = one->held.size(); have < share; ++have) wanting.push_back(one->number);
  }
  std::vector<shard_move> own;
  std::size_t dealt = 0;
  for (auto const* one : alive) {
    for (auto have = one->held.size(); have > shares.at(one->number) && dealt < wanting.size(); --have, ++dealt) {
      if (one->number == seen.self) own.emplace_back(one->held[have - 1], wanting[dealt]);
    }
  }
  return own;
}

}  // namespace

std::map<writer_number, std::size_t> fair_shares(roster const& seen) {
  auto const alive = living(seen);
  std::map<writer_number, std::size_t> shares;
  if (alive.empty()) return shares;
  std::size_t total = seen.free.size();
  for (auto const* one : alive) total += one->held.size();
  auto remainder = total % alive.size();
  for (auto const* one : alive) {
    shares[one->number] = total / alive.size() + (remainder > 0 ? 1 : 0);
    if (remainder > 0) --remainder;
  }
  return shares;
}

std::vector<member> lease_policy::gone(roster const& seen, duration asked, duration answered) {
  bool const saw_all = last_look_ && answered - *last_look_ <= blind_after_;
  last_look_ = answered;
  std::map<writer_number, sighting> fresh;
  std::vector<member> gone;
  for (auto const& one : seen.members) {
    if (!one.alive || one.number == seen.self) continue;
    auto const known = sightings_.find(one.number);
    bool const same = saw_all && known != sightings_.end() && known->second.of == one.epoch && known->second.progress == one.progress;
    sighting now_seen;
    now_seen.of = one.epoch;
    now_seen.progress = one.progress;
    now_seen.since = same ? known->second.since : answered;
    fresh.emplace(one.number, now_seen);
    if (same && asked - now_seen.since >= one.lease) gone.push_back(one);
  }
  sightings_ = std::move(fresh);
  return gone;
}

lease_policy::decision lease_policy::decide(roster const& seen, duration asked, duration answered) {
  decision made;
  made.gone = gone(seen, asked, answered);
  auto const shares = fair_shares(seen);
  auto const own = std::find_if(seen.members.begin(), seen.members.end(), [&](member const& one) { return one.number == seen.self; });
  if (own == seen.members.end() || !own->alive) return made;
  auto const share = shares.at(own->number);
  if (!seen.free.empty()) {  // what is free goes first: nobody has to let go of anything for it
    made.claim = share > own->held.size() ? std::min(share - own->held.size(), seen.free.size()) : 0;
  } else {
    made.give = moves_of(seen, shares);
  }
  return made;
}

}  // namespace atone::runtime
