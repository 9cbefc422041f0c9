// What `atone doctor` finds, a line each.
// Thread rules: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace atone::cli {

// How bad it is: a part that a build or a machine lacks is no fault.
enum class verdict : std::uint8_t { fine, left_out, warning, fault };

struct finding {
  verdict how = verdict::fine;
  std::string what;
  std::string detail;

  finding(verdict of, std::string subject, std::string words) : how(of), what(std::move(subject)), detail(std::move(words)) {}
};
using findings = std::vector<finding>;

}  // namespace atone::cli
