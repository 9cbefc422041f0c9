#include "rest_table.hpp"

#include <algorithm>
#include <utility>

namespace atone::runtime {
namespace {

constexpr std::size_t slots_least = 16;
constexpr std::size_t tidy_least = 1024;  // entries that are not worth a look

bool later(wake_queue::entry const& one, wake_queue::entry const& other) noexcept {
  return std::pair{one.at, one.id} > std::pair{other.at, other.id};
}

}  // namespace

// Of ids that begin with their time: spread over all bits (the finisher of MurmurHash3).
std::size_t rest_table::hash(saga_id id) noexcept {
  std::uint64_t bits = std::hash<saga_id>{}(id);
  bits = (bits ^ bits >> 33U) * 0xff51afd7ed558ccdU;
  bits = (bits ^ bits >> 33U) * 0xc4ceb9fe1a85ec53U;
  return static_cast<std::size_t>(bits ^ bits >> 33U);
}

std::size_t rest_table::place(part const& in, saga_id id) noexcept {
  auto const mask = in.slots.size() - 1;
  auto at = hash(id) / parts & mask;
  while (!in.slots[at].id.empty() && in.slots[at].id != id) at = (at + 1) & mask;
  return at;
}

bed* rest_table::find(saga_id id) noexcept {
  auto& in = part_of(id);
  if (in.slots.empty()) return nullptr;
  auto& there = in.slots[place(in, id)];
  return there.id.empty() ? nullptr : &there;
}

void rest_table::grow(part& of) {
  auto const old = std::exchange(of.slots, std::vector<bed>(std::max(slots_least, of.slots.size() * 2)));
  for (auto const& one : old) {
    if (!one.id.empty()) of.slots[place(of, one.id)] = one;
  }
}

bed& rest_table::put(bed const& what) {
  auto& in = part_of(what.id);
  if (in.slots.empty() || (in.used + 1) * 5 > in.slots.size() * 4) grow(in);
  auto& there = in.slots[place(in, what.id)];
  if (there.id.empty()) {
    ++in.used;
    ++size_;
  }
  there = what;
  return there;
}

void rest_table::erase(saga_id id) noexcept {
  auto& in = part_of(id);
  if (in.slots.empty()) return;
  auto const mask = in.slots.size() - 1;
  auto hole = place(in, id);
  if (in.slots[hole].id.empty()) return;
  for (auto at = (hole + 1) & mask; !in.slots[at].id.empty(); at = (at + 1) & mask) {
    auto const home = hash(in.slots[at].id) / parts & mask;
    bool const reachable = ((at - home) & mask) < ((at - hole) & mask);  // its home lies behind the hole
    if (reachable) continue;
    in.slots[hole] = in.slots[at];
    hole = at;
  }
  in.slots[hole] = bed{};
  --in.used;
  --size_;
  if (in.used == 0) in.slots = {};
}

void rest_table::clear() noexcept {
  for (auto& one : parts_) one = part{};
  size_ = 0;
}

void rest_table::each(std::function<void(bed const&)> const& visit) const {
  for (auto const& in : parts_) {
    for (auto const& one : in.slots) {
      if (!one.id.empty()) visit(one);
    }
  }
}

void wake_queue::push(timestamp at, saga_id id) {
  heap_.push_back(entry{at, id});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void wake_queue::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  heap_.pop_back();
  if (heap_.empty()) heap_ = {};
}

void wake_queue::tidy(std::size_t at_most, std::function<bool(entry const&)> const& still_so) {
  if (heap_.size() < tidy_least + 2 * at_most) return;
  std::erase_if(heap_, [&](entry const& one) { return !still_so(one); });
  std::sort(heap_.begin(), heap_.end(), [](entry const& one, entry const& other) { return later(other, one); });
  heap_.erase(std::unique(heap_.begin(), heap_.end(), [](entry const& one, entry const& other) { return one.id == other.id; }),
              heap_.end());
  std::make_heap(heap_.begin(), heap_.end(), later);
}

}  // namespace atone::runtime
