// The `sql` step: the user's statement, the records that say so and the fence in one transaction, exactly once. What the statement fails
// with is kept apart from what the store fails with: it must not stop, nor hold up, the one writer of all sagas.
#include "postgres/decoding.hpp"
#include "postgres/named_parameters.hpp"
#include "postgres/sql_answer.hpp"
#include "postgres/writer.hpp"

namespace atone::postgres {
namespace {

constexpr int user_losses_max = 2;

std::string local_limits(std::chrono::milliseconds lock, std::chrono::milliseconds statement) {
  return "set local lock_timeout = " + std::to_string(lock.count()) +
         "; set local statement_timeout = " + std::to_string(statement.count());
}

}  // namespace

result<commit_report> writer::commit_with_sql(sql_statement const& statement, answer_to_batch const& on_success, batch_number number) {
  ATONE_ASSERT(number.value() > 0);
  if (self_.epoch.value() == 0) return error{errc::fenced, "no take_over came before this commit"};
  if (losing_ != number) losses_ = 0;
  losing_ = number;
  return repeat([&](session& on) -> result<commit_report> {
    bool in_statement = false;
    auto done = run_with_sql(on, statement, on_success, number, in_statement);
    if (done || !in_statement || !on.lost()) return done;
    // Its COMMIT was never sent. Once may be chance; a statement that costs its connection again would hold up everybody for ever.
    if (++losses_ < user_losses_max) return done;
    losses_ = 0;
    return error{errc::statement_failed, "the connection was lost under the statement " + std::to_string(user_losses_max) +
                                             " times; the last time: " + done.error().message};
  });
}

result<std::optional<commit_report>> writer::committed_before(session& on, batch_number number) {
  auto const found = on.query("select " + microseconds_of("atone.committed_at($1, $2, $3)"),
                              {std::to_string(self_.number.value()), std::to_string(self_.epoch.value()), std::to_string(number.value())});
  if (!found) return found.error();
  if ((*found)[0][0].is_null()) return std::optional<commit_report>{};
  commit_report report;
  report.database_time = decode_time((*found)[0][0]);
  return std::optional<commit_report>{report};
}

// `in_statement`: it failed in the user's statement, before anything of ours.
result<commit_report> writer::run_with_sql(session& on, sql_statement const& statement, answer_to_batch const& on_success,
                                           batch_number number, bool& in_statement) {
  auto before = committed_before(on, number);
  if (!before) return before.error();
  if (*before) return std::move(**before);
  auto const numbered = number_parameters(statement.text);
  if (!numbered) return numbered.error();
  auto const values = parameter_values(numbered->names, statement.parameters);
  if (!values) return values.error();
  // The user's names are found by the database's own search path.
  auto const bounded = local_limits(to_.limits.user_lock, to_.limits.user_statement);
  if (auto begun = on.run("begin; set local search_path to default; " + users_planner_settings() + bounded); !begun) return begun.error();
  auto done = write_with_sql(on, *numbered, *values, on_success, number, in_statement);
  if (!done && !on.lost()) static_cast<void>(on.run("rollback"));
  return done;
}

result<commit_report> writer::write_with_sql(session& on, numbered_statement const& statement, std::vector<text_parameter> const& values,
                                             answer_to_batch const& on_success, batch_number number, bool& in_statement) {
  in_statement = true;
  auto const answer = on.query(statement.text, values);
  if (!answer) return on.blame_user(answer.error());
  // Constraints that were deferred to the COMMIT are the user's too: checked here, where their failure can be told from ours.
  auto const checked = on.run("set constraints all immediate; " + local_limits(to_.limits.lock, to_.limits.statement));
  if (!checked) return on.blame_user(checked.error());
  in_statement = false;
  auto const batch = on_success(answer_json(*answer));
  if (auto fine = check_batch_here(batch); !fine) return fine.error();
  auto report = call_commit(on, batch, number);
  if (!report) return report;
  if (auto committed = on.run("commit"); !committed) return committed.error();
  return report;
}

}  // namespace atone::postgres
