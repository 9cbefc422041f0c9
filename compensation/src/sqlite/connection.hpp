// One SQLite connection with its kept statements. Nothing here throws; failures are results in the words of the port.
// Thread rules: a connection, its queries and transactions belong to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <atone/result.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace atone::sqlite {

// How a file is opened. The defaults are the product's; tests put a file system of their own underneath.
struct settings {
  std::string path;
  std::string vfs;                                   // empty: the system's
  std::int64_t page_bytes = 16 * 1024;               // of a new file; measured best for the journal
  std::int64_t checkpoint_bytes = 80 * 1024 * 1024;  // log size after which the writer copies it back
  std::int64_t wait_ms = 5'000;                      // for another connection's transaction
  bool synced = true;                                // false only in tests that must see a loss
  bool read_only = false;

  settings() = default;
};

// A statement in use: parameters in order, then rows, columns in order. When it goes, the statement is free again.
class query {
 public:
  query(query&& other) noexcept;
  query& operator=(query&&) = delete;
  ~query();

  // Parameters from the first on. Text and bytes are not copied: they must outlive the query.
  query& add(std::int64_t value);
  query& add_real(double value);
  query& add_text(std::string_view text);
  query& add_bytes(std::string_view bytes);
  query& add_null();
  // Parameters by place, from 1.
  query& at(int place);

  // True: a row can be read. False: done.
  result<bool> step();
  // Runs to the end, rows are dropped.
  result<void> run();
  // Ready to run again with new parameters.
  void again();

  // Columns of the row from the first on.
  std::int64_t take_integer();
  std::optional<std::int64_t> take_optional();
  std::string take_text();  // also bytes
  std::string_view peek_text();
  bool next_is_null() const;

  sqlite3_stmt* handle() const noexcept { return statement_; }

 private:
  friend class connection;
  query(sqlite3_stmt* statement, bool owned) : statement_(statement), owned_(owned) {}
  void note(int code);

  sqlite3_stmt* statement_;
  bool owned_;
  int parameter_ = 0;
  int column_ = 0;
  int bind_failure_ = 0;
};

class connection {
 public:
  // Opens (and makes) the file; sets journal mode, syncing and limits. The error names the path.
  static result<connection> open(settings const& how);

  // Statements without parameters.
  result<void> run(std::string_view script);
  // A kept statement, prepared at first use. `text` must be a constant: its address is the name it is kept under.
  result<query> use(char const* text);
  // A statement for one use. Refused when `text` holds more than one.
  result<query> prepare(std::string_view text);

  std::int64_t changes() const noexcept;
  sqlite3* handle() const noexcept { return database_.get(); }

 private:
  struct closer {
    void operator()(sqlite3* database) const noexcept;
  };
  struct finalizer {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  connection() = default;
  result<void> configure(settings const& how);

  std::unique_ptr<sqlite3, closer> database_;
  std::unordered_map<char const*, std::unique_ptr<sqlite3_stmt, finalizer>> kept_;  // finalized before the database closes
};

// A transaction that is rolled back unless it was committed.
class transaction {
 public:
  // `write`: takes the write lock at once, so that no later statement can lose against another writer.
  static result<transaction> begin_write(connection& on);
  static result<transaction> begin_read(connection& on);
  transaction(transaction&& other) noexcept;
  transaction& operator=(transaction&&) = delete;
  ~transaction();

  // A failure here is outcome_unknown unless SQLite says that nothing was written.
  result<void> commit();
  void roll_back() noexcept;

 private:
  explicit transaction(connection& on) : on_(&on) {}
  connection* on_;
};

}  // namespace atone::sqlite
