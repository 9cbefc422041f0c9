// What several commands do with one saga: fetch it, wait for it, say how it ended.
// Thread rules: one thread.
#pragma once

#include <string>
#include <string_view>

#include <atone/json.hpp>
#include <atone/records.hpp>
#include <atone/result.hpp>

#include "cli/command.hpp"
#include "cli/daemon_client.hpp"

namespace atone::cli {

// The path of one saga; an error for what is no id, before anything is sent.
result<target> saga_target(std::string const& typed_id, std::string_view what = "");

// Ended, or waits for a person.
bool has_settled(saga_status status) noexcept;
// What its status means to a script that waited.
exit_code exit_code_of(saga_status status) noexcept;

// Asks again and again until the saga has settled or `timeout` has passed; a daemon that is restarted meanwhile is waited for.
// The answer is the saga as JSON, settled or not.
result<json::value> wait_for_saga(std::string const& id, duration timeout, surroundings const& with);

// "completed in 1.84 s" and the cause or the output.
void print_outcome(json::value const& saga, terminal const& to);

}  // namespace atone::cli
