// A participant's database on PostgreSQL: a pool of connections, and the barrier's functions inside each local transaction.
// The isolation level is the database's own default (or the address's: ?options=-c%20default_transaction_isolation=…).
#include "common/factories.hpp"
#include "postgres/named_parameters.hpp"
#include "postgres/pause.hpp"
#include "postgres/pool.hpp"

namespace atone::postgres {
namespace {

using participant::answer;
using participant::call;
using participant::outcome;
using participant::parameter;
using participant::row;
using participant::verdict;

std::optional<verdict> parse_verdict(std::string_view word) {
  for (auto const known : {verdict::proceed, verdict::duplicate, verdict::empty, verdict::refused}) {
    if (participant::name(known) == word) return known;
  }
  return std::nullopt;
}

// The business statements of one transaction. A failed one spoils it, so the first failure is kept.
class business_session final : public participant::sql_session {
 public:
  explicit business_session(session& on) : on_(on) {}

  result<std::vector<row>> execute(std::string_view statement, std::vector<parameter> const& parameters) override {
    if (spoiled_) return *spoiled_;
    if (auto fine = check_no_transaction_control(statement); !fine) return noted(fine.error());
    auto const found = on_.query(std::string{statement}, parameters);
    if (!found) return noted(found.error());
    std::vector<row> rows;
    for (auto const& one : *found) rows.push_back(read_row(one));
    return rows;
  }

  result<void> script(std::string_view statements) override {
    if (spoiled_) return *spoiled_;
    if (auto fine = check_no_transaction_control(statements); !fine) return noted(fine.error());
    auto const done = on_.run(std::string{statements});
    if (!done) return noted(done.error());
    return {};
  }

  std::optional<error> const& spoiled() const noexcept { return spoiled_; }

 private:
  error noted(error why) {
    spoiled_ = why;
    return why;
  }

  static row read_row(pqxx::row const& from) {
    row one;
    for (auto const& field : from) {
      one.emplace(field.name(), field.is_null() ? parameter{} : parameter{std::string{field.c_str(), field.size()}});
    }
    return one;
  }

  session& on_;
  std::optional<error> spoiled_;
};

class postgres_participant final : public participant::participant_database {
 public:
  explicit postgres_participant(endpoint to) : pool_(std::move(to), pool_size_max) {}

  result<outcome> run(call const& which, business const& work) override;
  result<void> transact(plain_work const& work) override;
  result<void> install_barrier() override;

 private:
  enum class after_loss { repeat, report };

  template <class T, class Body>
  result<T> repeat(after_loss policy, Body const& body);
  result<pool::lease> begin();
  template <class T, class Body>
  result<T> in_transaction(Body const& body, bool& lost);
  result<outcome> enter(session& on, call const& which);
  result<outcome> run_in(session& on, call const& which, business const& work);
  result<outcome> proceed(session& on, call const& which, business const& work);
  result<answer> ask_business(session& on, business const& work);

  pool pool_;
};

// Conflicts repeat the whole transaction. So does a lost connection where repeating is harmless: behind the barrier, a
// transaction that committed after all answers as a duplicate. The business's own errors are returned as they are.
template <class T, class Body>
result<T> postgres_participant::repeat(after_loss policy, Body const& body) {
  rising_pause pause{retry_limits{}.first_pause, retry_pause_max * participant_attempts_max};
  for (int attempt = 1;; ++attempt) {
    bool lost = false;
    auto done = in_transaction<T>(body, lost);
    if (done || attempt == participant_attempts_max) return done;
    bool const harmless = done.error().code == errc::serialization || (lost && policy == after_loss::repeat);
    if (!harmless || !pause.wait()) return done;
  }
}

// A connection with a transaction begun. One that lay idle may have been lost meanwhile, a server that restarts comes back:
// others are tried for a while. Nothing was asked for yet, so that is harmless.
result<pool::lease> postgres_participant::begin() {
  rising_pause pause{retry_limits{}.first_pause, retry_limits{}.conflict_total};
  for (;;) {
    auto on = pool_.take();
    if (!on && on.error().code != errc::unavailable) return on.error();
    auto const begun = on ? (*on)->run("begin") : result<pqxx::result>{on.error()};
    if (begun) return on;
    pool_.forget_idle();
    if (!pause.wait()) return error{errc::unavailable, begun.error().message};
  }
}

template <class T, class Body>
result<T> postgres_participant::in_transaction(Body const& body, bool& lost) {
  auto on = begin();
  if (!on) return on.error();
  auto done = body(**on);
  auto const closed = (*on)->run(done ? "commit" : "rollback");
  lost = (*on)->lost();
  if (closed) on->keep();
  if (!done || closed) return done;
  return closed.error();
}

result<outcome> postgres_participant::run(call const& which, business const& work) {
  if (which.saga.empty() || which.step.empty() || which.op == operation::none) {
    return error{errc::invalid_argument, "a barrier call needs saga, step and operation; found '" + which.saga + "', '" + which.step +
                                             "', '" + std::string{name(which.op)} + "'"};
  }
  return repeat<outcome>(after_loss::repeat, [&](session& on) { return run_in(on, which, work); });
}

result<outcome> postgres_participant::run_in(session& on, call const& which, business const& work) {
  bool const may_come_again = !keeps_refusal(which.op);
  if (may_come_again) {
    if (auto set = on.run("savepoint atone_entry"); !set) return set.error();
  }
  auto entered = enter(on, which);
  if (!entered || entered->verdict != verdict::proceed) return entered;
  auto done = proceed(on, which, work);
  if (!done || !may_come_again || !done->answer.refused) return done;
  // Nothing of it stays, the barrier's row neither: it may be tried again.
  if (auto undone = on.run("rollback to savepoint atone_entry"); !undone) return undone.error();
  return done;
}

result<outcome> postgres_participant::enter(session& on, call const& which) {
  auto const rows = on.query("select verdict, status, answer, refused from atone_barrier($1, $2, $3)",
                             {which.saga, which.step, std::string{name(which.op)}});
  if (!rows) return rows.error();
  auto const& told = (*rows)[0];
  auto const said = parse_verdict(told[0].c_str());
  if (!said) return error{errc::corrupt, std::string{"atone_barrier answered '"} + told[0].c_str() + "'"};
  outcome entered;
  entered.verdict = *said;
  if (*said == verdict::proceed) return entered;
  entered.answer.status = told[1].as<std::int32_t>();
  entered.answer.body = from_bytea_text(told[2].c_str());
  entered.answer.refused = told[3].as<bool>();
  return entered;
}

result<outcome> postgres_participant::proceed(session& on, call const& which, business const& work) {
  if (auto set = on.run("savepoint atone_business"); !set) return set.error();
  auto given = ask_business(on, work);
  if (!given) return given.error();
  if (given->refused) {
    if (auto undone = on.run("rollback to savepoint atone_business"); !undone) return undone.error();
  }
  auto const stored = on.query("select atone_answer($1, $2, $3, $4, $5, $6)",
                               {which.saga, which.step, std::string{name(which.op)}, given->refused ? "true" : "false",
                                std::to_string(given->status), bytea_text(given->body)});
  if (!stored) return stored.error();
  outcome entered;
  entered.answer = std::move(*given);
  return entered;
}

result<answer> postgres_participant::ask_business(session& on, business const& work) {
  business_session inside{on};
  auto given = work(inside);
  auto const& spoiled = inside.spoiled();
  if (!spoiled) return given;
  // A conflict or a lost connection is not the business's to judge: the whole transaction is repeated.
  if (spoiled->retryable()) return *spoiled;
  // A refusal may well follow a failed statement: it rolls back to the savepoint all the same.
  if (given && !given->refused) return *spoiled;
  return given;
}

result<void> postgres_participant::transact(plain_work const& work) {
  return repeat<void>(after_loss::report, [&](session& on) -> result<void> {
    business_session inside{on};
    auto done = work(inside);
    if (inside.spoiled()) return *inside.spoiled();
    return done;
  });
}

result<void> postgres_participant::install_barrier() {
  return repeat<void>(after_loss::repeat, [&](session& on) -> result<void> {
    // Two that install at once take turns: "create … if not exists" alone can still collide.
    if (auto locked = on.run("select pg_advisory_xact_lock(4707201802)"); !locked) return locked.error();
    if (auto made = on.run(std::string{postgres_barrier_sql()}); !made) return made.error();
    return {};
  });
}

}  // namespace
}  // namespace atone::postgres

namespace atone {

result<std::unique_ptr<participant::participant_database>> open_postgres_database(std::string const& address) {
  postgres::endpoint to{address};
  to.plain = true;
  if (auto reached = postgres::session::open(to, postgres::session_kind::reader); !reached) return reached.error();
  return std::unique_ptr<participant::participant_database>{std::make_unique<postgres::postgres_participant>(std::move(to))};
}

}  // namespace atone
