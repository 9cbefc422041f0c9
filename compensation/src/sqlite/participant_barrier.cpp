#include "sqlite/participant_barrier.hpp"

#include <sqlite3.h>

#include <array>
#include <map>

#include "common/factories.hpp"
#include "sqlite/embedded_sql.hpp"
#include "sqlite/failure.hpp"

namespace atone::sqlite {
namespace {

using participant::outcome;
using participant::verdict;

constexpr std::string_view marker = "-- :name ";

// Statements as C strings with an address of their own, as connection::use wants them.
std::map<std::string, std::string, std::less<>> split(std::string_view text) {
  std::map<std::string, std::string, std::less<>> found;
  for (auto at = text.find(marker); at != std::string_view::npos;) {
    auto const name_at = at + marker.size();
    auto const line_end = text.find('\n', name_at);
    auto const next = text.find(marker, line_end);
    found.emplace(text.substr(name_at, line_end - name_at), text.substr(line_end + 1, next - line_end - 1));
    at = next;
  }
  return found;
}

char const* statement(std::string_view name) {
  static auto const all = split(barrier_text());  // constant after its first use
  auto const found = all.find(name);
  ATONE_ASSERT(found != all.end());
  return found->second.c_str();
}

constexpr std::array verdicts{verdict::proceed, verdict::duplicate, verdict::empty, verdict::refused};

result<verdict> parse_verdict(sqlite3* on, std::string_view word) {
  for (auto const known : verdicts) {
    if (participant::name(known) == word) return known;
  }
  return unreadable(on, "the barrier said '" + std::string{word} + "'");
}

void bind_key(query& to, barrier_key const& key) {
  to.add_text(key.saga).add_text(key.step).add_text(key.op);
}

}  // namespace

std::string_view barrier_statement(std::string_view name) noexcept {
  return statement(name);
}

result<void> participant_barrier::install() {
  return on_.run(statement("table"));
}

result<outcome> participant_barrier::enter(barrier_key const& key) {
  auto found = look(key);
  if (!found) return found.error();
  switch (found->verdict) {
    case verdict::duplicate:
    case verdict::refused: return found;
    case verdict::proceed: {
      if (auto done = record(statement("claim"), key); !done) return done.error();
      return found;
    }
    case verdict::empty: {
      if (auto done = record(statement("empty"), key); !done) return done.error();
      found->answer = participant::answer::done("{}");
      return found;
    }
  }
  return found;
}

// Columns of `look`: verdict, stored, status, answer.
result<outcome> participant_barrier::look(barrier_key const& key) {
  auto asked = on_.use(statement("look"));
  if (!asked) return asked.error();
  bind_key(*asked, key);
  auto const row = asked->step();
  if (!row) return row.error();
  ATONE_ASSERT(*row);
  auto const word = asked->take_text();
  auto const said = parse_verdict(on_.handle(), word);
  if (!said) return said.error();
  outcome found;
  found.verdict = *said;
  found.answer.refused = asked->take_text() == "no" || *said == verdict::refused;
  found.answer.status = static_cast<std::int32_t>(asked->take_optional().value_or(200));
  found.answer.body = asked->take_text();
  return found;
}

result<void> participant_barrier::record(char const* text, barrier_key const& key) {
  auto row = on_.use(text);
  if (!row) return row.error();
  bind_key(*row, key);
  return row->run();
}

result<void> participant_barrier::answer(barrier_key const& key, participant::answer const& given) {
  auto row = on_.use(statement("answer"));
  if (!row) return row.error();
  // In the order in which the names first stand in the statement.
  row->add_text(given.refused ? "no" : "done").add(given.status).add_bytes(given.body);
  bind_key(*row, key);
  if (auto done = row->run(); !done) return done;
  if (on_.changes() == 1) return {};
  return error{errc::not_found, "an answer for " + std::string{key.saga} + " " + std::string{key.step} + " " + std::string{key.op} +
                                    ", which the barrier never let proceed"};
}

namespace {

std::string_view text_argument(sqlite3_value* value) {
  auto const* const text = reinterpret_cast<char const*>(sqlite3_value_text(value));
  return text == nullptr ? std::string_view{} : std::string_view{text, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

barrier_key key_argument(sqlite3_value** arguments) {
  barrier_key key;
  key.saga = text_argument(arguments[0]);
  key.step = text_argument(arguments[1]);
  key.op = text_argument(arguments[2]);
  return key;
}

void give_text(sqlite3_context* to, std::string_view text) {
  sqlite3_result_text64(to, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void fail(sqlite3_context* to, error const& why) {
  sqlite3_result_error(to, why.message.c_str(), static_cast<int>(why.message.size()));
}

void barrier_function(sqlite3_context* to, int, sqlite3_value** arguments) {
  auto* const barrier = static_cast<participant_barrier*>(sqlite3_user_data(to));
  auto const found = barrier->enter(key_argument(arguments));
  if (!found) return fail(to, found.error());
  give_text(to, participant::name(found->verdict));
}

void answer_function(sqlite3_context* to, int, sqlite3_value** arguments) {
  auto* const barrier = static_cast<participant_barrier*>(sqlite3_user_data(to));
  participant::answer given;
  given.refused = sqlite3_value_int(arguments[3]) != 0;
  given.status = sqlite3_value_int(arguments[4]);
  given.body = std::string{text_argument(arguments[5])};
  if (auto const done = barrier->answer(key_argument(arguments), given); !done) return fail(to, done.error());
  give_text(to, "stored");
}

}  // namespace

result<void> register_barrier_functions(connection& on, participant_barrier& barrier) {
  int const flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  int code = sqlite3_create_function_v2(on.handle(), "atone_barrier", 3, flags, &barrier, barrier_function, nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) {
    code = sqlite3_create_function_v2(on.handle(), "atone_answer", 6, flags, &barrier, answer_function, nullptr, nullptr, nullptr);
  }
  if (code != SQLITE_OK) return failure(on.handle(), code, "registering the barrier's functions");
  return {};
}

}  // namespace atone::sqlite

namespace atone {

std::string_view sqlite_barrier_sql() {
  return sqlite::barrier_text();
}

}  // namespace atone
