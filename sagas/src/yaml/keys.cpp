#include "yaml/keys.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace atone::yaml {
namespace {

using names = std::string_view;
template <std::size_t n>
using list = std::array<names, n>;

constexpr list<9> document_now{"saga", "version", "input", "deadline", "shard_key", "defaults", "services", "steps", "output"};
constexpr list<4> document_later{"start", "on_end", "labels", "lock"};
constexpr list<4> defaults_now{"attempt_timeout", "timeout", "retry", "compensate"};
constexpr list<4> service_now{"http", "local", "in_flight", "barrier"};
constexpr list<3> service_later{"kafka", "checkpoint", "postgres"};
constexpr list<16> step_now{"id",      "call",  "sql",        "parallel", "fail",      "in",        "out",     "when", "attempt_timeout",
                            "timeout", "retry", "compensate", "pivot",    "retriable", "read_only", "fallback"};
constexpr list<1> step_branches{"branches"};
constexpr list<9> step_later{"emit", "tcc", "two_phase", "switch", "foreach", "wait", "sleep", "saga", "lock"};
constexpr list<5> retry_now{"attempts", "delay", "factor", "cap", "jitter"};
constexpr list<10> compensate_now{"call", "sql", "in", "attempts", "delay", "factor", "cap", "jitter", "attempt_timeout", "limit"};
constexpr list<1> compensate_later{"emit"};
constexpr list<7> default_compensate_now{"attempts", "delay", "factor", "cap", "jitter", "attempt_timeout", "limit"};
constexpr list<5> fallback_now{"on", "use", "key", "max_age", "alert"};
constexpr list<1> fallback_value_now{"value"};
constexpr list<2> fallback_call_now{"call", "in"};
constexpr list<2> parallel_now{"join", "on_failure"};

// step_now and `branches`, which stands beside `parallel`.
constexpr auto step_all = [] {
  list<step_now.size() + step_branches.size()> out{};
  std::copy(step_now.begin(), step_now.end(), out.begin());
  std::copy(step_branches.begin(), step_branches.end(), out.begin() + step_now.size());
  return out;
}();

bool holds(std::span<names const> list_of, names key) noexcept {
  return std::find(list_of.begin(), list_of.end(), key) != list_of.end();
}

// Optimal string alignment: insert, delete, replace, swap neighbours.
std::size_t distance(names left, names right) {
  std::vector<std::vector<std::size_t>> cost(left.size() + 1, std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = 0; i <= left.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= right.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    for (std::size_t j = 1; j <= right.size(); ++j) {
      auto const changed = left[i - 1] == right[j - 1] ? 0U : 1U;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + changed});
      auto const swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[left.size()][right.size()];
}

constexpr std::size_t compared_size_max = 64;  // longer texts are nobody's typing mistake

struct home {
  names key;
  names place;
};
constexpr std::array homes{home{"attempts", "retry"},   home{"delay", "retry"},   home{"factor", "retry"},       home{"cap", "retry"},
                           home{"jitter", "retry"},     home{"use", "fallback"},  home{"max_age", "fallback"},   home{"alert", "fallback"},
                           home{"limit", "compensate"}, home{"join", "parallel"}, home{"on_failure", "parallel"}};

}  // namespace

key_table const document_keys{"the document", document_now, document_later};
key_table const defaults_keys{"`defaults`", defaults_now, {}};
key_table const service_keys{"a service", service_now, service_later};
key_table const step_keys{"a step", step_all, step_later, "call, sql, parallel, fail"};
key_table const retry_keys{"`retry`", retry_now, {}};
key_table const compensate_keys{"`compensate`", compensate_now, compensate_later};
key_table const default_compensate_keys{"`defaults.compensate`", default_compensate_now, {}};
key_table const fallback_keys{"`fallback`", fallback_now, {}};
key_table const fallback_value_keys{"`use`", fallback_value_now, {}};
key_table const fallback_call_keys{"`use`", fallback_call_now, {}};
key_table const parallel_keys{"`parallel`", parallel_now, {}};

bool key_table::knows(names key) const noexcept {
  return holds(now, key);
}
bool key_table::waits(names key) const noexcept {
  return holds(later, key);
}

names home_of(names key) noexcept {
  auto const found = std::find_if(homes.begin(), homes.end(), [&](home const& known) { return known.key == key; });
  return found == homes.end() ? names{} : found->place;
}

names nearest(names key, std::span<names const> known) {
  if (key.empty() || key.size() > compared_size_max) return {};
  names best;
  auto best_distance = std::min<std::size_t>(3, (key.size() + 2) / 3) + 1;
  for (auto const candidate : known) {
    if (candidate.size() > compared_size_max) continue;
    auto const far = distance(key, candidate);
    if (far >= best_distance) continue;
    best = candidate;
    best_distance = far;
  }
  return best;
}

}  // namespace atone::yaml
