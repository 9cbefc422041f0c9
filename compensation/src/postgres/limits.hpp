// How long anything on PostgreSQL may take before it is given up: no wait is without an end.
// Thread rules: plain values.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace atone::postgres {

// Times of one connection, from the innermost wait to the outermost. Each is longer than what it guards.
struct session_limits {
  // Of a user's statement (the `sql` step) and of the constraints it deferred: it holds up the one writer, so it gets less than ours.
  std::chrono::milliseconds user_lock{2'000};
  std::chrono::milliseconds user_statement{5'000};
  std::chrono::milliseconds lock{3'000};            // lock_timeout: waiting for a row another transaction holds
  std::chrono::milliseconds statement{10'000};      // statement_timeout
  std::chrono::milliseconds idle{10'000};           // idle_in_transaction_session_timeout: a stopped client frees its locks
  std::chrono::milliseconds answer{15'000};         // no answer at all: the connection is cut from this side
  std::chrono::seconds connect{2};                  // connect_timeout, for each host of the address
  std::chrono::milliseconds unacknowledged{8'000};  // tcp_user_timeout: sent, and the other side's kernel says nothing

  session_limits() = default;
};

// Of the connection that renews the leases: a sign of life that takes longer is none.
inline session_limits membership_limits(session_limits of) {
  of.lock = std::min(of.lock, std::chrono::milliseconds{500});
  of.statement = std::min(of.statement, std::chrono::milliseconds{1'000});
  of.answer = std::min(of.answer, std::chrono::milliseconds{1'500});
  of.connect = std::min(of.connect, std::chrono::seconds{2});
  return of;
}

// Of the connection that deletes finished sagas: nobody waits for it, it waits for nobody, and what took too long is tried with less.
inline session_limits retention_limits(session_limits of) {
  of.lock = std::min(of.lock, std::chrono::milliseconds{500});
  of.statement = std::min(of.statement, std::chrono::milliseconds{2'000});
  of.answer = std::min(of.answer, std::chrono::milliseconds{3'000});
  return of;
}

// How often and for how long a commit is repeated before the caller hears of it.
struct retry_limits {
  std::chrono::milliseconds first_pause{10};
  std::chrono::milliseconds conflict_total{1'000};    // after 40001, 40P01, 55P03
  std::chrono::milliseconds reconnect_total{3'000};   // while the server can't be reached
  std::chrono::milliseconds end_backend_wait{2'000};  // for the backend of the writer before to go

  retry_limits() = default;
};

inline constexpr std::chrono::milliseconds retry_pause_max{250};
inline constexpr std::size_t load_chunk_sagas = 256;
inline constexpr std::size_t pool_size_max = 16;
inline constexpr int participant_attempts_max = 20;

}  // namespace atone::postgres
