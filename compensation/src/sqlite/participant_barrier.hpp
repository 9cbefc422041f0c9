// The barrier's decisions on SQLite, by the very statements that `atone barrier --dialect sqlite` prints.
// Everything here runs inside the caller's transaction. Thread rules: those of the connection.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <atone/participant.hpp>

#include "sqlite/connection.hpp"

namespace atone::sqlite {

// Who asks: texts must outlive the call.
struct barrier_key {
  std::string_view saga;
  std::string_view step;
  std::string_view op;

  barrier_key() = default;
};

class participant_barrier {
 public:
  explicit participant_barrier(connection& on) : on_(on) {}

  result<void> install();
  // Decides and records: after `proceed` the row is claimed, after `empty` the tombstone stands.
  result<participant::outcome> enter(barrier_key const& key);
  // Stores the answer of a claimed row.
  result<void> answer(barrier_key const& key, participant::answer const& given);

 private:
  result<participant::outcome> look(barrier_key const& key);
  result<void> record(char const* statement, barrier_key const& key);

  connection& on_;
};

// Makes atone_barrier(saga, step, op) and atone_answer(saga, step, op, refused, status, answer) callable from SQL on this
// connection; they do what the functions of the same names do on PostgreSQL. `barrier` must outlive the connection.
result<void> register_barrier_functions(connection& on, participant_barrier& barrier);

}  // namespace atone::sqlite
