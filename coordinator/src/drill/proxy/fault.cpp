#include "drill/proxy/fault.hpp"

#include <array>

namespace atone::drill {

std::string_view name(fault_kind kind) noexcept {
  constexpr std::array<std::string_view, fault_kinds> names{"none", "delay",     "stall", "half_open",    "reset",      "refuse",
                                                            "cut",  "duplicate", "drip",  "lose_request", "lose_answer"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace atone::drill
