// What the API answers about one saga, as far as a drill looks at it.
// Thread rules: pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <atone/ids.hpp>
#include <atone/records.hpp>
#include <atone/result.hpp>

namespace atone::drill {

struct saga_answer {
  saga_id id;
  saga_status status = saga_status::running;
  bool replayed = false;               // of a start: it had been accepted before
  std::vector<std::string> fell_back;  // steps that their fallback has served

  saga_answer() = default;
  bool settled() const noexcept { return is_final(status) || status == saga_status::parked; }
};

// Errors (internal) name what is missing. A start's answer has no status: `running` then.
result<saga_answer> read_saga_answer(std::string_view json);

}  // namespace atone::drill
