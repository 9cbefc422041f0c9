// Sagas that are in the store alone, in as little memory as may be: there can be millions of them. No nodes, since those would lie
// between the blocks of sagas at work and keep their pages; tables of their own for parts of the ids, so that none is ever large to grow.
//
// Open addressing with linear probing; erasing moves what follows back (Knuth, The Art of Computer Programming, vol. 3, 6.4, algorithm R).
// Thread rules: one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <atone/ids.hpp>
#include <atone/time.hpp>

namespace atone::runtime {

// One saga that rests.
struct bed {
  saga_id id;  // empty: nobody
  timestamp wake_at;
  timestamp due;           // of its first timer: the same, unless it can't be read for a while
  std::uint64_t life = 0;  // tells it from what lies under its id later, or lay there before its shard went and came back
  shard home;
  bool parked = false;
  bool waking = false;  // being woken

  bed() = default;
};

class rest_table {
 public:
  std::size_t size() const noexcept { return size_; }
  // Valid until the next put or erase.
  bed* find(saga_id id) noexcept;
  bed const* find(saga_id id) const noexcept { return const_cast<rest_table*>(this)->find(id); }
  bool contains(saga_id id) const noexcept { return find(id) != nullptr; }
  // Takes the place of what lies under its id.
  bed& put(bed const& what);
  void erase(saga_id id) noexcept;
  void clear() noexcept;
  // Every one, in no order; nothing may be put or erased meanwhile.
  void each(std::function<void(bed const&)> const& visit) const;

 private:
  static constexpr std::size_t parts = 256;
  struct part {
    std::vector<bed> slots;  // a power of two, or none
    std::size_t used = 0;
  };

  static std::size_t hash(saga_id id) noexcept;
  static std::size_t place(part const& in, saga_id id) noexcept;  // where it is, or where it would go
  static void grow(part& of);
  part& part_of(saga_id id) noexcept { return parts_[hash(id) % parts]; }

  std::array<part, parts> parts_;
  std::size_t size_ = 0;
};

// When those that rest wake up: the soonest first. Entries of those that were woken otherwise or went away stay until their moment, or
// until they are the most; whoever takes one compares it with the table.
class wake_queue {
 public:
  struct entry {
    timestamp at;
    saga_id id;
  };

  void push(timestamp at, saga_id id);
  bool empty() const noexcept { return heap_.empty(); }
  entry const& front() const noexcept { return heap_.front(); }
  void pop();
  void clear() noexcept { heap_.clear(); }
  // Drops entries that are no longer so where they may be more than half.
  void tidy(std::size_t at_most, std::function<bool(entry const&)> const& still_so);

 private:
  std::vector<entry> heap_;
};

}  // namespace atone::runtime
