// Finished sagas are deleted under load, by several daemons at once, one of which is killed: what is under way is never touched, and no
// saga is ever gone in part.
#include "cluster.hpp"

namespace atone::test {
namespace {

class cluster_retention : public cluster_test {
 protected:
  std::vector<std::string> const kept_a_second{"ATONE_RETENTION=1s", "ATONE_KEY_RETENTION=1h"};

  // As start_all(), with daemons that delete.
  void begin_deleting(std::set<std::string> const& nodes) {
    for (auto const& one : nodes) start(one, kept_a_second);
    look().ask("create table if not exists public.effect (saga text, change integer)");
    publish(definition_of("order", participant.url()));
    publish(definition_of("booked", participant.url()));
    publish(definition_of("placed", participant.url(), "shard_key: =input.n\n"));
    ASSERT_TRUE(balances(patience));
    begin_load();
  }

  long deleted() { return look().number("select coalesce(sum(sagas), 0) from atone.deletion"); }
  // Deleted from shards that this node holds.
  long deleted_by(std::string const& node) {
    return look().number(
        "select coalesce(sum(d.sagas), 0) from atone.deletion d join atone.lease l using (shard) join atone.writer w on w.id = "
        "l.writer where w.node = '" +
        node + "'");
  }
  // Rows of a saga whose own row is not there, and keys without either.
  long left_over() {
    return look().number(
        "select (select count(*) from atone.journal j where not exists (select from atone.saga g where g.shard = j.shard and g.saga_id = "
        "j.saga_id)) + (select count(*) from atone.compensation_log c where not exists (select from atone.saga g where g.shard = c.shard "
        "and "
        "g.saga_id = c.saga_id)) + (select count(*) from atone.alert a where a.saga_id <> '00000000-0000-0000-0000-000000000000' and not "
        "exists (select from atone.saga g where g.saga_id = a.saga_id)) + (select count(*) from atone.operator_action o where not exists "
        "(select from atone.saga g where g.saga_id = o.saga_id)) + (select count(*) from atone.saga_key k where not exists (select from "
        "atone.saga g where g.saga_id = k.saga_id) and not exists (select from atone.kept_key e where e.saga_id = k.saga_id))");
  }
  long without_history() {
    return look().number(
        "select count(*) from atone.saga g where not exists (select from atone.journal j where j.shard = g.shard and j.saga_id = g.saga_id "
        "and j.seq = 1)");
  }

  // Every effect as it must be, whatever has become of the saga's rows.
  void all_effects_stand() {
    auto booked = look().booked_effects();
    for (auto const& [number, id] : starts.acknowledged()) {
      bool const refused = number % 5 == 0;
      bool const is_booked = number % 3 == 2;
      for (std::string const step : {"s1", "s2", "s3", "s4", "s5"}) {
        if (is_booked && step == "s2") continue;
        EXPECT_EQ(participant.net(id, step), refused ? 0 : 1) << number << ' ' << id << '/' << step;
      }
      EXPECT_EQ(booked[id], !is_booked ? "" : refused ? "1,-1" : "1") << id;
    }
    EXPECT_THAT(starts.faults(), testing::IsEmpty());
    EXPECT_THAT(participant.faults(), testing::IsEmpty());
  }
};

TEST_F(cluster_retention, a_daemon_that_is_killed_while_it_deletes_leaves_no_saga_in_part_and_none_that_is_under_way_is_touched) {
  ASSERT_NO_FATAL_FAILURE(begin_deleting({"a", "b", "c"}));
  ASSERT_TRUE(comes_true([this] { return deleted_by("a") > 0 && deleted_by("b") > 0 && deleted_by("c") > 0; }, patience));
  EXPECT_EQ(left_over(), 0);
  EXPECT_EQ(without_history(), 0);
  kill("b");
  starts.doors(urls());
  EXPECT_EQ(left_over(), 0);
  EXPECT_EQ(without_history(), 0);
  ASSERT_TRUE(balances(patience));
  auto const before = deleted();
  ASSERT_TRUE(comes_true([&] { return deleted() > before + 100; }, patience)) << "what b drove is deleted by the others";
  start("b", kept_a_second);
  starts.doors(urls());
  ASSERT_TRUE(balances(patience));
  EXPECT_TRUE(starts.end(patience)) << "starts are not acknowledged";
  ASSERT_TRUE(comes_true([this] { return look().number("select count(*) from atone.saga") == 0; }, patience))
      << look().open_sagas() << " sagas do not end";
  EXPECT_EQ(left_over(), 0);
  EXPECT_EQ(look().number("select count(*) from atone.journal"), 0);
  auto const acknowledged = starts.acknowledged();
  EXPECT_EQ(deleted(), static_cast<long>(acknowledged.size()));
  EXPECT_EQ(look().number("select count(*) from atone.saga_key"), static_cast<long>(acknowledged.size()));
  all_effects_stand();
  // A key of one that is gone finds it, at any node.
  auto const& [number, id] = *acknowledged.rbegin();
  auto const key = look().word("select business_key from atone.saga_key where saga_id = atone.id_of('" + id + "')");
  EXPECT_EQ(key, "start-" + std::to_string(number));
}

}  // namespace
}  // namespace atone::test
