// Who may ask: bearer tokens, and the guard against web pages that reach for a daemon on their reader's own machine.
// Thread rules: immutable after construction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <atone/http.hpp>
#include <atone/ids.hpp>

#include "api/problem.hpp"

namespace atone::api {

struct token {
  std::string name;    // recorded as the actor
  std::string secret;  // what the caller shows

  token() = default;
  token(std::string who, std::string what) : name(std::move(who)), secret(std::move(what)) {}
};

class access {
 public:
  // With `local_only` (no token, on loopback) the Host header must be an address or localhost: a page whose name was made to
  // point at 127.0.0.1 can't get in.
  access(std::vector<token> const& tokens, bool local_only);

  // Nothing: let in, and `actor` says who; else why not.
  std::optional<problem> check(http::request const& what, std::string& actor) const;

 private:
  struct known {
    std::string name;
    content_hash secret;

    known(std::string who, content_hash hash) : name(std::move(who)), secret(hash) {}
  };

  std::optional<problem> check_page(http::request const& what) const;
  known const* find(std::string_view shown) const noexcept;

  std::vector<known> tokens_;
  bool local_only_;
};

}  // namespace atone::api
