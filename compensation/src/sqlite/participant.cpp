// A participant's database on SQLite: one connection, one transaction at a time; other processes may use the same file.
#include <atomic>
#include <mutex>
#include <thread>

#include <sqlite3.h>

#include <atone/participant.hpp>

#include "common/factories.hpp"
#include "sqlite/participant_barrier.hpp"
#include "sqlite/participant_session.hpp"

namespace atone::sqlite {
namespace {

using participant::answer;
using participant::call;
using participant::outcome;
using participant::verdict;

constexpr int attempts_max = 20;
constexpr int pause_step_ms = 10;  // attempt n waits up to n times this for another process's transaction

// Says for as long as it lives which thread is inside a transaction.
class marked_inside {
 public:
  explicit marked_inside(std::atomic<std::thread::id>& mark) : mark_(mark) { mark_.store(std::this_thread::get_id()); }
  marked_inside(marked_inside const&) = delete;
  marked_inside& operator=(marked_inside const&) = delete;
  ~marked_inside() { mark_.store(std::thread::id{}); }

 private:
  std::atomic<std::thread::id>& mark_;
};

class sqlite_participant final : public participant::participant_database {
 public:
  explicit sqlite_participant(connection on) : on_(std::move(on)), authorizer_(on_), barrier_(on_) {}

  result<void> register_functions() { return register_barrier_functions(on_, barrier_); }
  result<outcome> run(call const& which, business const& work) override;
  result<void> transact(plain_work const& work) override;
  result<void> install_barrier() override;

 private:
  template <class T, class Body>
  result<T> repeat(Body const& body);
  result<outcome> run_once(barrier_key const& key, business const& work);
  result<outcome> proceed(barrier_key const& key, business const& work, outcome entered);
  result<answer> do_business(business const& work);
  result<void> transact_once(plain_work const& work);

  std::mutex one_at_a_time_;
  std::atomic<std::thread::id> inside_;  // who holds the lock, to refuse a call from within itself
  connection on_;
  authorizer authorizer_;
  participant_barrier barrier_;
};

// SQLite itself waits while another connection writes, longer at each attempt.
template <class T, class Body>
result<T> sqlite_participant::repeat(Body const& body) {
  if (inside_.load() == std::this_thread::get_id()) {
    return error{errc::conflict, "a participant's database was called from inside its own transaction; use the session that was given"};
  }
  std::lock_guard const held{one_at_a_time_};
  marked_inside const marked{inside_};
  std::optional<error> last;
  for (int attempt = 1; attempt <= attempts_max; ++attempt) {
    sqlite3_busy_timeout(on_.handle(), attempt * pause_step_ms);
    auto done = body();
    bool const lost = !done && (sqlite3_errcode(on_.handle()) & 0xff) == SQLITE_BUSY && done.error().retryable();
    if (!lost) return done;
    last = done.error();
  }
  last->code = errc::serialization;
  last->message += " (" + std::to_string(attempts_max) + " attempts)";
  return *last;
}

result<outcome> sqlite_participant::run(call const& which, business const& work) {
  if (which.saga.empty() || which.step.empty() || which.op == operation::none) {
    return error{errc::invalid_argument, "a barrier call needs saga, step and operation; found '" + which.saga + "', '" + which.step +
                                             "', '" + std::string{name(which.op)} + "'"};
  }
  barrier_key key;
  key.saga = which.saga;
  key.step = which.step;
  key.op = name(which.op);
  return repeat<outcome>([&] { return run_once(key, work); });
}

result<outcome> sqlite_participant::run_once(barrier_key const& key, business const& work) {
  auto open = transaction::begin_write(on_);
  if (!open) return open.error();
  auto entered = barrier_.enter(key);
  if (!entered) return entered.error();
  if (entered->verdict == verdict::duplicate || entered->verdict == verdict::refused) return entered;
  if (entered->verdict == verdict::proceed) {
    entered = proceed(key, work, std::move(*entered));
    if (!entered) return entered.error();
    auto const op = parse_operation(key.op);
    if (entered->answer.refused && op && !keeps_refusal(*op)) return entered;  // rolled back whole: it may be tried again
  }
  if (auto done = open->commit(); !done) return done.error();
  return entered;
}

result<outcome> sqlite_participant::proceed(barrier_key const& key, business const& work, outcome entered) {
  if (auto done = on_.run("SAVEPOINT atone_business"); !done) return done.error();
  auto given = do_business(work);
  if (!given) return given.error();
  if (given->refused) {
    if (auto done = on_.run("ROLLBACK TO atone_business"); !done) return done.error();
  }
  if (auto done = on_.run("RELEASE atone_business"); !done) return done.error();
  if (auto done = barrier_.answer(key, *given); !done) return done.error();
  entered.answer = std::move(*given);
  return entered;
}

result<answer> sqlite_participant::do_business(business const& work) {
  participant_session session{on_, authorizer_};
  auto given = work(session);
  if (!given) return given;
  // A refusal may well follow a failed statement: it rolls back to the savepoint all the same.
  if (session.spoiled() && !given->refused) return *session.spoiled();
  return given;
}

result<void> sqlite_participant::transact(plain_work const& work) {
  return repeat<void>([&] { return transact_once(work); });
}

result<void> sqlite_participant::transact_once(plain_work const& work) {
  auto open = transaction::begin_write(on_);
  if (!open) return open.error();
  {
    participant_session session{on_, authorizer_};
    if (auto done = work(session); !done) return done;
    if (session.spoiled()) return *session.spoiled();
  }
  return open->commit();
}

result<void> sqlite_participant::install_barrier() {
  return repeat<void>([&] { return barrier_.install(); });
}

}  // namespace
}  // namespace atone::sqlite

namespace atone {

result<std::unique_ptr<participant::participant_database>> open_sqlite_database(std::string const& address) {
  ATONE_ASSERT(address.starts_with(sqlite_scheme));
  sqlite::settings how;
  how.path = address.substr(std::string_view{sqlite_scheme}.size());
  if (how.path.starts_with(":")) return error{errc::invalid_argument, "'" + address + "' names no file; expected sqlite:PATH"};
  auto on = sqlite::connection::open(how);
  if (!on) return on.error();
  auto made = std::make_unique<sqlite::sqlite_participant>(std::move(*on));
  if (auto done = made->register_functions(); !done) return done.error();
  return std::unique_ptr<participant::participant_database>{std::move(made)};
}

}  // namespace atone
