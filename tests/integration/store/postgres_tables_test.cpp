// What the tables promise to a database that spreads them over several servers (docs/distributed-postgresql.md).
#include <gmock/gmock.h>

#include <sstream>

#include "postgres_batches.hpp"

namespace atone::test {
namespace {

using testing::IsSupersetOf;

class postgres_tables : public postgres_test {
 protected:
  std::vector<std::string> lines(std::string const& query) {
    std::vector<std::string> found;
    std::istringstream in{ask(query)};
    for (std::string line; std::getline(in, line);) {
      if (!line.empty()) found.push_back(line);
    }
    return found;
  }
};

std::vector<std::string> const small{"definition", "inbox", "layout", "lease", "migration", "writer"};

TEST_F(postgres_tables, grow_by_shard) {
  // Every table but the small ones: the first column of its primary key.
  auto const keys = lines(
      "select c.relname || ' ' || a.attname from pg_index i join pg_class c on c.oid = i.indrelid "
      "join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0] "
      "where c.relnamespace = 'atone'::regnamespace and i.indisprimary");
  std::vector<std::string> wanted;
  for (auto const& line : keys) {
    auto const table = line.substr(0, line.find(' '));
    if (std::find(small.begin(), small.end(), table) == small.end()) wanted.push_back(table + " shard");
  }
  EXPECT_THAT(wanted, IsSupersetOf({"saga shard", "journal shard", "compensation_log shard", "saga_key shard", "alert shard",
                                    "last_output shard", "operator_action shard"}));
  for (auto const& line : wanted) EXPECT_THAT(keys, testing::Contains(line));
  // A table without a primary key would not be in that list.
  EXPECT_THAT(lines("select c.relname from pg_class c where c.relnamespace = 'atone'::regnamespace and c.relkind = 'r' and not exists "
                    "(select from pg_index i where i.indrelid = c.oid and i.indisprimary)"),
              testing::IsEmpty());
}

TEST_F(postgres_tables, have_no_unique_constraint_without_the_shard) {
  auto const without = lines(
      "select c.relname from pg_index i join pg_class c on c.oid = i.indrelid where c.relnamespace = 'atone'::regnamespace and "
      "i.indisunique "
      "and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attnum = any (i.indkey) and a.attname = 'shard')");
  for (auto const& table : without) EXPECT_THAT(small, testing::Contains(table));
}

TEST_F(postgres_tables, have_neither_foreign_keys_nor_triggers) {
  EXPECT_EQ(ask("select count(*) from pg_constraint where connamespace = 'atone'::regnamespace and contype = 'f'"), "0");
  EXPECT_EQ(ask("select count(*) from pg_trigger t join pg_class c on c.oid = t.tgrelid where c.relnamespace = 'atone'::regnamespace"),
            "0");
}

}  // namespace
}  // namespace atone::test
