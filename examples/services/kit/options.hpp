// The flags all three services understand.
// Thread rules: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/result.hpp>

#include "faults.hpp"

namespace kit {

// A flag that only one service has; `value` holds the default.
struct extra_flag {
  std::string name;  // "--orders"
  std::string value;
  std::string help;

  extra_flag() = default;
  extra_flag(std::string flag, std::string preset, std::string text)
      : name(std::move(flag)), value(std::move(preset)), help(std::move(text)) {}
};

struct service_options {
  std::uint16_t port = 0;  // 0: any free one
  std::string db;          // "sqlite:PATH" or "postgresql://…"
  fault_plan faults;
  bool help = false;
  std::vector<extra_flag> extras;

  service_options() = default;
  std::string const& extra(std::string_view name) const;  // must be one of them
};

// Reads "--port 7001", "--db …", "--faults …", "--seed 42" and the extras. Errors name the flag and what was expected.
atone::result<service_options> parse_options(std::vector<std::string> const& arguments, std::vector<extra_flag> extras, std::string db);

std::string help_text(std::string_view program, service_options const& defaults);

// A whole decimal number in [0, most], else nothing.
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t most);

}  // namespace kit
