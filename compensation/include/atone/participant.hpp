// What a participant (a service that takes part in sagas) needs: its own database, with the barrier inside its local
// transaction. One call does it all: duplicates return the stored answer, a compensation that comes first leaves a
// tombstone, an action that comes late is refused, and the business change commits together with its answer.
//
// Other languages call the same SQL functions themselves: docs/participants.md.
//
// Thread rules: a participant_database may be used from many threads (it serialises or pools inside); a sql_session only
// inside the function it was given to.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/ids.hpp>
#include <atone/result.hpp>

namespace atone::participant {

// One operation of one step as it arrives (headers Atone-Saga, Atone-Step, Atone-Op): the barrier's key, taken as text as it came. An
// empty saga, an empty step or operation::none is errc::invalid_argument.
struct call {
  std::string saga;
  std::string step;
  operation op = operation::act;

  call() = default;
};

// What the participant answers; stored before commit and returned again to every duplicate.
struct answer {
  bool refused = false;       // a final "no"
  std::int32_t status = 200;  // HTTP status to send
  std::string body;           // bytes

  answer() = default;
  // What the business did, with what is to be sent back (JSON where the step has an `out`).
  static answer done(std::string body) {
    answer made;
    made.body = std::move(body);
    return made;
  }
  // A final "no": what the business has written so far is rolled back. `status` must be one that means refusal to the coordinator
  // (participant_protocol.hpp), or it will ask again.
  static answer no(std::string body, std::int32_t status = 409) {
    answer made;
    made.refused = true;
    made.status = status;
    made.body = std::move(body);
    return made;
  }
};

// What the barrier said. Also the words the SQL function atone_barrier returns.
enum class verdict {
  proceed,    // first time: do it
  duplicate,  // done before: the stored answer
  empty,      // a compensation whose action never came: nothing to undo, a tombstone now stops a late action
  refused,    // an action after its compensation: must not be done
};
std::string_view name(verdict of) noexcept;

// What to send: `answer`, whatever the verdict is.
struct outcome {
  participant::verdict verdict = verdict::proceed;  // proceed: the business ran now
  participant::answer answer;                       // fresh or stored; for `refused` by the barrier a 409

  outcome() = default;
};

// One row of a result: text by column name; nothing for NULL.
using row = std::map<std::string, std::optional<std::string>, std::less<>>;
using parameter = std::optional<std::string>;  // text as the database reads it; nothing is NULL

// Whether a refusal of this operation is the last word and is stored: of an action, a try, a vote. A refused compensation (confirm,
// cancel …) waits for a person, whose retry comes under the same key and must reach the business again.
constexpr bool keeps_refusal(operation op) noexcept {
  return op == operation::act || op == operation::try_ || op == operation::prepare;
}

// The local transaction the business statements run in.
class sql_session {
 public:
  virtual ~sql_session() = default;
  // One statement with $1, $2 …; errors are returned, not thrown. A failed statement spoils the transaction: later ones answer the same
  // error, and only a refusal can still be given; return the error. The transaction can't be ended from here (BEGIN, COMMIT …).
  virtual result<std::vector<row>> execute(std::string_view statement, std::vector<parameter> const& parameters) = 0;
  // Statements without parameters, for making tables.
  virtual result<void> script(std::string_view statements) = 0;
};

// One opened database of a participant.
class participant_database {
 public:
  virtual ~participant_database() = default;

  // Runs `business` at most once for (saga, step, op): barrier, business statements, stored answer, commit, in one transaction.
  // A refusal (answer::no) rolls the business statements back to a savepoint, and the refusal itself is stored where keeps_refusal
  // says so; otherwise nothing is, and the same call may come again. An error
  // rolls everything back and is returned: nothing happened. Conflicts (40001, 40P01, SQLITE_BUSY) repeat the whole
  // transaction, up to 20 times with rising pauses: `work` is called again then, so it must touch nothing but the session.
  // `empty` answers 200 with an empty object. Blocks. Not from inside another `work` (SQLite answers conflict). After an error the
  // coordinator's next attempt may come: answer it with a status that says so (503), never with a refusal.
  using business = std::function<result<answer>(sql_session&)>;
  virtual result<outcome> run(call const& which, business const& work) = 0;

  // A transaction without barrier: reads, set-up. Repeated on conflicts as run() is; unlike there, a commit whose answer was lost is
  // returned as an error and not repeated.
  using plain_work = std::function<result<void>(sql_session&)>;
  virtual result<void> transact(plain_work const& work) = 0;

  // Makes the barrier's table and, on PostgreSQL, its functions. Idempotent.
  virtual result<void> install_barrier() = 0;
};

// "sqlite:PATH" or "postgresql://…". Makes no barrier: call install_barrier() once. Errors: invalid_argument (the address), unsupported
// (memory:, or a database this build lacks), unavailable.
result<std::unique_ptr<participant_database>> open_database(std::string const& address);

// The barrier as printed by `atone barrier --dialect postgresql|sqlite`: statements for use from any language. Empty for a dialect that
// is unknown or left out of this build.
std::string_view barrier_sql(std::string_view dialect);

}  // namespace atone::participant
