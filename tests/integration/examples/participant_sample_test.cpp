// The page for people who write a participant: its samples are files that are compiled and run, and the page shows just these.
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "participants/order_service.hpp"
#include "services_support.hpp"

namespace examples_test {
namespace {

using testing::HasSubstr;

std::string text_of(std::string const& name) {
  std::ifstream file{std::string{ATONE_SOURCE_DIR} + "/" + name};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// What stands between the two marks.
std::string marked_part(std::string const& text, std::string const& mark) {
  auto const from = text.find(mark) + mark.size();
  return text.substr(from, text.find(mark, from) - from);
}

TEST(participants_page, shows_the_samples_that_are_tested) {
  auto const page = text_of("docs/participants.md");
  EXPECT_THAT(page, HasSubstr(marked_part(text_of("examples/participants/order_service.cpp"), "// [participant]\n")));
  EXPECT_THAT(page, HasSubstr(marked_part(text_of("examples/participants/order_service_postgresql.py"), "# [participant]\n")));
}

class order_sample : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = atone::participant::open_database("sqlite:" + folder.file("orders.db"));
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    database = std::move(*opened);
    ASSERT_TRUE(database->install_barrier().has_value());
    auto made = database->transact([](auto& sql) { return sql.script("create table orders (order_id text primary key)"); });
    ASSERT_TRUE(made.has_value());
  }

  static atone::participant::call call_of(std::string saga_text, atone::operation op) {
    atone::participant::call made;
    made.saga = std::move(saga_text);
    made.step = "order";
    made.op = op;
    return made;
  }
  atone::participant::answer create(std::string saga_text, std::string order) {
    return *sample::create_order(*database, call_of(std::move(saga_text), atone::operation::act), std::move(order));
  }
  atone::participant::answer cancel(std::string saga_text, std::string order) {
    return *sample::cancel_order(*database, call_of(std::move(saga_text), atone::operation::compensate), std::move(order));
  }
  std::size_t orders() {
    std::size_t count = 0;
    auto const read = database->transact([&](auto& sql) -> atone::result<void> {
      auto const rows = sql.execute("select order_id from orders", {});
      if (!rows) return rows.error();
      count = rows->size();
      return {};
    });
    EXPECT_TRUE(read.has_value());
    return count;
  }

  temporary_folder folder;
  std::unique_ptr<atone::participant::participant_database> database;
};

TEST_F(order_sample, duplicates_get_the_stored_answer) {
  EXPECT_EQ(create("s1", "a").body, R"({"order_id":"a"})");
  EXPECT_EQ(create("s1", "a").body, R"({"order_id":"a"})");
  EXPECT_EQ(orders(), 1U);
}

TEST_F(order_sample, a_refusal_is_kept) {
  create("s1", "a");
  EXPECT_EQ(create("s2", "a").status, 409);
  cancel("s1", "a");
  EXPECT_EQ(create("s2", "a").status, 409);
  EXPECT_EQ(orders(), 0U);
}

TEST_F(order_sample, a_late_action_is_refused) {
  EXPECT_EQ(cancel("s1", "a").status, 200);
  EXPECT_EQ(create("s1", "a").status, 409);
  EXPECT_EQ(orders(), 0U);
}

}  // namespace
}  // namespace examples_test
