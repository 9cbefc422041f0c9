#include "isolation.hpp"

#include <algorithm>
#include <array>

#include <atone/json.hpp>

namespace atone::audit {
namespace {

constexpr std::size_t service_bits = 64;
// Times in the journal are each node's estimate of the database's clock: two grants that are closer than this may be in order.
constexpr duration clocks_differ = std::chrono::milliseconds{100};

// What ties a saga to others: its lock's value, or its shard key's. Empty: nothing does, or it can't be said.
std::string key_of(saga_facts const& of) {
  auto const& tie = of.definition->lock ? of.definition->lock : of.definition->shard_key;
  if (!tie) return {};
  auto const input = json::parse(of.events.front().payload);
  if (!input) return {};
  expr::bindings values;
  values.emplace("input", *input);
  auto const value = tie->evaluate(values);
  if (!value) return {};
  return (of.definition->lock ? "lock " : "") + json::canonical(*value);
}

event const* grant_of(saga_facts const& of) {
  auto const granted =
      std::find_if(of.events.begin(), of.events.end(), [](event const& one) { return one.kind == event_kind::lock_granted; });
  return granted == of.events.end() ? nullptr : &*granted;
}

}  // namespace

std::uint64_t isolation_books::bit_of(std::string const& service) {
  auto const at = services_.emplace(service, services_.size()).first->second;
  return std::uint64_t{1} << std::min(at, service_bits - 1);
}

void isolation_books::note(saga_facts const& of) {
  auto const key = key_of(of);
  if (key.empty()) return;
  auto const* const granted = grant_of(of);
  if (of.definition->lock && granted == nullptr) return;  // it ended while it waited: it has done nothing
  at_work made;
  made.saga = of.row.id;
  made.begin = granted != nullptr ? granted->at : of.events.front().at;
  made.end = of.events.back().at;
  made.undone = of.row.status == saga_status::compensated;
  made.locked = of.definition->lock.has_value();
  auto const facts = collect_facts(of.events);
  for (auto const& [path, step] : collect_leaves(*of.definition)) {
    if (step.promise != atomicity::read_only && facts.contains(path)) made.services |= bit_of(step.act_service);
  }
  by_key_[key].push_back(made);
}

// Sagas of one key in the order of their beginnings, against whoever is at work longest so far.
class isolation_books::sweep {
 public:
  sweep(std::string const& key, isolation& to, std::vector<finding>& broken) : key_(key), to_(to), broken_(broken) {}

  void pass(at_work const& next) {
    ++to_.sagas;
    if (next.locked) check_lock(next);
    auto const* const beside = longest_of(longest_, next);
    if (beside != nullptr) {
      ++to_.beside;
      auto const* const undone = longest_of(longest_undone_, next);
      if (undone != nullptr) ++to_.beside_undone;
      note_example(next, undone != nullptr ? *undone : *beside);
    }
    keep(longest_, next);
    if (next.undone) keep(longest_undone_, next);
  }

 private:
  using by_service = std::array<at_work, service_bits>;

  static void keep(by_service& in, at_work const& one) {
    for (std::size_t bit = 0; bit < service_bits; ++bit) {
      bool const there = (one.services >> bit & 1U) != 0;
      if (there && (in[bit].saga.empty() || one.end > in[bit].end)) in[bit] = one;
    }
  }
  static at_work const* longest_of(by_service const& in, at_work const& next) {
    for (std::size_t bit = 0; bit < service_bits; ++bit) {
      bool const there = (next.services >> bit & 1U) != 0;
      if (there && !in[bit].saga.empty() && in[bit].end > next.begin) return &in[bit];
    }
    return nullptr;
  }

  void check_lock(at_work const& next) {
    if (!holder_.saga.empty() && holder_.end > next.begin + clocks_differ) {
      finding made;
      made.kind = finding_kind::lock_broken;
      made.saga = next.saga;
      made.text = "had its " + key_ + " from " + format_timestamp(next.begin) + ", while saga " + holder_.saga.text() + " had it until " +
                  format_timestamp(holder_.end);
      broken_.push_back(std::move(made));
    }
    if (holder_.saga.empty() || next.end > holder_.end) holder_ = next;
  }

  void note_example(at_work const& of, at_work const& beside) {
    bool const full = to_.examples.size() >= isolation::examples_max;
    if (full && (!beside.undone || to_.examples.back().undone)) return;
    if (full) to_.examples.pop_back();
    isolation::meeting made;
    made.key = key_;
    made.saga = of.saga;
    made.beside = beside.saga;
    made.undone = beside.undone;
    auto const first_not_undone =
        std::find_if(to_.examples.begin(), to_.examples.end(), [](isolation::meeting const& one) { return !one.undone; });
    to_.examples.insert(made.undone ? first_not_undone : to_.examples.end(), std::move(made));
  }

  std::string const& key_;
  isolation& to_;
  std::vector<finding>& broken_;
  by_service longest_;
  by_service longest_undone_;
  at_work holder_;
};

isolation isolation_books::judge(std::vector<finding>& broken) const {
  isolation made;
  for (auto const& [key, sagas] : by_key_) {
    ++made.keys;
    auto ordered = sagas;
    std::sort(ordered.begin(), ordered.end(), [](at_work const& left, at_work const& right) {
      return std::pair{left.begin, left.saga} < std::pair{right.begin, right.saga};
    });
    sweep over{key, made, broken};
    for (auto const& one : ordered) over.pass(one);
  }
  return made;
}

}  // namespace atone::audit
