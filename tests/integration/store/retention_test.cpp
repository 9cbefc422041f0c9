// What goes when it is old, and what stays: on every store the same.
#include <gmock/gmock.h>

#include <algorithm>

#include "store_suite.hpp"

namespace atone::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr duration age = std::chrono::hours{1};  // what the suite's sagas are all older than
shard const home{0};

class retention_suite : public store_suite {
 protected:
  void SetUp() override {
    store_suite::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    find_deleter();
  }

  // The journal's own, or one beside it.
  void find_deleter() {
    deleter_ = writer_->own_retention();
    if (deleter_ != nullptr) return;
    hold_every_shard();
    beside_ = MUST(store_->open_retention(owner_));
    ASSERT_NE(beside_, nullptr);
    deleter_ = beside_.get();
  }

  // Where shards have leases, deleting takes one.
  void hold_every_shard() {
    owner_ = MUST(writer_->take_over(node_id{"node-1"}));
    next_ = 1;
    auto const member_of = MUST(store_->open_membership(owner_));
    ASSERT_NE(member_of, nullptr);
    EXPECT_FINE(member_of->claim(writer_->shards()));
  }

  void end(std::uint32_t number, saga_status as, std::optional<timestamp> when = std::nullopt) {
    journal_batch batch;
    batch.changes.push_back(change_of(number, as, 1));
    auto& row = batch.changes.back().row;
    row.ended_at = is_final(as) ? std::optional{when.value_or(at(number) + std::chrono::minutes{1})} : std::nullopt;
    EXPECT_FINE(commit(batch));
  }

  // With a row in every table.
  void run_through(std::uint32_t number, std::string key, saga_status as = saga_status::completed) {
    auto batch = key.empty() ? starting(number) : starting_with_key(number, std::move(key));
    batch.records.push_back(record_of(number, 2));
    batch.compensations.push_back(compensation_of(number, "order", compensation_status::success));
    batch.alerts.push_back(alert_of(number, "slow"));
    batch.actions.push_back(action_of(number, "pause"));
    batch.outputs.push_back(output_of(number, "user-" + std::to_string(number), "1"));
    EXPECT_FINE(commit(batch));
    end(number, as);
  }

  // One pass over the shard.
  std::uint64_t delete_old(duration older_than = age) {
    std::uint64_t gone = 0;
    saga_id after;
    for (;;) {
      auto const stretch = MUST(deleter_->look(writer_->every_shard(), after, older_than, retention::batch_max));
      gone += MUST(deleter_->remove(stretch.sagas, older_than));
      if (!stretch.more) return gone;
      after = stretch.last;
    }
  }

  std::vector<saga_id> ids(std::vector<finished_saga> const& of) {
    std::vector<saga_id> made;
    for (auto const& one : of) made.push_back(one.id);
    return made;
  }

  bool is_there(std::uint32_t number) { return MUST(reader_->find(numbered(number))).has_value(); }

  // Nothing of it anywhere.
  void expect_wholly_gone(std::uint32_t number) {
    auto const id = numbered(number);
    EXPECT_FALSE(is_there(number));
    EXPECT_THAT(MUST(reader_->history(id)), IsEmpty());
    EXPECT_THAT(MUST(reader_->compensations(id)), IsEmpty());
    EXPECT_THAT(MUST(reader_->actions(id)), IsEmpty());
    for (auto const& alert : MUST(reader_->alerts(100))) EXPECT_NE(alert.saga, id);
  }

  void expect_wholly_there(std::uint32_t number) {
    auto const id = numbered(number);
    EXPECT_TRUE(is_there(number));
    EXPECT_THAT(MUST(reader_->history(id)), SizeIs(2));
    EXPECT_THAT(MUST(reader_->compensations(id)), SizeIs(1));
    EXPECT_THAT(MUST(reader_->actions(id)), SizeIs(1));
    auto const alerts = MUST(reader_->alerts(100));
    EXPECT_TRUE(std::any_of(alerts.begin(), alerts.end(), [&](alert_row const& one) { return one.saga == id; }));
  }

  epoch owner_;
  std::unique_ptr<retention> beside_;
  retention* deleter_ = nullptr;
};

TEST_P(retention_suite, a_finished_saga_goes_with_all_that_is_stored_under_it) {
  run_through(1, "", saga_status::completed);
  run_through(2, "", saga_status::compensated);
  run_through(3, "", saga_status::completed);
  end(3, saga_status::parked);
  EXPECT_EQ(delete_old(), 2u);
  expect_wholly_gone(1);
  expect_wholly_gone(2);
  expect_wholly_there(3);
  EXPECT_EQ(delete_old(), 0u);
  auto const counted = MUST(reader_->counts());
  EXPECT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted.at(saga_status::parked), 1u);
}

TEST_P(retention_suite, what_is_not_finished_stays_however_old_it_is) {
  std::uint32_t number = 0;
  for (auto const status :
       {saga_status::running, saga_status::compensating, saga_status::waiting, saga_status::paused, saga_status::parked}) {
    ++number;
    run_through(number, "key-" + std::to_string(number), status);
  }
  auto const stretch = MUST(deleter_->look(writer_->every_shard(), saga_id{}, age, retention::batch_max));
  EXPECT_THAT(stretch.sagas, IsEmpty());
  EXPECT_TRUE(stretch.kept);
  // Not even when it is named.
  std::vector<finished_saga> named;
  for (std::uint32_t each = 1; each <= number; ++each) {
    finished_saga one;
    one.id = numbered(each);
    one.definition = "order-placed";
    one.key = business_key{"key-" + std::to_string(each)};
    named.push_back(one);
  }
  EXPECT_EQ(MUST(deleter_->remove(named, age)), 0u);
  for (std::uint32_t each = 1; each <= number; ++each) expect_wholly_there(each);
  EXPECT_THAT(load_open(*writer_), SizeIs(number));
}

TEST_P(retention_suite, age_counts_from_the_end_by_the_stores_clock) {
  auto const now = MUST(writer_->now());
  EXPECT_FINE(commit(starting(1, 3)));
  end(1, saga_status::completed, now - age - std::chrono::seconds{10});
  end(2, saga_status::completed, now - age + std::chrono::minutes{10});
  end(3, saga_status::compensated, now);  // began long ago, ended now
  auto const stretch = MUST(deleter_->look(writer_->every_shard(), saga_id{}, age, retention::batch_max));
  EXPECT_THAT(ids(stretch.sagas), ElementsAre(numbered(1)));
  EXPECT_TRUE(stretch.kept);
  EXPECT_EQ(stretch.sagas.front().ended_at, now - age - std::chrono::seconds{10});
  EXPECT_LT(stretch.now - now, std::chrono::minutes{5});
  EXPECT_GE(stretch.now, now);
  EXPECT_EQ(delete_old(), 1u);
  EXPECT_FALSE(is_there(1));
  EXPECT_TRUE(is_there(2));
  EXPECT_TRUE(is_there(3));
}

TEST_P(retention_suite, a_look_goes_on_behind_the_last_one_and_says_when_nothing_older_is_left) {
  EXPECT_FINE(commit(starting(1, 7)));
  for (std::uint32_t number = 1; number <= 7; ++number) {
    if (number != 3) end(number, saga_status::completed);
  }
  auto const first = MUST(deleter_->look(writer_->every_shard(), saga_id{}, age, 2));
  EXPECT_THAT(ids(first.sagas), ElementsAre(numbered(1), numbered(2)));
  EXPECT_TRUE(first.more);
  EXPECT_FALSE(first.kept);
  auto const second = MUST(deleter_->look(writer_->every_shard(), first.last, age, 2));
  EXPECT_THAT(ids(second.sagas), ElementsAre(numbered(4), numbered(5)));
  EXPECT_TRUE(second.more);
  EXPECT_TRUE(second.kept);  // 3 is open
  auto const last = MUST(deleter_->look(writer_->every_shard(), second.last, age, 3));
  EXPECT_THAT(ids(last.sagas), ElementsAre(numbered(6), numbered(7)));
  EXPECT_FALSE(last.more);
  EXPECT_EQ(last.last, numbered(7));
}

TEST_P(retention_suite, a_repeat_finds_nothing_left_to_do) {
  run_through(1, "once");
  auto const stretch = MUST(deleter_->look(writer_->every_shard(), saga_id{}, age, retention::batch_max));
  ASSERT_THAT(stretch.sagas, SizeIs(1));
  EXPECT_EQ(MUST(deleter_->remove(stretch.sagas, age)), 1u);
  EXPECT_EQ(MUST(deleter_->remove(stretch.sagas, age)), 0u);
  EXPECT_EQ(MUST(reader_->deletions()).sagas, 1u);
}

TEST_P(retention_suite, the_key_of_a_deleted_saga_still_finds_its_id) {
  run_through(1, "order-1");
  EXPECT_EQ(delete_old(), 1u);
  EXPECT_FALSE(MUST(reader_->find_by_key("order-placed", business_key{"order-1"})));
  auto const claim = MUST(reader_->claim_of("order-placed", business_key{"order-1"}));
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->holder, numbered(1));
  EXPECT_EQ(claim->body, content_hash::of("body"));
  auto const report = MUST(commit(starting_with_key(2, "order-1")));
  ASSERT_THAT(report.losers, SizeIs(1));
  EXPECT_EQ(report.losers.front().existing, numbered(1));
  EXPECT_EQ(report.losers.front().body, content_hash::of("body"));
  EXPECT_FALSE(is_there(2));
}

TEST_P(retention_suite, a_key_goes_in_its_own_time_and_can_be_used_again_then) {
  run_through(1, "order-1");
  run_through(2, "order-2", saga_status::running);
  EXPECT_EQ(delete_old(), 1u);
  duration const longer = std::chrono::hours{24 * 3650};
  EXPECT_EQ(MUST(deleter_->expire_keys(home, saga_id{}, longer, retention::batch_max)).deleted, 0u);
  EXPECT_TRUE(MUST(reader_->claim_of("order-placed", business_key{"order-1"})));
  auto const expired = MUST(deleter_->expire_keys(home, saga_id{}, age, retention::batch_max));
  EXPECT_EQ(expired.deleted, 1u);
  EXPECT_FALSE(expired.more);
  EXPECT_FALSE(MUST(reader_->claim_of("order-placed", business_key{"order-1"})));
  EXPECT_TRUE(MUST(reader_->claim_of("order-placed", business_key{"order-2"})));  // its saga is there
  EXPECT_EQ(MUST(deleter_->expire_keys(home, saga_id{}, age, retention::batch_max)).deleted, 0u);
  EXPECT_THAT(MUST(commit(starting_with_key(3, "order-1"))).losers, IsEmpty());
  EXPECT_EQ(MUST(reader_->find_by_key("order-placed", business_key{"order-1"}))->id, numbered(3));
}

TEST_P(retention_suite, keys_go_a_few_at_a_time_and_young_ends_keep_theirs) {
  auto const now = MUST(writer_->now());
  for (std::uint32_t number = 1; number <= 5; ++number) run_through(number, "key-" + std::to_string(number));
  end(2, saga_status::completed, now - std::chrono::minutes{90});
  EXPECT_EQ(delete_old(), 5u);
  auto const two_hours = std::chrono::hours{2};
  auto const first = MUST(deleter_->expire_keys(home, saga_id{}, two_hours, 2));
  EXPECT_EQ(first.deleted, 2u);
  EXPECT_TRUE(first.more);
  EXPECT_TRUE(first.kept);
  auto const rest = MUST(deleter_->expire_keys(home, first.last, two_hours, 2));
  EXPECT_EQ(rest.deleted, 2u);
  EXPECT_FALSE(rest.more);
  EXPECT_FALSE(rest.kept);
  EXPECT_TRUE(MUST(reader_->claim_of("order-placed", business_key{"key-2"})));
}

TEST_P(retention_suite, definitions_and_last_good_outputs_stay) {
  EXPECT_FINE(writer_->publish(definition_of("order-placed", 3, "text")));
  run_through(1, "");
  EXPECT_EQ(delete_old(), 1u);
  EXPECT_THAT(MUST(reader_->definitions()), SizeIs(1));
  auto const output = MUST(reader_->last_output(output_of(1, "user-1", "1").saga_name, output_of(1, "user-1", "1").step, "user-1"));
  ASSERT_TRUE(output);
  EXPECT_EQ(output->written_by, numbered(1));
}

TEST_P(retention_suite, the_store_remembers_how_many_went_and_the_youngest_of_them) {
  auto const none = MUST(reader_->deletions());
  EXPECT_EQ(none.sagas, 0u);
  EXPECT_FALSE(none.newest);
  for (std::uint32_t number = 1; number <= 3; ++number) run_through(number, "", number == 2 ? saga_status::parked : saga_status::completed);
  EXPECT_EQ(delete_old(), 2u);
  end(2, saga_status::compensated);  // later, but it began before
  EXPECT_EQ(delete_old(), 1u);
  auto const three = MUST(reader_->deletions());
  EXPECT_EQ(three.sagas, 3u);
  EXPECT_EQ(three.newest, numbered(3));
  EXPECT_NE(no_such_saga(*reader_, numbered(1)).message.find("deleted"), std::string::npos);
  EXPECT_EQ(no_such_saga(*reader_, numbered(1)).code, errc::not_found);
  EXPECT_EQ(no_such_saga(*reader_, numbered(4)).message.find("deleted"), std::string::npos);
}

TEST_P(retention_suite, whoever_was_fenced_deletes_nothing) {
  run_through(1, "key");
  auto const stretch = MUST(deleter_->look(writer_->every_shard(), saga_id{}, age, retention::batch_max));
  auto const later = MUST(store_->open_journal());
  EXPECT_FINE(later->take_over(node_id{"node-1"}));
  EXPECT_REFUSED(errc::fenced, deleter_->remove(stretch.sagas, age));
  EXPECT_REFUSED(errc::fenced, deleter_->expire_keys(home, saga_id{}, age, retention::batch_max));
  expect_wholly_there(1);
}

TEST_P(retention_suite, more_sagas_than_one_look_reads_all_go) {
  std::uint32_t const count = retention::look_max + 2 * retention::batch_max + 7;
  for (std::uint32_t first = 1; first <= count; first += 500) {
    auto const here = std::min(500u, count + 1 - first);
    auto batch = starting(first, here);
    for (std::uint32_t number = first; number < first + here; ++number) {
      batch.changes.push_back(change_of(number, saga_status::completed, 1));
      batch.changes.back().row.ended_at = at(number);
    }
    EXPECT_FINE(commit(batch));
  }
  end(count, saga_status::parked);
  EXPECT_EQ(delete_old(), count - 1);
  EXPECT_TRUE(is_there(count));
}

INSTANTIATE_TEST_SUITE_P(stores, retention_suite, testing::ValuesIn(store_factories()),
                         [](testing::TestParamInfo<store_factory> const& of) { return of.param.name; });

}  // namespace
}  // namespace atone::test
