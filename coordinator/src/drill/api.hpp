// The few things beside sagas that a drill asks a coordinator for. Blocking.
// Thread rules: pure but for the network.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <atone/http.hpp>
#include <atone/ids.hpp>
#include <atone/result.hpp>

#include "drill/ledger.hpp"

namespace atone::drill {

// Whom to ask, and as whom.
struct api_access {
  std::string url;
  std::string token;
  http::tls_options tls;

  api_access() = default;
};

// GET of the URL answers 200; tcp://host:port takes a connection.
bool is_ready(std::string const& url, http::tls_options const& tls);
// Errors carry the coordinator's words.
result<void> publish(api_access const& at, std::string const& yaml);
// Every saga of the store whose key begins so, newest first.
result<std::vector<held_key>> list_keys(api_access const& at, std::string const& prefix);
// How many of the newest alerts are of one of these sagas, by kind.
result<std::map<std::string, std::uint64_t>> count_alerts(api_access const& at, std::set<saga_id> const& of);

}  // namespace atone::drill
