// What a feature store remembers of one request: the version that it published, or what it was answered instead.
// Thread rules: plain values; functions are pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <atone/features/service.hpp>

namespace atone::features {

struct step_record {
  recompute_outcome outcome = recompute_outcome::published;
  std::string key;     // of the step; empty: nobody's
  std::string origin;  // key of the step whose recompute made the content: not its own where a version was published again
  std::string entity;
  feature_version version;
  timestamp answered_at{};              // the key's age, whatever that of the version
  std::uint64_t rows_seen = 0;          // events of the entity when it was computed
  std::uint64_t rows_known = 0;         // of them, at its known_at
  std::optional<timestamp> next_known;  // when the first of the others becomes known
  std::uint64_t ticket = 0;             // of the write that makes it durable; not stored

  step_record() = default;
  bool is_version() const noexcept { return outcome == recompute_outcome::published || outcome == recompute_outcome::republished; }
  bool is_undo() const noexcept { return outcome == recompute_outcome::republished || outcome == recompute_outcome::nothing; }
};
using record_ptr = std::shared_ptr<step_record const>;

std::string bytes_of(step_record const& of);
// Errors: corrupt.
result<step_record> read_record(std::string_view bytes);

}  // namespace atone::features
