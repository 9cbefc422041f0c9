#include "yaml/keys.hpp"

#include <algorithm>
#include <array>

namespace atone::yaml {
namespace {

using names = std::string_view;
template <std::size_t n>
using list = std::array<names, n>;

constexpr list<10> document_now{"saga", "version", "input", "deadline", "shard_key", "lock", "defaults", "services", "steps", "output"};
constexpr list<3> document_later{"start", "on_end", "labels"};
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

constexpr std::array homes{key_home{"attempts", "retry"},   key_home{"delay", "retry"},        key_home{"factor", "retry"},
                           key_home{"cap", "retry"},        key_home{"jitter", "retry"},       key_home{"use", "fallback"},
                           key_home{"max_age", "fallback"}, key_home{"alert", "fallback"},     key_home{"limit", "compensate"},
                           key_home{"join", "parallel"},    key_home{"on_failure", "parallel"}};

}  // namespace

key_table const document_keys{"the document", document_now, document_later, {}, homes};
key_table const defaults_keys{"`defaults`", defaults_now, {}, {}, homes};
key_table const service_keys{"a service", service_now, service_later, {}, homes};
key_table const step_keys{"a step", step_all, step_later, "call, sql, parallel, fail", homes};
key_table const retry_keys{"`retry`", retry_now, {}, {}, homes};
key_table const compensate_keys{"`compensate`", compensate_now, compensate_later, {}, homes};
key_table const default_compensate_keys{"`defaults.compensate`", default_compensate_now, {}, {}, homes};
key_table const fallback_keys{"`fallback`", fallback_now, {}, {}, homes};
key_table const fallback_value_keys{"`use`", fallback_value_now, {}, {}, homes};
key_table const fallback_call_keys{"`use`", fallback_call_now, {}, {}, homes};
key_table const parallel_keys{"`parallel`", parallel_now, {}, {}, homes};

}  // namespace atone::yaml
