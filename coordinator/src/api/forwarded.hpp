// A request that one node sends to another because that one drives the saga: what of it goes along, and how the answer comes back.
// Thread rules: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <atone/http.hpp>
#include <atone/ids.hpp>

#include "api/problem.hpp"

namespace atone::api {

// On every request that a node passes on, with the node's name (percent-encoded): such a request goes no further.
inline constexpr std::string_view forwarded_header = "Atone-Forwarded";

bool was_forwarded(http::request const& what) noexcept;

// The same method, target and body, with the headers that matter to the other node: who asks and by which token, what the body is.
// Cookies, Origin, Host and whatever belongs to the connection stay here.
http::request forwarded_request(http::request const& what, std::string const& node);

// What a node answers to a request that was passed on to it and whose saga it does not drive: nothing was done.
problem not_driven_here(saga_id saga);
// Whether an answer is that one: the saga has gone on, so who passed the request on looks for its driver again.
bool is_not_driven(http::response const& from);

// The other node's answer as it goes to whoever asked: status, body, and the headers that say what they are.
http::response passed_answer(http::response const& from);

}  // namespace atone::api
