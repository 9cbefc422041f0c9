#include "sqlite/connection.hpp"

#include <sqlite3.h>

#include <utility>

#include <atone/assert.hpp>

#include "sqlite/failure.hpp"

namespace atone::sqlite {
namespace {

constexpr std::int64_t log_bytes_kept = 256 * 1024 * 1024;  // a log that grew larger is cut after a checkpoint
constexpr std::int64_t cache_kib = 32 * 1024;

int byte_count(std::string_view bytes) {
  return static_cast<int>(std::min<std::size_t>(bytes.size(), 0x7fffffff));
}

// An empty view may have no address, and SQLite takes that for NULL.
char const* address(std::string_view bytes) {
  return bytes.data() == nullptr ? "" : bytes.data();
}

}  // namespace

query::query(query&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)),
      owned_(other.owned_),
      parameter_(other.parameter_),
      column_(other.column_),
      bind_failure_(other.bind_failure_) {}

query::~query() {
  if (statement_ == nullptr) return;
  if (owned_) {
    sqlite3_finalize(statement_);
    return;
  }
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void query::note(int code) {
  if (code != SQLITE_OK && bind_failure_ == SQLITE_OK) bind_failure_ = code;
}

query& query::add(std::int64_t value) {
  note(sqlite3_bind_int64(statement_, ++parameter_, value));
  return *this;
}

query& query::add_real(double value) {
  note(sqlite3_bind_double(statement_, ++parameter_, value));
  return *this;
}

query& query::add_text(std::string_view text) {
  note(sqlite3_bind_text64(statement_, ++parameter_, address(text), text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

query& query::add_bytes(std::string_view bytes) {
  note(sqlite3_bind_blob64(statement_, ++parameter_, address(bytes), bytes.size(), SQLITE_STATIC));
  return *this;
}

query& query::add_null() {
  note(sqlite3_bind_null(statement_, ++parameter_));
  return *this;
}

query& query::at(int place) {
  ATONE_ASSERT(place >= 1);
  parameter_ = place - 1;
  return *this;
}

result<bool> query::step() {
  column_ = 0;
  sqlite3* const on = sqlite3_db_handle(statement_);
  if (bind_failure_ != SQLITE_OK) return failure(on, bind_failure_, "binding a parameter");
  int const code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return failure(on, code, "running a statement");
}

result<void> query::run() {
  for (;;) {
    auto const row = step();
    if (!row) return row.error();
    if (!*row) return {};
  }
}

void query::again() {
  sqlite3_reset(statement_);
  parameter_ = 0;
  column_ = 0;
  bind_failure_ = SQLITE_OK;
}

std::int64_t query::take_integer() {
  return sqlite3_column_int64(statement_, column_++);
}

std::optional<std::int64_t> query::take_optional() {
  if (next_is_null()) {
    ++column_;
    return std::nullopt;
  }
  return take_integer();
}

bool query::next_is_null() const {
  return sqlite3_column_type(statement_, column_) == SQLITE_NULL;
}

std::string_view query::peek_text() {
  // The type decides: asking for text converts (and so may change) a blob.
  int const column = column_++;
  void const* const bytes = sqlite3_column_type(statement_, column) == SQLITE_BLOB
                                ? sqlite3_column_blob(statement_, column)
                                : static_cast<void const*>(sqlite3_column_text(statement_, column));
  auto const size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? std::string_view{} : std::string_view{static_cast<char const*>(bytes), size};
}

std::string query::take_text() {
  return std::string{peek_text()};
}

void connection::closer::operator()(sqlite3* database) const noexcept {
  sqlite3_close_v2(database);
}
void connection::finalizer::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

result<connection> connection::open(settings const& how) {
  connection made;
  sqlite3* raw = nullptr;
  int const flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  int const code = sqlite3_open_v2(how.path.c_str(), &raw, flags, how.vfs.empty() ? nullptr : how.vfs.c_str());
  made.database_.reset(raw);
  if (code != SQLITE_OK) {
    auto why = failure(raw, code, "opening");
    if (!why.message.starts_with(how.path)) why.message = how.path + ": " + why.message;
    return why;
  }
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, static_cast<int>(how.wait_ms));
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (auto done = made.configure(how); !done) return done.error();
  return made;
}

result<void> connection::configure(settings const& how) {
  // The page size holds for a new file only, and must come before the journal mode.
  if (auto done = run("PRAGMA page_size = " + std::to_string(how.page_bytes)); !done) return done;
  {
    auto mode = prepare("PRAGMA journal_mode = WAL");
    if (!mode) return mode.error();
    auto const row = mode->step();
    if (!row) return row.error();
    std::string const found = *row ? mode->take_text() : std::string{};
    if (found != "wal") {
      return error{errc::unavailable, how.path + ": needs a write-ahead log, but the journal mode stays '" + found +
                                          "' (a file system without shared memory, or a file that can't be written?)"};
    }
  }
  std::int64_t page_bytes = how.page_bytes;
  {
    auto size = prepare("PRAGMA page_size");
    if (!size) return size.error();
    if (auto const row = size->step(); row && *row) page_bytes = size->take_integer();
  }
  auto const pages = std::max<std::int64_t>(1, how.checkpoint_bytes / std::max<std::int64_t>(1, page_bytes));
  std::string script = how.synced ? "PRAGMA synchronous = FULL;" : "PRAGMA synchronous = OFF;";
  script += "PRAGMA wal_autocheckpoint = " + std::to_string(pages) + ";";
  script += "PRAGMA journal_size_limit = " + std::to_string(log_bytes_kept) + ";";
  script += "PRAGMA cache_size = -" + std::to_string(cache_kib) + ";";
  script += "PRAGMA cell_size_check = ON;";
  if (how.read_only) script += "PRAGMA query_only = ON;";
  return run(script);
}

result<void> connection::run(std::string_view script) {
  std::string const text{script};
  int const code = sqlite3_exec(handle(), text.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(handle(), code, "running '" + text.substr(0, 60) + "'");
  return {};
}

result<query> connection::use(char const* text) {
  auto& kept = kept_[text];
  if (!kept) {
    sqlite3_stmt* made = nullptr;
    int const code = sqlite3_prepare_v3(handle(), text, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    kept.reset(made);
    if (code != SQLITE_OK) return failure(handle(), code, "preparing a statement");
  }
  return query{kept.get(), false};
}

result<query> connection::prepare(std::string_view text) {
  sqlite3_stmt* made = nullptr;
  char const* rest = nullptr;
  int const code = sqlite3_prepare_v2(handle(), text.data(), byte_count(text), &made, &rest);
  if (code != SQLITE_OK) return failure(handle(), code, "preparing a statement");
  if (made == nullptr) return error{errc::bad_data, "the statement is empty; expected one SQL statement"};
  query one{made, true};
  std::string_view const tail{rest, static_cast<std::size_t>(text.data() + text.size() - rest)};
  if (tail.find_first_not_of(" \t\r\n;") == std::string_view::npos) return one;
  // Comments may follow: only another statement is refused.
  sqlite3_stmt* second = nullptr;
  int const more = sqlite3_prepare_v2(handle(), tail.data(), byte_count(tail), &second, nullptr);
  sqlite3_finalize(second);
  if (more == SQLITE_OK && second == nullptr) return one;
  return error{errc::bad_data, "found more than one statement; expected exactly one, the second begins with '" +
                                   std::string{tail.substr(tail.find_first_not_of(" \t\r\n;"), 40)} + "'"};
}

std::int64_t connection::changes() const noexcept {
  return sqlite3_changes64(handle());
}

result<transaction> transaction::begin_write(connection& on) {
  if (auto begun = on.run("BEGIN IMMEDIATE"); !begun) return begun.error();
  return transaction{on};
}

result<transaction> transaction::begin_read(connection& on) {
  if (auto begun = on.run("BEGIN"); !begun) return begun.error();
  return transaction{on};
}

transaction::transaction(transaction&& other) noexcept : on_(std::exchange(other.on_, nullptr)) {}

transaction::~transaction() {
  roll_back();
}

result<void> transaction::commit() {
  ATONE_ASSERT(on_ != nullptr);
  auto done = on_->run("COMMIT");
  if (done) {
    on_ = nullptr;
    return {};
  }
  // A failed write or sync of the log may have left the whole transaction on the disk.
  bool const nothing_written = sqlite3_errcode(on_->handle()) == SQLITE_BUSY;
  auto why = done.error();
  roll_back();
  if (why.code == errc::unavailable && !nothing_written) why.code = errc::outcome_unknown;
  return why;
}

void transaction::roll_back() noexcept {
  if (on_ == nullptr) return;
  sqlite3* const database = on_->handle();
  on_ = nullptr;
  // After some failures SQLite has rolled back by itself.
  if (sqlite3_get_autocommit(database) == 0) sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace atone::sqlite
