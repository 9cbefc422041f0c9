// The API's JSON read back into the words of the core, tolerantly: what a newer daemon adds is passed over, what is missing
// keeps its default.
// Thread rules: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <atone/coordinator.hpp>
#include <atone/event.hpp>
#include <atone/json.hpp>
#include <atone/machine.hpp>
#include <atone/records.hpp>

namespace atone::cli {

saga_row read_saga(json::value const& from);
std::vector<step_view> read_steps(json::value const& saga);
std::vector<event> read_events(json::value const& history);
std::vector<alert_row> read_alerts(json::value const& list);
std::vector<node_view> read_nodes(json::value const& list);

// Members by name, with defaults.
std::string text_of(json::value const& from, std::string_view key);
std::int64_t integer_of(json::value const& from, std::string_view key);
bool flag_of(json::value const& from, std::string_view key);
// The raw JSON of a member; empty: absent or null.
std::string raw_of(json::value const& from, std::string_view key);
// An array's elements under `key`, or of the value itself where it is an array.
std::vector<json::value> elements_of(json::value const& from, std::string_view key);

}  // namespace atone::cli
