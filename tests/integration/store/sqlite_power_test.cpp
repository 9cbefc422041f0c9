// Power lost under the SQLite store, at every sync and between commits: what was acknowledged is there, nothing is half.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/system_clock.hpp"
#include "sqlite/sqlite_store.hpp"
#include "sqlite_place.hpp"
#include "sqlite_unsynced_vfs.hpp"
#include "store_batches.hpp"

namespace atone::test {
namespace {

using remains = unsynced_disk::remains;

constexpr std::uint32_t batches = 10;
constexpr std::uint32_t sagas_a_batch = 3;

// Batch `number` writes to every table that has to agree.
journal_batch batch_of(std::uint32_t number) {
  auto batch = starting(number * 10, sagas_a_batch);
  for (std::uint32_t saga = number * 10; saga < number * 10 + sagas_a_batch; ++saga) {
    batch.starts[saga - number * 10].row.key = business_key{"key-" + std::to_string(saga)};
    batch.records.push_back(record_of(saga, 2, std::string(3'000, 'p')));
    batch.changes.push_back(change_of(saga, saga_status::compensating, 2));
    batch.compensations.push_back(compensation_of(saga, "order", compensation_status::pending));
  }
  return batch;
}

struct findings {
  int lost = 0;          // acknowledged, and not there
  int half = 0;          // partly there
  bool damaged = false;  // can't be opened, or SQLite itself finds it broken

  bool fine() const { return lost == 0 && half == 0 && !damaged; }
};

class rig {
 public:
  explicit rig(bool synced, std::uint64_t seed = 1) : disk_(seed) {
    how_.path = files_.path();
    how_.vfs = disk_.vfs_name();
    how_.synced = synced;
    how_.checkpoint_bytes = 8 * how_.page_bytes;  // so that checkpoints are among the moments
  }

  unsynced_disk& disk() { return disk_; }

  // Commits until all is done, power is lost, or `last` batches were acknowledged.
  void work(std::uint32_t last = batches) {
    auto const made = open_migrated();
    if (!made) return;
    auto writer = (*made)->open_journal();
    if (!writer || !(*writer)->take_over(node_id{"node-1"})) return;
    for (std::uint32_t number = 1; number <= last; ++number) {
      auto const done = (*writer)->commit(batch_of(number), batch_number{number});
      if (!done) {
        EXPECT_TRUE(done.error().retryable()) << name(done.error().code) << ": " << done.error().message;
        return;
      }
      acknowledged_ = number;
    }
    if (last < batches) disk_.lose_power(remains::nothing);  // before anything is closed in good order
  }

  findings look() {
    disk_.restore_power();
    findings found;
    auto const made = open_migrated();
    found.damaged = !made || !check(**made, found) || !goes_on(**made);
    return found;
  }

 private:
  result<std::unique_ptr<sqlite::sqlite_store>> open_migrated() {
    auto made = sqlite::sqlite_store::open(how_, system_time);
    if (!made) return made;
    if (auto done = (*made)->migrate(); !done) return done.error();
    return made;
  }

  bool check(store& of, findings& found) {
    for (auto const& warning : of.health()) {
      if (warning.find("quick_check") != std::string::npos) return false;
    }
    auto reader = of.open_reader();
    if (!reader) return false;
    for (std::uint32_t number = 1; number <= batches; ++number) {
      int const there = pieces(**reader, number);
      if (there < 0) return false;
      if (there != 0 && there != 4 * static_cast<int>(sagas_a_batch)) ++found.half;
      if (there == 0 && number <= acknowledged_) ++found.lost;
    }
    return true;
  }

  // How much of a batch is there: row, key, events and compensation of each saga.
  static int pieces(journal_reader& from, std::uint32_t number) {
    int there = 0;
    for (std::uint32_t saga = number * 10; saga < number * 10 + sagas_a_batch; ++saga) {
      auto const row = from.find(numbered(saga));
      auto const key = from.find_by_key("order-placed", business_key{"key-" + std::to_string(saga)});
      auto const events = from.history(numbered(saga));
      auto const log = from.compensations(numbered(saga));
      if (!row || !key || !events || !log) return -1;
      there += (row->has_value() && (*row)->status == saga_status::compensating ? 1 : 0) + (key->has_value() ? 1 : 0);
      there += (events->size() == 2 ? 1 : 0) + (log->size() == 1 ? 1 : 0);
    }
    return there;
  }

  static bool goes_on(store& of) {
    auto writer = of.open_journal();
    if (!writer || !(*writer)->take_over(node_id{"node-1"})) return false;
    return (*writer)->commit(starting(5'000), batch_number{1}).has_value();
  }

  sqlite_place files_;
  unsynced_disk disk_;
  sqlite::settings how_;
  std::uint32_t acknowledged_ = 0;
};

std::uint64_t syncs_of_the_whole_work() {
  rig one{true};
  one.work();
  return one.disk().syncs();
}

TEST(sqlite_power, without_a_loss_everything_is_there) {
  rig one{true};
  one.work();
  EXPECT_TRUE(one.look().fine());
  EXPECT_GT(one.disk().syncs(), batches);  // at least one a commit
}

TEST(sqlite_power, lost_at_every_sync_loses_nothing_that_was_acknowledged) {
  auto const syncs = syncs_of_the_whole_work();
  for (std::uint64_t at = 1; at <= syncs; ++at) {
    for (bool const before : {true, false}) {
      rig one{true};
      one.disk().lose_power_at_sync(at, before, remains::nothing);
      one.work();
      ASSERT_FALSE(one.disk().has_power()) << at;
      auto const found = one.look();
      EXPECT_TRUE(found.fine()) << "sync " << at << (before ? " before" : " after") << ": lost " << found.lost << ", half " << found.half
                                << (found.damaged ? ", damaged" : "");
    }
  }
}

TEST(sqlite_power, lost_with_torn_writes_loses_nothing_that_was_acknowledged) {
  auto const syncs = syncs_of_the_whole_work();
  for (std::uint64_t at = 1; at <= syncs; ++at) {
    rig one{true, 1'000 + at};
    one.disk().lose_power_at_sync(at, true, remains::some);
    one.work();
    auto const found = one.look();
    EXPECT_TRUE(found.fine()) << "sync " << at << ": lost " << found.lost << ", half " << found.half << (found.damaged ? ", damaged" : "");
  }
}

TEST(sqlite_power, lost_between_commits_loses_nothing_that_was_acknowledged) {
  for (std::uint32_t last = 1; last < batches; ++last) {
    rig one{true};
    one.work(last);
    auto const found = one.look();
    EXPECT_TRUE(found.fine()) << "after batch " << last << ": lost " << found.lost << ", half " << found.half;
  }
}

// The check must be able to fail: without syncing, the same work loses what it acknowledged.
TEST(sqlite_power, a_store_that_does_not_sync_is_caught) {
  int caught = 0;
  for (std::uint32_t last = 1; last < batches; ++last) {
    rig one{false};
    one.work(last);
    if (!one.look().fine()) ++caught;
  }
  EXPECT_EQ(caught, static_cast<int>(batches) - 1);
}

}  // namespace
}  // namespace atone::test
