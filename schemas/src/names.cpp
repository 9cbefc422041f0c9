// The words for stored enumerations. Adding a value: add its word here, a golden line in tests/unit/schemas, and nothing else.
#include <array>
#include <utility>

#include <atone/event.hpp>
#include <atone/ids.hpp>
#include <atone/records.hpp>
#include <atone/result.hpp>

namespace atone {
namespace {

template <class Enum>
using word = std::pair<Enum, std::string_view>;

template <class Enum, std::size_t N>
std::string_view find_word(std::array<word<Enum>, N> const& words, Enum value) noexcept {
  for (auto const& [known, text] : words) {
    if (known == value) return text;
  }
  return "unknown";
}

template <class Enum, std::size_t N>
std::optional<Enum> find_value(std::array<word<Enum>, N> const& words, std::string_view text) noexcept {
  for (auto const& [value, known] : words) {
    if (known == text) return value;
  }
  return std::nullopt;
}

constexpr std::array operations{
    word<operation>{operation::none, "none"},
    word<operation>{operation::act, "do"},
    word<operation>{operation::compensate, "compensate"},
    word<operation>{operation::try_, "try"},
    word<operation>{operation::confirm, "confirm"},
    word<operation>{operation::cancel, "cancel"},
    word<operation>{operation::prepare, "prepare"},
    word<operation>{operation::commit, "commit"},
    word<operation>{operation::abort, "abort"},
    word<operation>{operation::fallback, "fallback"},
};

constexpr std::array statuses{
    word<saga_status>{saga_status::running, "running"},     word<saga_status>{saga_status::compensating, "compensating"},
    word<saga_status>{saga_status::waiting, "waiting"},     word<saga_status>{saga_status::paused, "paused"},
    word<saga_status>{saga_status::completed, "completed"}, word<saga_status>{saga_status::compensated, "compensated"},
    word<saga_status>{saga_status::parked, "parked"},
};

constexpr std::array event_kinds{
    word<event_kind>{event_kind::started, "started"},
    word<event_kind>{event_kind::step_succeeded, "step_succeeded"},
    word<event_kind>{event_kind::step_refused, "step_refused"},
    word<event_kind>{event_kind::attempt_failed, "attempt_failed"},
    word<event_kind>{event_kind::timer_fired, "timer_fired"},
    word<event_kind>{event_kind::last_output_found, "last_output_found"},
    word<event_kind>{event_kind::last_output_missing, "last_output_missing"},
    word<event_kind>{event_kind::late_answer, "late_answer"},
    word<event_kind>{event_kind::cancel_requested, "cancel_requested"},
    word<event_kind>{event_kind::pause_requested, "pause_requested"},
    word<event_kind>{event_kind::resume_requested, "resume_requested"},
    word<event_kind>{event_kind::operator_retry, "operator_retry"},
    word<event_kind>{event_kind::operator_skip, "operator_skip"},
    word<event_kind>{event_kind::operator_complete, "operator_complete"},
    word<event_kind>{event_kind::parked, "parked"},
    word<event_kind>{event_kind::lock_granted, "lock_granted"},
};

constexpr std::array certainties{
    word<certainty>{certainty::none, "none"},
    word<certainty>{certainty::not_done, "not_done"},
    word<certainty>{certainty::unknown, "unknown"},
};

constexpr std::array timers{
    word<timer_kind>{timer_kind::none, "none"},
    word<timer_kind>{timer_kind::retry, "retry"},
    word<timer_kind>{timer_kind::step_timeout, "step_timeout"},
    word<timer_kind>{timer_kind::deadline, "deadline"},

};

constexpr std::array compensation_statuses{
    word<compensation_status>{compensation_status::pending, "pending"},
    word<compensation_status>{compensation_status::success, "success"},
    word<compensation_status>{compensation_status::failed, "failed"},
    word<compensation_status>{compensation_status::skipped, "skipped"},
};

constexpr std::array alert_levels{
    word<alert_level>{alert_level::info, "info"},
    word<alert_level>{alert_level::warn, "warn"},
    word<alert_level>{alert_level::page, "page"},
};

constexpr std::array error_codes{
    word<errc>{errc::invalid_argument, "invalid argument"},
    word<errc>{errc::not_found, "not found"},
    word<errc>{errc::conflict, "conflict"},
    word<errc>{errc::unavailable, "unavailable"},
    word<errc>{errc::outcome_unknown, "outcome unknown"},
    word<errc>{errc::fenced, "fenced"},
    word<errc>{errc::bad_data, "bad data"},
    word<errc>{errc::serialization, "serialization conflict"},
    word<errc>{errc::exhausted, "limit reached"},
    word<errc>{errc::unsupported, "unsupported"},
    word<errc>{errc::corrupt, "corrupt"},
    word<errc>{errc::internal, "internal error"},
    word<errc>{errc::statement_failed, "statement failed"},
    word<errc>{errc::elsewhere, "driven elsewhere"},
};

}  // namespace

std::string_view name(operation op) noexcept {
  return find_word(operations, op);
}
std::optional<operation> parse_operation(std::string_view text) noexcept {
  return find_value(operations, text);
}
std::string_view name(saga_status status) noexcept {
  return find_word(statuses, status);
}
std::optional<saga_status> parse_saga_status(std::string_view text) noexcept {
  return find_value(statuses, text);
}
std::string_view name(event_kind kind) noexcept {
  return find_word(event_kinds, kind);
}
std::string_view name(certainty sureness) noexcept {
  return find_word(certainties, sureness);
}
std::string_view name(timer_kind timer) noexcept {
  return find_word(timers, timer);
}
std::string_view name(compensation_status status) noexcept {
  return find_word(compensation_statuses, status);
}
std::string_view name(alert_level level) noexcept {
  return find_word(alert_levels, level);
}
std::string_view name(errc code) noexcept {
  return find_word(error_codes, code);
}

}  // namespace atone
