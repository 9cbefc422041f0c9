// Expected failure as a value: `atone::error` says what went wrong, `atone::result<T>` carries it or a T.
// A broken invariant is not an error: it is an assertion (assert.hpp). Thread rules: plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <atone/assert.hpp>

namespace atone {

// What kind of failure, and so what the caller can do about it.
enum class errc {
  invalid_argument = 1,  // the caller's input is wrong; repeating it is no use
  not_found,             // no such saga, definition, step
  conflict,              // the state does not allow it, or the same key was used with another body
  unavailable,           // a database, service or file can't be reached now; the same call may work later
  outcome_unknown,       // the request left, its answer did not come: it may have taken effect
  fenced,                // another coordinator has taken over; this one must stop writing
  bad_data,              // the store refuses this data (not the connection); another batch may be accepted
  serialization,         // the transaction lost against a concurrent one; repeat the whole transaction
  exhausted,             // a named limit (size, depth, steps, queue) was reached
  unsupported,           // a valid wish that this build or configuration can't fulfil
  corrupt,               // stored data can't be read back; needs a person
  internal,              // anything else a library reported
  statement_failed,      // the user's statement (`sql` step) failed in a way that may pass (a lock or time limit, a resource); nothing was
                         // written; the same call may work later
  elsewhere,             // another coordinator on the same store drives this saga: ask that one
};

std::string_view name(errc code) noexcept;

// One failure. `message` is for a person: what was found, and what was expected.
struct error {
  errc code = errc::internal;
  std::string message;

  error() = default;
  error(errc c, std::string text) : code(c), message(std::move(text)) {}

  // Whether the same call, unchanged, may succeed later, and is repeated by whoever made it. Not so statement_failed: the step's own retry
  // policy says whether and when, and others may write meanwhile.
  bool retryable() const noexcept { return code == errc::unavailable || code == errc::outcome_unknown || code == errc::serialization; }
  friend bool operator==(error const&, error const&) = default;
};

// A T, or the error that came instead. Access to the wrong side aborts (a broken invariant of the caller).
template <class T, class E = error>
class [[nodiscard]] result {
 public:
  using value_type = T;
  using error_type = E;

  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  result(E failure) : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT: implicit by design

  bool has_value() const noexcept { return state_.index() == 0; }  // else error() has it
  explicit operator bool() const noexcept { return has_value(); }

  T& value() & {
    ATONE_ASSERT(has_value());
    return *std::get_if<0>(&state_);
  }
  T const& value() const& {
    ATONE_ASSERT(has_value());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    ATONE_ASSERT(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  T const& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  T const* operator->() const { return &value(); }

  E& error() & {
    ATONE_ASSERT(!has_value());
    return *std::get_if<1>(&state_);
  }
  E const& error() const& {
    ATONE_ASSERT(!has_value());
    return *std::get_if<1>(&state_);
  }
  E&& error() && {
    ATONE_ASSERT(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, E> state_;
};

// Success without a value, or the error.
template <class E>
class [[nodiscard]] result<void, E> {
 public:
  using value_type = void;
  using error_type = E;

  result() = default;
  result(E failure) : failure_(std::move(failure)) {}  // NOLINT: implicit by design

  bool has_value() const noexcept { return !failure_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  E& error() & {
    ATONE_ASSERT(failure_.has_value());
    return *failure_;
  }
  E const& error() const& {
    ATONE_ASSERT(failure_.has_value());
    return *failure_;
  }

 private:
  std::optional<E> failure_;
};

}  // namespace atone
