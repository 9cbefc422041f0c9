// The rules of DESIGN section 3: what each step promises, and where the one pivot may stand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <atone/yaml/node.hpp>
#include <atone/yaml/report.hpp>

namespace atone::yaml {

// What a step declares, beside the step itself: with places, for messages.
struct step_note {
  enum class kind_of : std::uint8_t { action, parallel, fail };

  std::string id;
  place at;
  std::string path;
  kind_of kind = kind_of::action;
  std::optional<spot> compensate;
  std::optional<spot> pivot;
  std::optional<spot> retriable;
  std::optional<spot> read_only;
  std::optional<spot> fallback;
  std::vector<std::vector<step_note>> branches;

  step_note() = default;
};

void check_atomicity(std::vector<step_note> const& root, report& out);

}  // namespace atone::yaml
