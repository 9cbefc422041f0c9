// What the judge keeps of one saga. Internal to the judge.
#pragma once

#include "judge.hpp"

namespace atone::simulation {

struct judge::step_facts {
  // In the participants' tables.
  std::uint32_t actions = 0;
  std::uint32_t undos = 0;
  std::int64_t value = -1;
  bool refused = false;     // it said no
  bool odd_answer = false;  // its answer does not fit
  bool undo_refused = false;
  // On the wire.
  std::uint32_t act_n = 0;  // newest attempt that was sent
  std::uint32_t undo_n = 0;
  duration act_at{};  // when it was sent first
  duration undo_first{};
  // In the journal.
  bool done = false;
  bool undone = false;
  bool gave_up = false;       // a failure of it is journalled
  std::uint32_t begun = 0;    // attempts that the journal had asked for when the saga turned round
  std::uint32_t sure_no = 0;  // attempts that surely did nothing
  std::uint32_t refusals = 0;
  std::uint32_t retries = 0;                                                  // operator's
  std::map<std::pair<operation, std::uint32_t>, std::set<event_kind>> heard;  // what is journalled of an attempt
  bool by_person = false;                                                     // skipped, or completed: its effect is a person's affair

  step_facts() = default;
};

struct judge::saga_case {
  saga_id id;
  blueprint const* of = nullptr;
  std::string key;
  shard home;
  start_facts with;
  duration begun{};
  timestamp started_at;
  saga_machine shadow;  // of accepted events only
  saga_status row = saga_status::running;
  std::optional<timestamp> wake_at;  // of its row
  std::string cause;
  bool ended = false;
  bool turned = false;  // it has begun to compensate
  bool was_parked = false;
  bool pivot_done = false;
  std::uint32_t cancels = 0, pauses = 0, resumes = 0, operators = 0;  // journalled
  epoch newest;                                                       // that a request carried
  std::optional<writer_number> sender;
  std::map<std::string, step_facts, std::less<>> steps;
  std::map<operator_request::action_kind, std::uint32_t> acknowledged;

  saga_case(saga_id which, blueprint const* by, business_key of_start)
      : id(which), of(by), key(of_start.value()), shadow(by->loaded, which, of_start) {}
};

}  // namespace atone::simulation
