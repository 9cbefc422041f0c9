// Addresses: which store a word names, and that no password is ever shown.
#include "common/address.hpp"

#include <gtest/gtest.h>

#include <atone/journal.hpp>

namespace atone::test {
namespace {

TEST(address, names_a_kind_of_store) {
  EXPECT_EQ(*kind_of_address("memory:"), address_kind::memory);
  EXPECT_EQ(*kind_of_address("sqlite:a b.db"), address_kind::sqlite);
  EXPECT_EQ(*kind_of_address("postgresql://u@h/d"), address_kind::postgresql);
  EXPECT_EQ(*kind_of_address("postgres://h/d"), address_kind::postgresql);
}

TEST(address, that_is_none_is_refused_with_the_forms_that_are) {
  for (std::string const text : {"", "sqlite", "sqlite:", "mysql://h/d", "/var/lib/sagas.db", "memory", "memory:x"}) {
    auto const kind = kind_of_address(text);
    ASSERT_FALSE(kind) << text;
    EXPECT_EQ(kind.error().code, errc::invalid_argument);
    EXPECT_NE(kind.error().message.find("expected"), std::string::npos) << kind.error().message;
    EXPECT_FALSE(open_store(text));
  }
}

TEST(address, shows_no_password) {
  EXPECT_EQ(address_without_password("postgresql://anna:secret@db:5432/sagas?sslmode=require"),
            "postgresql://anna:***@db:5432/sagas?sslmode=require");
  EXPECT_EQ(address_without_password("postgresql://anna:se@cret@db/sagas"), "postgresql://anna:***@db/sagas");
  EXPECT_EQ(address_without_password("postgresql://db/sagas?user=anna&password=secret&x=1"),
            "postgresql://db/sagas?user=anna&password=***&x=1");
  EXPECT_EQ(address_without_password("postgresql://anna@db:5432/sagas"), "postgresql://anna@db:5432/sagas");
  EXPECT_EQ(address_without_password("sqlite:/a:b@c.db"), "sqlite:/a:b@c.db");
  EXPECT_EQ(kind_of_address("pgsql://anna:secret@db/x").error().message.find("secret"), std::string::npos);
}

TEST(address, of_memory_opens_a_store_of_its_own_each_time) {
  auto const first = open_store("memory:");
  auto const second = open_store("memory:");
  ASSERT_TRUE(first && second);
  auto writer = (*first)->open_journal();
  ASSERT_TRUE((*writer)->take_over(node_id{"node-1"}));
  definition_row row;
  row.ref.name = "x";
  ASSERT_TRUE((*writer)->publish(row));
  EXPECT_EQ((*(*first)->open_reader())->definitions()->size(), 1u);
  EXPECT_TRUE((*(*second)->open_reader())->definitions()->empty());
}

TEST(memory_store, takes_its_time_from_the_caller) {
  timestamp now{duration{42}};
  auto const of = make_memory_store([&] { return now; });
  auto const writer = std::move(*of->open_journal());
  ASSERT_TRUE(writer->take_over(node_id{"node-1"}));
  EXPECT_EQ(*writer->now(), timestamp{duration{42}});
  now += duration{8};
  EXPECT_EQ(writer->commit(journal_batch{}, batch_number{1})->database_time, timestamp{duration{50}});
}

}  // namespace
}  // namespace atone::test
