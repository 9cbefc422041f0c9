// Which shards a simulated coordinator drives, and how they come and go: the real lease policy, and the rules of the library's lease keeper
// and shard table (coordinator/src/library), which live on Asio's loop and threads of their own and so can't stand in virtual time.
// Thread rules: one thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include <atone/membership.hpp>

#include "runtime/lease_policy.hpp"
#include "runtime/ports.hpp"

namespace atone::simulation {

class node;

class steward {
 public:
  explicit steward(node& of);

  // The first look, before anything is loaded; what is held by it. Takes what is free.
  result<std::vector<shard>> begin();
  // The engine drives: looks at the others from here on.
  void run();
  bool holds() const;
  void extend(duration asked);
  void resign() { resigned_ = true; }
  // The process ends: every shard goes to whoever has the fewest.
  void give_all();

 private:
  void tick();
  void arrived(duration asked);
  void decide(roster seen, duration asked);
  void carry_out(std::vector<member> const& gone, std::size_t claim);
  void take(roster seen, std::vector<shard_move> give, duration asked);
  void load(shard which);
  void adopt(shard which, std::shared_ptr<runtime::loaded_sagas> const& sagas, std::size_t from);
  void give(std::vector<shard_move> moves);
  void try_to_let_go();
  void insist();
  void stay();
  void hand_over(std::vector<shard_move> moves);
  void look_into_inbox();
  duration interval() const;
  void note(char const* what, std::vector<shard> const& which) const;

  node& node_;
  duration const lease_;
  runtime::lease_policy policy_;
  duration until_{};
  bool resigned_ = false;
  bool giving_all_ = false;
  roster seen_;  // the newest
  std::set<shard> held_, loading_, going_;
  std::map<shard, shard_move> leaving_;
  std::map<shard, duration> gone_at_;
  std::map<shard, duration> stubborn_;
  duration leave_until_{};
};

}  // namespace atone::simulation
