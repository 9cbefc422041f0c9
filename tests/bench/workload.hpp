// The sagas of the bench: three steps, each one call, each with a compensation. One runs through; of the other the third step is
// refused, and two compensations run. With HTTP participants or with handlers in the process.
// Thread rules: plain functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <atone/coordinator.hpp>

namespace bench {

enum class callee : std::uint8_t { http, local };

inline constexpr std::array<std::string_view, 3> services{"stock", "payment", "shipping"};

// The definition's name.
std::string saga_name(callee to, bool refused);
std::string definition_text(callee to, bool refused);
// About 100 bytes of JSON.
std::string input_of(std::uint64_t number);
// Registers handlers that do nothing and succeed; one refuses.
void bind_handlers(atone::coordinator& to);

}  // namespace bench
