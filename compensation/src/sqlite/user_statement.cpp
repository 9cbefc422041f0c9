#include "sqlite/user_statement.hpp"

#include <sqlite3.h>

#include <cmath>
#include <set>

#include <atone/json.hpp>

namespace atone::sqlite {
namespace {

error refused(std::string const& why) {
  return error{errc::bad_data, "the sql step's statement: " + why};
}

// Whatever SQLite says of the user's statement is the statement's: whether the store is ill, its own statements tell.
error of_user(error why) {
  why.code = why.retryable() ? errc::statement_failed : errc::bad_data;
  why.message = "the sql step's statement: " + why.message;
  return why;
}

// Interrupts what runs on a connection when its time is up, for as long as it lives.
class time_bound {
 public:
  explicit time_bound(connection& on) : on_(on) { sqlite3_progress_handler(on_.handle(), steps_between_looks, is_over, this); }
  time_bound(time_bound const&) = delete;
  time_bound& operator=(time_bound const&) = delete;
  ~time_bound() { sqlite3_progress_handler(on_.handle(), 0, nullptr, nullptr); }

  error explain(error why) const {
    if (interrupted_) why.message += ": it ran longer than " + std::to_string(user_time_max.count()) + " ms";
    return why;
  }

 private:
  static constexpr int steps_between_looks = 10'000;  // well below a millisecond

  static int is_over(void* self) noexcept {
    auto* const of = static_cast<time_bound*>(self);
    of->interrupted_ = std::chrono::steady_clock::now() >= of->end_;
    return of->interrupted_ ? 1 : 0;
  }

  connection& on_;
  std::chrono::steady_clock::time_point const end_ = std::chrono::steady_clock::now() + user_time_max;
  bool interrupted_ = false;
};

// Values that outlive the query they are bound to.
using kept_texts = std::vector<std::unique_ptr<std::string>>;

std::string_view keep(kept_texts& texts, std::string text) {
  texts.push_back(std::make_unique<std::string>(std::move(text)));
  return *texts.back();
}

// Exact or as text: a number that neither int64 nor double holds would be changed silently.
void bind_number(query& to, json::value const& number, kept_texts& texts) {
  if (auto const whole = number.as_int64()) {
    to.add(*whole);
    return;
  }
  bool const written_whole = number.raw().find_first_of(".eE") == std::string_view::npos;
  auto const real = number.as_double();
  if (!written_whole && real && std::isfinite(*real)) {
    to.add_real(*real);
    return;
  }
  to.add_text(keep(texts, std::string{number.raw()}));
}

void bind_value(query& to, json::value const& value, kept_texts& texts) {
  switch (value.type()) {
    case json::kind::null: to.add_null(); return;
    case json::kind::boolean: to.add(value.as_bool() ? 1 : 0); return;
    case json::kind::number: bind_number(to, value, texts); return;
    case json::kind::string: to.add_text(keep(texts, value.as_string())); return;
    case json::kind::array:
    case json::kind::object: to.add_text(keep(texts, std::string{value.raw()})); return;
  }
}

result<void> bind_parameters(query& to, std::string const& parameters, kept_texts& texts) {
  auto const parsed = json::parse(parameters.empty() ? std::string{"{}"} : parameters);
  if (!parsed) return refused("its parameters are not JSON: " + parsed.error().message);
  if (parsed->type() != json::kind::object)
    return refused("its parameters must be a JSON object, found " + std::string{json::name(parsed->type())});
  int const count = sqlite3_bind_parameter_count(to.handle());
  for (int place = 1; place <= count; ++place) {
    char const* const named = sqlite3_bind_parameter_name(to.handle(), place);
    if (named == nullptr || *named != ':')
      return refused("parameters are written :name, found '" + std::string{named == nullptr ? "?" : named} + "'");
    auto const value = parsed->find(named + 1);
    if (!value) return refused("parameter " + std::string{named} + " has no value; found only " + parameters.substr(0, 200));
    bind_value(to.at(place), *value, texts);
  }
  return {};
}

result<void> write_column(json::writer& out, sqlite3_stmt* row, int column) {
  auto const size = [&] { return static_cast<std::size_t>(sqlite3_column_bytes(row, column)); };
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL: out.null(); return {};
    case SQLITE_INTEGER: out.number(static_cast<std::int64_t>(sqlite3_column_int64(row, column))); return {};
    case SQLITE_FLOAT: {
      double const value = sqlite3_column_double(row, column);
      if (!std::isfinite(value)) return refused("column " + std::to_string(column + 1) + " is infinite, which JSON can't say");
      out.number(value);
      return {};
    }
    case SQLITE_TEXT: {
      auto const* const text = reinterpret_cast<char const*>(sqlite3_column_text(row, column));
      out.string(std::string_view{text, size()});
      return {};
    }
    default: return refused("column " + std::to_string(column + 1) + " holds bytes; select hex() of it");
  }
}

result<std::string> row_as_json(sqlite3_stmt* row) {
  json::writer out;
  out.begin_object();
  std::set<std::string> names;
  for (int column = 0; column < sqlite3_column_count(row); ++column) {
    char const* const named = sqlite3_column_name(row, column);
    std::string const column_name = named == nullptr ? "" : named;
    if (!names.insert(column_name).second) return refused("two columns are named '" + column_name + "'; rename one with AS");
    out.key(column_name);
    if (auto done = write_column(out, row, column); !done) return done.error();
  }
  out.end_object();
  return out.take();
}

result<std::string> run_prepared(connection& on, query& prepared, time_bound const& bound) {
  std::string first_row = "null";
  std::int64_t rows = 0;
  for (;;) {
    auto const more = prepared.step();
    if (!more) return of_user(bound.explain(more.error()));
    if (!*more) break;
    if (++rows > user_rows_max) return refused("it gives more than " + std::to_string(user_rows_max) + " rows");
    if (rows > 1) continue;
    auto row = row_as_json(prepared.handle());
    if (!row) return row.error();
    first_row = std::move(*row);
  }
  bool const reads_only = sqlite3_stmt_readonly(prepared.handle()) != 0;
  json::writer answer;
  answer.begin_object().key("rows").number(reads_only ? rows : on.changes()).key("row").raw(first_row).end_object();
  return answer.take();
}

}  // namespace

result<std::string> run_user_statement(connection& on, authorizer& guard, sql_statement const& statement) {
  authorizer::scope const guarded{guard, authorizer::rule::user_statement};
  time_bound const bounded{on};
  auto prepared = on.prepare(statement.text);
  if (!prepared) return of_user(guard.explain(prepared.error()));
  kept_texts texts;
  if (auto bound = bind_parameters(*prepared, statement.parameters, texts); !bound) return bound.error();
  return run_prepared(on, *prepared, bounded);
}

}  // namespace atone::sqlite
