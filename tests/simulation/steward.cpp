#include "steward.hpp"

#include <algorithm>

#include "node.hpp"
#include "planted.hpp"

namespace atone::simulation {
namespace {

constexpr int margin_part = 10;  // of the lease, as the lease keeper takes off
constexpr duration leave_patience = std::chrono::seconds{5};
constexpr duration end_patience = std::chrono::milliseconds{500};
constexpr duration quiet_look = std::chrono::milliseconds{100};
constexpr duration stubborn_pause = std::chrono::seconds{30};
constexpr duration round_trip = std::chrono::milliseconds{4};

}  // namespace

steward::steward(node& of) : node_(of), lease_(of.in().settings().lease), policy_(lease_) {}

void steward::note(char const* what, std::vector<shard> const& which) const {
  if (!node_.in().tracing() || which.empty()) return;
  auto text = std::to_string(node_.number());
  for (auto const one : which) text += " " + std::to_string(one.value());
  node_.in().note(what, text);
}

duration steward::interval() const {
  return lease_ / 8;
}

bool steward::holds() const {
  return !resigned_ && (node_.boot_time() < until_ || planted(planted_bug::lease_never_ends));
}

void steward::extend(duration asked) {
  until_ = std::max(until_, asked + lease_ - lease_ / margin_part);
}

result<std::vector<shard>> steward::begin() {
  auto& store = node_.in().store();
  for (;;) {
    auto const asked = node_.boot_time();
    auto seen = store.renew(node_.writer_of_store(), node_.driving_under(), lease_);
    if (!seen) return seen.error();
    extend(asked);
    seen_ = *seen;
    auto const decided = policy_.decide(*seen, asked, node_.boot_time());
    if (decided.claim > 0) {
      auto const claimed = store.claim(node_.writer_of_store(), node_.driving_under(), decided.claim);
      if (!claimed) return claimed.error();
      if (!claimed->empty()) continue;
    }
    for (auto const& one : seen->members) {
      if (one.number != seen->self) continue;
      held_.insert(one.held.begin(), one.held.end());
      node_.engine().lease_epochs(one.held, one.epochs);
    }
    std::vector<shard> const held{held_.begin(), held_.end()};
    node_.engine().hold(held);
    note("begins with", held);
    return held;
  }
}

void steward::run() {
  node_.after(node_.in().delays().up_to(interval()), [this] { tick(); });
}

// One look: a question that may be lost, an answer, what follows from it, and again at once when that changed something.
void steward::tick() {
  if (resigned_ || !node_.engine().driving()) return;
  node_.after(interval(), [this] { tick(); });
  if (node_.in().happens(fault::deaf)) return policy_.blinded();
  auto const asked = node_.boot_time();
  node_.after(node_.in().delays().up_to(round_trip), [this, asked] { arrived(asked); });
}

void steward::arrived(duration asked) {
  auto seen = node_.in().store().renew(node_.writer_of_store(), node_.driving_under(), lease_);
  node_.after(node_.in().delays().up_to(round_trip), [this, asked, seen = std::move(seen)] {
    if (seen) return decide(*seen, asked);
    until_ = duration{};
    node_.engine().lose(seen.error());
  });
}

void steward::decide(roster seen, duration asked) {
  if (resigned_) return;
  extend(asked);
  node_.observe_clock(seen.database_time);
  auto decided = policy_.decide(seen, asked, node_.boot_time());
  if (planted(planted_bug::fence_at_once)) {
    decided.gone.clear();
    for (auto const& one : seen.members) {
      if (one.alive && one.number != seen.self) decided.gone.push_back(one);
    }
  }
  if (!decided.gone.empty() || decided.claim > 0) {
    return node_.after(node_.in().delays().up_to(round_trip),
                       [this, gone = std::move(decided.gone), claim = decided.claim] { carry_out(gone, claim); });
  }
  take(std::move(seen), std::move(decided.give), asked);
}

void steward::carry_out(std::vector<member> const& gone, std::size_t claim) {
  auto& store = node_.in().store();
  for (auto const& one : gone) store.fence(one);
  if (claim > 0) (void)store.claim(node_.writer_of_store(), node_.driving_under(), claim);
  arrived(node_.boot_time());
}

void steward::take(roster seen, std::vector<shard_move> moves, duration asked) {
  if (giving_all_) return;
  seen_ = seen;
  node_.engine().lease_renewed();
  auto const own = std::find_if(seen.members.begin(), seen.members.end(), [&](member const& one) { return one.number == seen.self; });
  if (own == seen.members.end()) return;
  if (!std::includes(own->held.begin(), own->held.end(), held_.begin(), held_.end()) ||
      !std::includes(own->held.begin(), own->held.end(), loading_.begin(), loading_.end())) {
    return node_.engine().lose(error{errc::fenced, "a shard that is driven here has another owner in the store"});
  }
  std::vector<shard> fresh;
  for (auto const which : own->held) {
    auto const gone = gone_at_.find(which);
    bool const old_news = gone != gone_at_.end() && asked <= gone->second;
    if (!old_news && !held_.contains(which) && !loading_.contains(which) && !going_.contains(which)) fresh.push_back(which);
  }
  if (!fresh.empty()) node_.engine().lease_epochs(own->held, own->epochs);
  for (auto const which : fresh) load(which);
  if (loading_.empty() && going_.empty() && !moves.empty()) give(std::move(moves));
  look_into_inbox();
}

void steward::load(shard which) {
  loading_.insert(which);
  node_.after(node_.in().delays().up_to(round_trip), [this, which] {
    auto const sagas = std::make_shared<runtime::loaded_sagas>();
    for (auto& one : node_.in().store().load_open({which})) sagas->add(std::move(one));
    node_.after(node_.in().delays().up_to(round_trip * 4), [this, which, sagas] {
      if (node_.engine().driving()) node_.engine().adopt(sagas->resting);
      adopt(which, sagas, 0);
    });
  });
}

void steward::adopt(shard which, std::shared_ptr<runtime::loaded_sagas> const& sagas, std::size_t from) {
  if (giving_all_ || !node_.engine().driving()) return;
  auto const to = std::min(sagas->open.size(), from + node_.in().settings().bounds.adopted_a_turn);
  std::vector<open_saga> slice;
  for (auto at = from; at < to; ++at) slice.push_back(std::move(sagas->open[at]));
  node_.engine().adopt(std::move(slice));
  if (to < sagas->open.size()) return node_.after(duration{0}, [this, which, sagas, to] { adopt(which, sagas, to); });
  loading_.erase(which);
  held_.insert(which);
  node_.engine().hold({which});
  note("holds", {which});
}

void steward::give(std::vector<shard_move> moves) {
  auto const now = node_.boot_time();
  std::vector<shard> movable;
  for (auto const which : held_) {
    auto const known = stubborn_.find(which);
    if (known == stubborn_.end() || now >= known->second) movable.push_back(which);
  }
  std::vector<shard> shards;
  for (auto& one : moves) {
    if (movable.empty()) break;
    one.shard = movable.back();
    movable.pop_back();
    shards.push_back(one.shard);
    leaving_.insert_or_assign(one.shard, one);
    held_.erase(one.shard);
    going_.insert(one.shard);
  }
  node_.engine().leave(shards);
  note("leaves", shards);
  leave_until_ = now + leave_patience;
  try_to_let_go();
}

void steward::try_to_let_go() {
  if (leaving_.empty() || !node_.engine().driving()) return;
  std::vector<shard> shards;
  for (auto const& [which, move] : leaving_) shards.push_back(which);
  std::vector<shard_move> moves;
  for (auto const which : node_.engine().let_go(shards)) {
    moves.push_back(leaving_.at(which));
    leaving_.erase(which);
  }
  if (!moves.empty()) hand_over(std::move(moves));
  if (leaving_.empty()) return;
  if (node_.boot_time() >= leave_until_) {
    insist();
    if (!giving_all_) return stay();
    if (leaving_.empty()) return;
  }
  node_.after(quiet_look, [this] { try_to_let_go(); });
}

// As the library's shard table does: nothing stays, whatever takes its time.
void steward::give_all() {
  giving_all_ = true;
  std::vector<std::pair<std::size_t, writer_number>> others;
  for (auto const& one : seen_.members) {
    if (one.alive && one.number != seen_.self) others.emplace_back(one.held.size(), one.number);
  }
  if (others.empty()) return;  // they become free with the end
  for (auto const which : std::exchange(held_, {})) {
    auto const least = std::min_element(others.begin(), others.end());
    ++least->first;
    leaving_.insert_or_assign(which, shard_move{which, least->second});
    going_.insert(which);
  }
  std::vector<shard> shards;
  for (auto const& [which, move] : leaving_) shards.push_back(which);
  node_.engine().leave(shards);
  note("leaves all", shards);
  leave_until_ = node_.boot_time() + end_patience;
  try_to_let_go();
}

void steward::insist() {
  std::vector<shard> shards;
  for (auto const& [which, move] : leaving_) shards.push_back(which);
  node_.engine().give_up_requests(shards);
  std::vector<shard_move> moves;
  for (auto const which : node_.engine().let_go(shards)) {
    moves.push_back(leaving_.at(which));
    leaving_.erase(which);
  }
  if (!moves.empty()) hand_over(std::move(moves));
}

void steward::stay() {
  std::vector<shard> shards;
  for (auto const& [which, move] : std::exchange(leaving_, {})) {
    shards.push_back(which);
    going_.erase(which);
    held_.insert(which);
    stubborn_[which] = node_.boot_time() + stubborn_pause;
  }
  if (!shards.empty()) node_.engine().keep(shards);
  note("keeps", shards);
}

void steward::hand_over(std::vector<shard_move> moves) {
  node_.hand_over(moves, [this, moves](result<void> outcome) {
    if (!outcome) return node_.engine().lose(outcome.error());
    for (auto const& one : moves) {
      note("handed over", {one.shard});
      going_.erase(one.shard);
      gone_at_.insert_or_assign(one.shard, node_.boot_time());
    }
  });
}

void steward::look_into_inbox() {
  if (held_.empty() || node_.in().store().inbox_empty()) return;
  node_.after(node_.in().delays().up_to(round_trip), [this] {
    auto const waiting = node_.in().store().take_inbox({held_.begin(), held_.end()});
    if (waiting.empty()) return;
    node_.after(node_.in().delays().up_to(round_trip), [this, waiting] {
      for (auto const& one : waiting) node_.engine().start_from_inbox(one);
    });
  });
}

}  // namespace atone::simulation
