// What a commit costs besides its log: SQLite must not copy pages into a statement journal before a batch's statements change them.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "common/system_clock.hpp"
#include "sqlite/sqlite_store.hpp"
#include "sqlite_place.hpp"
#include "store_batches.hpp"
#include "store_suite.hpp"

namespace atone::test {
namespace {

// The system's file system, which counts the statement journals it is asked to open.
class counting_files {
 public:
  counting_files() : vfs_(*sqlite3_vfs_find(nullptr)) {
    vfs_.zName = "counting";
    vfs_.xOpen = open;
    opened = 0;
    sqlite3_vfs_register(&vfs_, 0);
  }
  ~counting_files() { sqlite3_vfs_unregister(&vfs_); }
  counting_files(counting_files const&) = delete;
  counting_files& operator=(counting_files const&) = delete;

  char const* name() const { return vfs_.zName; }
  int statement_journals() const { return opened; }

 private:
  static int open(sqlite3_vfs*, char const* path, sqlite3_file* file, int flags, int* flags_out) {
    if ((flags & SQLITE_OPEN_SUBJOURNAL) != 0) ++opened;
    auto* const real = sqlite3_vfs_find(nullptr);
    return real->xOpen(real, path, file, flags, flags_out);
  }

  static inline int opened = 0;
  sqlite3_vfs vfs_;
};

// SQLite keeps a statement journal in memory up to 64 KiB: with pages that large the second one shows.
sqlite::settings with_large_pages(sqlite_place const& in, counting_files const& on) {
  sqlite::settings how;
  how.path = in.path();
  how.vfs = on.name();
  how.page_bytes = 64 * 1024;
  return how;
}

TEST(sqlite_pages, a_batch_copies_none_before_it_changes_them) {
  sqlite_place place;
  counting_files files;
  auto const made = MUST(sqlite::sqlite_store::open(with_large_pages(place, files), system_time));
  EXPECT_FINE(made->migrate());
  auto const writer = MUST(made->open_journal());
  EXPECT_FINE(writer->take_over(node_id{"node-1"}));
  auto const before = files.statement_journals();  // migrating and taking over may have any
  std::uint64_t number = 0;
  auto start = starting(1, 50);
  for (auto& each : start.starts) each.row.key = business_key{"key-" + each.row.id.text()};
  EXPECT_FINE(writer->commit(start, batch_number{++number}));
  for (std::uint32_t seq = 2; seq < 6; ++seq) {
    journal_batch batch;
    for (std::uint32_t saga = 1; saga <= 50; ++saga) {
      batch.records.push_back(record_of(saga, seq, std::string(9'000, 'p')));
      batch.changes.push_back(change_of(saga, seq % 2 == 0 ? saga_status::compensating : saga_status::completed, seq));
      batch.compensations.push_back(compensation_of(saga, "order", compensation_status::pending));
      batch.alerts.push_back(alert_of(saga, "slow", seq));
      batch.outputs.push_back(output_of(saga, "key", "{}"));
    }
    EXPECT_FINE(writer->commit(batch, batch_number{++number}));
  }
  EXPECT_EQ(files.statement_journals() - before, 0);
}

// The count must be able to rise: a statement of several rows that may abort does what the batch must not.
TEST(sqlite_pages, a_statement_that_may_abort_is_caught) {
  sqlite_place place;
  counting_files files;
  auto on = MUST(sqlite::connection::open(with_large_pages(place, files)));
  EXPECT_FINE(
      on.run("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB NOT NULL); CREATE TABLE u (a INTEGER PRIMARY KEY, b BLOB NOT NULL);"
             "INSERT INTO t VALUES (1, x'00'); INSERT INTO u VALUES (1, x'00');"
             "CREATE TRIGGER both AFTER UPDATE ON t BEGIN UPDATE u SET b = NEW.b; END"));
  EXPECT_FINE(on.run("BEGIN; UPDATE t SET b = x'01'; COMMIT"));
  EXPECT_GT(files.statement_journals(), 0);
}

}  // namespace
}  // namespace atone::test
