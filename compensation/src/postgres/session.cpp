#include "postgres/session.hpp"

#include <algorithm>
#include <array>

#include "postgres/errors.hpp"

namespace atone::postgres {
namespace {

std::unique_ptr<pqxx::connection> connect(std::string const& options) {
  auto made = std::make_unique<pqxx::connection>(options);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  // Silent reconnecting would lose session settings and hide that a transaction was cut.
  made->inhibit_reactivation(true);
#pragma GCC diagnostic pop
  return made;
}

std::string milliseconds(std::chrono::milliseconds of) {
  return std::to_string(of.count());
}

constexpr char digits[] = "0123456789abcdef";

int digit_value(char digit) {
  return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

}  // namespace

namespace {

constexpr std::array switched_off{"enable_hashjoin", "enable_mergejoin", "enable_seqscan", "enable_bitmapscan", "jit"};

}  // namespace

std::string own_planner_settings() {
  std::string text = "set plan_cache_mode = force_generic_plan; ";
  for (auto const* const kind : switched_off) text += std::string{"set "} + kind + " = off; ";
  return text;
}

std::string users_planner_settings() {
  std::string text = "set local plan_cache_mode = default; ";
  for (auto const* const kind : switched_off) text += std::string{"set local "} + kind + " = default; ";
  return text;
}

session::session(std::unique_ptr<pqxx::connection> to, endpoint const& of)
    : connection_(std::move(to)),
      quiet_(std::make_unique<pqxx::quiet_errorhandler>(*connection_)),
      limits_(of.limits),
      plain_(of.plain),
      guard_(of.guard),
      enrolled_(*guard_, connection_->sock()) {}

result<std::unique_ptr<session>> session::open(endpoint const& to, session_kind kind) {
  try {
    auto connection = connect(with_connection_parameters(to.address, kind, to.limits));
    std::unique_ptr<session> made{new session{std::move(connection), to}};
    if (auto ready = made->set_up(kind); !ready) return error{errc::unavailable, ready.error().message};
    return made;
  } catch (std::exception const& failure) {
    return error{errc::unavailable, sql_failure("can't connect to PostgreSQL", "", failure.what()).message};
  }
}

// search_path: every name of ours is qualified, so that no table of the user's can stand before it; the sql step takes the
// database's own path back for the user's statement. synchronous_commit: a commit that is answered is on disk, whatever
// the database's default. Isolation: the fence and the key claims rely on read committed.
result<void> session::set_up(session_kind kind) {
  std::string const of_ours = plain_ ? ""
                                     : "set search_path = pg_catalog; set default_transaction_isolation = 'read committed'; " +
                                           (kind == session_kind::writer ? own_planner_settings() : std::string{});
  auto const done =
      run(of_ours +
          "set synchronous_commit = on; set default_transaction_deferrable = off; set client_min_messages = error; set bytea_output = hex; "
          "set datestyle = iso; set timezone = utc; set intervalstyle = postgres; set extra_float_digits = 1; "
          "set lock_timeout = " +
          milliseconds(limits_.lock) + "; set statement_timeout = " + milliseconds(limits_.statement) +
          "; set idle_in_transaction_session_timeout = " + milliseconds(limits_.idle));
  if (!done) return done.error();
  return {};
}

error session::refused(std::string_view what, std::string const& state, char const* message) {
  last_state_ = state;
  lost_ = spoils_connection(state);
  auto told = sql_failure(what, state, message);
  // The server may have finished before it let go; only "read-only" says that nothing happened.
  if (lost_ && state != "25006") told.code = errc::outcome_unknown;
  return told;
}

template <class Action>
result<pqxx::result> session::guarded(std::string_view what, Action const& action) {
  last_state_.clear();
  if (lost_) return error{errc::unavailable, std::string{what} + ": the connection was lost before"};
  try {
    watchdog::guard const limit{*guard_, connection_->sock(), limits_.answer};
    pqxx::nontransaction plain{*connection_};
    return action(plain);
  } catch (pqxx::sql_error const& failure) {
    return refused(what, failure.sqlstate(), failure.what());
  } catch (pqxx::serialization_failure const& failure) {  // these three carry no SQLSTATE, and are no sql_error
    return refused(what, "40001", failure.what());
  } catch (pqxx::deadlock_detected const& failure) {
    return refused(what, "40P01", failure.what());
  } catch (pqxx::transaction_rollback const& failure) {
    return refused(what, "40003", failure.what());
  } catch (pqxx::conversion_error const& failure) {
    return error{errc::bad_data, std::string{what} + ": " + failure.what()};
  } catch (std::exception const& failure) {
    lost_ = true;
    return error{errc::outcome_unknown, sql_failure(what, "", failure.what()).message};
  }
}

result<pqxx::result> session::run(std::string const& statements) {
  return guarded("PostgreSQL", [&](pqxx::nontransaction& on) { return on.exec(statements); });
}

result<pqxx::result> session::query(std::string const& statement, std::vector<text_parameter> const& parameters) {
  last_state_.clear();
  std::vector<char const*> pointers;
  pointers.reserve(parameters.size());
  for (auto const& parameter : parameters) {
    if (parameter && parameter->find('\0') != std::string::npos) {
      return error{errc::bad_data, "PostgreSQL: a text value holds a zero byte, which no text of PostgreSQL can"};
    }
    pointers.push_back(parameter ? parameter->c_str() : nullptr);
  }
  return guarded("PostgreSQL",
                 [&](pqxx::nontransaction& on) { return on.exec_params(statement, pqxx::prepare::make_dynamic_params(pointers)); });
}

result<pqxx::result> session::call(std::string const& statement, std::vector<binary_parameter> const& parameters) {
  std::vector<pqxx::binarystring> binary;
  binary.reserve(parameters.size());
  for (auto const& parameter : parameters) binary.emplace_back(parameter.data(), parameter.size());
  return guarded("PostgreSQL", [&](pqxx::nontransaction& on) {
    return on.exec_prepared(prepared_name(statement), pqxx::prepare::make_dynamic_params(binary));
  });
}

void session::await_notification(std::chrono::milliseconds most) {
  if (lost_) return;
  try {
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
    connection_->await_notification(static_cast<long>(seconds.count()),
                                    static_cast<long>(std::chrono::microseconds{most - seconds}.count()));
  } catch (std::exception const&) {
    lost_ = true;
  }
}

error session::blame_user(error failure) {
  std::string const state = last_state_;
  lost_ = false;  // said of a SQLSTATE that anybody may raise; a connection that is gone says so again
  bool const alive = run("rollback").has_value();
  last_state_ = state;
  lost_ = !alive;
  // libpqxx gives no SQLSTATE for classes 08 and 53300, nor for what it noticed itself.
  bool const untold = state.empty() && failure.code != errc::bad_data;
  if (!alive && (untold || spoils_connection(state))) return failure;
  failure.code = untold ? errc::statement_failed : classify_of_user(state);
  return failure;
}

std::string const& session::prepared_name(std::string const& statement) {
  auto const known = prepared_.find(statement);
  if (known != prepared_.end()) return known->second;
  auto const name = "atone_" + std::to_string(prepared_.size() + 1);
  connection_->prepare(name, statement);
  return prepared_.emplace(statement, name).first->second;
}

std::string bytea_text(std::string_view bytes) {
  std::string text = "\\x";
  text.reserve(2 + bytes.size() * 2);
  for (char const byte : bytes) {
    auto const value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

std::string from_bytea_text(std::string_view text) {
  if (!text.starts_with("\\x")) return {};
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t at = 2; at + 1 < text.size(); at += 2) {
    bytes += static_cast<char>(digit_value(text[at]) << 4 | digit_value(text[at + 1]));
  }
  return bytes;
}

}  // namespace atone::postgres
