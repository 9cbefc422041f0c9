// One connection to PostgreSQL, from open to its first loss; then it is thrown away and another is made (a lost one still
// calls itself open). Exceptions of libpqxx end here. Thread rules: one thread at a time.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include <atone/result.hpp>

#include "postgres/address.hpp"
#include "postgres/limits.hpp"
#include "postgres/watchdog.hpp"

namespace atone::postgres {

// Where and how to connect; shared by all sessions of one store.
struct endpoint {
  std::string address;
  session_limits limits;
  // A participant's: search_path and isolation are the database's own.
  bool plain = false;
  std::shared_ptr<watchdog> guard = std::make_shared<watchdog>();

  explicit endpoint(std::string of, session_limits bounds = {}) : address(std::move(of)), limits(bounds) {}
};

// A statement's parameter in the server's text form; nothing for NULL.
using text_parameter = std::optional<std::string>;
// A parameter in the server's binary form (binary_rows.hpp).
using binary_parameter = std::string;

// How commit_batch (0004_nodes.sql) wants to be planned, as statements: once, since its arrays differ in length alone and planning costs as
// much as a small batch's work; without the scans that its comment names; and without JIT: a plan that can't do without a scan that is
// switched off looks dear enough to be compiled, at some 100 ms a statement.
std::string own_planner_settings();
// The database's own way again, until the transaction ends: for a user's statement.
std::string users_planner_settings();

class session {
 public:
  // Connects and sets the session up. Errors: unavailable, within the limits.
  static result<std::unique_ptr<session>> open(endpoint const& to, session_kind kind);

  // Several statements in one message, without parameters.
  result<pqxx::result> run(std::string const& statements);
  // One statement with $1, $2 …; types are the server's to infer. bad_data where a text holds a zero byte.
  result<pqxx::result> query(std::string const& statement, std::vector<text_parameter> const& parameters);
  // One statement, prepared at its first use under its own text.
  result<pqxx::result> call(std::string const& statement, std::vector<binary_parameter> const& parameters);

  // Returns when a notification has come (the session listens), or after `most`. A lost connection is noticed by the next call.
  void await_notification(std::chrono::milliseconds most);

  // What a failure of the user's statement is, told apart from the loss of this connection, which its SQLSTATE alone does not: rolls
  // the transaction back, and where that works the connection is alive, and the failure is statement_failed or bad_data. Call
  // right after the failure. Otherwise the connection is lost.
  error blame_user(error failure);

  // No longer usable: make another.
  bool lost() const noexcept { return lost_; }
  // SQLSTATE of the last failure; empty when the server gave none.
  std::string const& last_state() const noexcept { return last_state_; }

 private:
  session(std::unique_ptr<pqxx::connection> to, endpoint const& of);
  result<void> set_up(session_kind kind);
  error refused(std::string_view what, std::string const& state, char const* message);
  template <class Action>
  result<pqxx::result> guarded(std::string_view what, Action const& action);
  std::string const& prepared_name(std::string const& statement);

  std::unique_ptr<pqxx::connection> connection_;
  std::unique_ptr<pqxx::quiet_errorhandler> quiet_;  // libpqxx would print notices to stderr
  session_limits limits_;
  bool plain_;
  std::shared_ptr<watchdog> guard_;
  watchdog::enrolment const enrolled_;  // given up before the connection is closed: members are destroyed from the last to the first
  std::map<std::string, std::string> prepared_;  // name by statement
  std::string last_state_;
  bool lost_ = false;
};

// How a bytea stands in a text parameter and in a result: "\\x" and hex digits.
std::string bytea_text(std::string_view bytes);
std::string from_bytea_text(std::string_view text);

}  // namespace atone::postgres
