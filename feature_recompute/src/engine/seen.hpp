// Which values a walk has met: a short list first, a hash table where it gets long. Emptied without touching what it holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace atone::features {

class seen_values {
 public:
  void clear() noexcept {
    listed_ = 0;
    filled_ = 0;
    in_table_ = false;
  }
  std::int64_t count() const noexcept { return static_cast<std::int64_t>(in_table_ ? filled_ : listed_); }

  void add(std::int64_t value) {
    if (in_table_) return insert(value);
    for (std::size_t at = 0; at < listed_; ++at) {
      if (list_[at] == value) return;
    }
    if (listed_ == list_max) {
      spill();
      return insert(value);
    }
    list_[listed_++] = value;
  }

 private:
  static constexpr std::size_t list_max = 16;
  struct slot {
    std::int64_t value = 0;
    std::uint64_t round = 0;
  };

  static std::uint64_t hash(std::int64_t value) noexcept {
    auto mixed = static_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15ULL;
    return mixed ^ (mixed >> 32);
  }

  void spill() {
    in_table_ = true;
    filled_ = 0;
    ++round_;
    if (slots_.empty()) slots_.resize(8 * list_max);
    for (auto const value : list_) insert(value);
  }

  void insert(std::int64_t value) {
    if ((filled_ + 1) * 2 > slots_.size()) grow();
    auto const mask = slots_.size() - 1;
    for (auto at = hash(value) & mask;; at = (at + 1) & mask) {
      auto& one = slots_[at];
      if (one.round != round_) {
        one = slot{value, round_};
        ++filled_;
        return;
      }
      if (one.value == value) return;
    }
  }

  void grow() {
    auto old = std::move(slots_);
    slots_.assign(old.size() * 2, slot{});
    auto const round = round_;
    round_ = 1;
    filled_ = 0;
    for (auto const& one : old) {
      if (one.round == round) insert(one.value);
    }
  }

  std::array<std::int64_t, list_max> list_{};
  std::size_t listed_ = 0;
  bool in_table_ = false;
  std::vector<slot> slots_;
  std::size_t filled_ = 0;
  std::uint64_t round_ = 0;  // slots of another round are empty
};

}  // namespace atone::features
