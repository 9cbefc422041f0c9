// Short ways to write what a coordinator would commit. Everything is computed from small numbers: no clock, no randomness.
#pragma once

#include <cstdint>
#include <string>

#include <atone/journal.hpp>

namespace atone::test {

// The saga with this number: ids rise with it.
saga_id numbered(std::uint32_t number);
// Microsecond `offset` of the suite's time.
timestamp at(std::int64_t offset);

// A running saga of definition "order-placed", version 3, with its last event 1.
saga_row row_of(std::uint32_t number, std::string key = {});
// Its start; the body is that of `body`.
saga_start start_of(std::uint32_t number, std::string key = {}, std::string const& body = "body");
// Event `seq`; the first is "started", others a success of step "fan/profile/tag" that uses every field.
journal_record record_of(std::uint32_t number, std::uint32_t seq, std::string payload = R"({"n":9007199254740993})");
saga_change change_of(std::uint32_t number, saga_status status, std::uint32_t last);
compensation_entry compensation_of(std::uint32_t number, std::string step, compensation_status status);
alert_row alert_of(std::uint32_t number, std::string kind, std::int64_t raised = 0);
last_output_row output_of(std::uint32_t number, std::string key, std::string output);
operator_action_row action_of(std::uint32_t number, std::string action);
definition_row definition_of(std::string name, std::uint32_t version, std::string text);

// `count` sagas from number `first` on, each with its start and its first event.
journal_batch starting(std::uint32_t first, std::uint32_t count = 1);
// One saga with a key.
journal_batch starting_with_key(std::uint32_t number, std::string key, std::string const& body = "body");
// One record.
journal_batch recording(std::uint32_t number, std::uint32_t seq);

}  // namespace atone::test
