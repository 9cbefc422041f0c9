// Tables of the keys that a kind of map may have, and the nearest known word for one that it may not.
// Thread rules: functions are pure.
#pragma once

#include <span>
#include <string_view>

namespace atone::yaml {

// Where a key that often stands in the wrong map belongs: `attempts` under `retry`.
struct key_home {
  std::string_view key;
  std::string_view place;
};

// Keys of one kind of map: those that work now, and those that a later version will know.
struct key_table {
  std::string_view name;  // of the map, for messages: "a step"
  std::span<std::string_view const> now;
  std::span<std::string_view const> later;
  std::string_view instead = {};         // what to use in place of a later key; empty: all that works now
  std::span<key_home const> homes = {};  // of keys that are known elsewhere in the document

  bool knows(std::string_view key) const noexcept;
  bool waits(std::string_view key) const noexcept;
  // Where a key that stands in the wrong map belongs ("retry"), or nothing.
  std::string_view home_of(std::string_view key) const noexcept;
};

// The known key most like `key`, or nothing when none is near.
std::string_view nearest(std::string_view key, std::span<std::string_view const> known);

}  // namespace atone::yaml
