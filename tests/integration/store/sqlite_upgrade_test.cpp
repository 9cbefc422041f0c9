// A file that an earlier build has made goes on: nothing in it is lost, and what it counted is counted on from there.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sqlite/embedded_sql.hpp"
#include "sqlite_place.hpp"
#include "store_batches.hpp"
#include "store_suite.hpp"

namespace atone::test {
namespace {

using counts = std::map<saga_status, std::uint64_t>;

class sqlite_upgrade_test : public testing::Test {
 protected:
  // The file as a build that knew only the first migrations has made it.
  void make_file_at(std::uint32_t newest) {
    place_.execute("PRAGMA journal_mode = WAL; CREATE TABLE atone_migration (number INTEGER PRIMARY KEY, name TEXT, applied_at INTEGER)");
    for (auto const& each : sqlite::migrations()) {
      if (each.number > newest) continue;
      place_.execute(std::string{each.script});
      place_.execute("INSERT INTO atone_migration VALUES (" + std::to_string(each.number) + ", '" + std::string{each.name} + "', 0)");
    }
  }

  // As the statements of that build wrote it.
  void write_saga(std::uint32_t number, saga_status end) {
    auto const id = "'" + numbered(number).text() + "'";
    place_.execute("INSERT INTO atone_saga VALUES (0, " + id + ", 'order-placed', 3, zeroblob(32), '', 1, 7, 7, NULL, '', '', 0, 1)");
    place_.execute("INSERT INTO atone_journal VALUES (0, " + id + ", 1, 1, 1, 0, 7, -1, '', 1, 1, 1, 1, 0, 0, x'7b7d', '', '')");
    place_.execute("UPDATE atone_saga SET status = " + std::to_string(static_cast<int>(end)) + " WHERE saga_id = " + id);
  }

  void open() {
    store_ = MUST(place_.open());
    EXPECT_FINE(store_->migrate());
    writer_ = MUST(store_->open_journal());
    reader_ = MUST(store_->open_reader());
    EXPECT_FINE(writer_->take_over(node_id{"node-1"}));
  }

  void change(std::uint32_t number, saga_status to) {
    journal_batch batch;
    batch.changes.push_back(change_of(number, to, 1));
    EXPECT_FINE(writer_->commit(batch, batch_number{++last_}));
  }

  sqlite_place place_;
  std::unique_ptr<store> store_;
  std::unique_ptr<journal> writer_;
  std::unique_ptr<journal_reader> reader_;
  std::uint64_t last_ = 0;
};

TEST_F(sqlite_upgrade_test, a_file_of_the_first_migration_must_be_migrated_and_keeps_all_it_holds) {
  make_file_at(1);
  write_saga(1, saga_status::running);
  write_saga(2, saga_status::completed);
  write_saga(3, saga_status::compensated);
  auto const opened = MUST(place_.open());
  EXPECT_REFUSED(errc::conflict, opened->open_journal());
  EXPECT_FINE(opened->migrate());
  auto const status = MUST(opened->status());
  EXPECT_EQ(status.found, status.expected);
  auto const reader = MUST(opened->open_reader());
  EXPECT_EQ(MUST(reader->counts()), (counts{{saga_status::running, 1}, {saga_status::completed, 1}, {saga_status::compensated, 1}}));
  for (std::uint32_t number = 1; number <= 3; ++number) {
    auto const events = MUST(reader->history(numbered(number)));
    ASSERT_EQ(events.size(), 1u) << number;
    EXPECT_EQ(events.front().payload, "{}");
  }
  auto const writer = MUST(opened->open_journal());
  EXPECT_FINE(writer->take_over(node_id{"node-1"}));
  std::vector<saga_id> found;
  EXPECT_FINE(writer->load_open(writer->every_shard(), [&](open_saga&& each) { found.push_back(each.row.id); }));
  EXPECT_EQ(found, std::vector<saga_id>{numbered(1)});
}

TEST_F(sqlite_upgrade_test, after_it_each_end_is_counted_once) {
  make_file_at(1);
  for (std::uint32_t number = 1; number <= 4; ++number) write_saga(number, number <= 2 ? saga_status::completed : saga_status::running);
  open();
  change(3, saga_status::completed);
  EXPECT_EQ(MUST(reader_->counts()), (counts{{saga_status::running, 1}, {saga_status::completed, 3}}));
  change(3, saga_status::completed);  // again
  EXPECT_EQ(MUST(reader_->counts()), (counts{{saga_status::running, 1}, {saga_status::completed, 3}}));
  change(2, saga_status::compensated);  // from one end to the other
  EXPECT_EQ(MUST(reader_->counts()), (counts{{saga_status::running, 1}, {saga_status::completed, 2}, {saga_status::compensated, 1}}));
  change(2, saga_status::running);  // open again
  EXPECT_EQ(MUST(reader_->counts()), (counts{{saga_status::running, 2}, {saga_status::completed, 2}}));
}

TEST_F(sqlite_upgrade_test, a_saga_that_a_person_deletes_is_counted_no_more) {
  open();
  auto batch = starting(1, 2);
  batch.changes.push_back(change_of(1, saga_status::completed, 1));
  batch.changes.push_back(change_of(2, saga_status::completed, 1));
  EXPECT_FINE(writer_->commit(batch, batch_number{++last_}));
  place_.execute("DELETE FROM atone_saga WHERE saga_id = '" + numbered(1).text() + "'");
  EXPECT_EQ(MUST(reader_->counts()), (counts{{saga_status::completed, 1}}));
}

TEST_F(sqlite_upgrade_test, what_the_version_before_has_finished_can_be_deleted_and_is_counted_no_more) {
  make_file_at(2);
  write_saga(1, saga_status::completed);
  write_saga(2, saga_status::completed);
  place_.execute("UPDATE atone_saga SET ended_at = 9 WHERE saga_id = '" + numbered(1).text() +
                 "'; UPDATE atone_saga_ended SET sagas = 2 WHERE status = 5");
  open();
  auto& deleter = *writer_->own_retention();
  auto const found = MUST(deleter.look({shard{0}}, saga_id{}, std::chrono::hours{1}, 10));
  EXPECT_EQ(MUST(deleter.remove(found.sagas, std::chrono::hours{1})), 1u);
  EXPECT_EQ(MUST(reader_->counts()), (counts{{saga_status::completed, 1}}));
  EXPECT_TRUE(MUST(reader_->history(numbered(1))).empty());
  EXPECT_EQ(MUST(reader_->history(numbered(2))).size(), 1u);  // it has no end that one could go by
  EXPECT_EQ(MUST(reader_->deletions()).sagas, 1u);
}

TEST_F(sqlite_upgrade_test, a_batch_that_is_refused_counts_nothing) {
  open();
  auto batch = starting(1);
  batch.changes.push_back(change_of(1, saga_status::completed, 1));
  batch.changes.push_back(change_of(9, saga_status::completed, 1));  // never started
  EXPECT_REFUSED(errc::bad_data, writer_->commit(batch, batch_number{1}));
  EXPECT_TRUE(MUST(reader_->counts()).empty());
}

TEST_F(sqlite_upgrade_test, a_count_whose_row_was_deleted_by_hand_is_corrupt_by_name) {
  open();
  EXPECT_FINE(writer_->commit(starting(1), batch_number{++last_}));
  place_.execute("DELETE FROM atone_saga_ended");
  journal_batch batch;
  batch.changes.push_back(change_of(1, saga_status::completed, 1));
  EXPECT_REFUSED(errc::corrupt, writer_->commit(batch, batch_number{++last_}));
}

}  // namespace
}  // namespace atone::test
