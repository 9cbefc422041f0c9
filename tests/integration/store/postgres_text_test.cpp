// The parts of the PostgreSQL adapter that need no server: parameters, addresses, error classes, bytes.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "postgres/address.hpp"
#include "postgres/binary_rows.hpp"
#include "postgres/errors.hpp"
#include "postgres/named_parameters.hpp"
#include "postgres/session.hpp"
#include "postgres/sql_answer.hpp"
#include "postgres/watchdog.hpp"

namespace atone::postgres {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(postgres_parameters, names_become_numbers_each_once) {
  auto const done = number_parameters("update t set a = :amount, b = :who where c = :amount and d=:x_1");
  ASSERT_TRUE(done);
  EXPECT_EQ(done->text, "update t set a = $1, b = $2 where c = $1 and d=$3");
  EXPECT_THAT(done->names, ElementsAre("amount", "who", "x_1"));
}

TEST(postgres_parameters, text_that_only_looks_like_a_name_stays) {
  for (std::string const text : {
           "select ':a', 'it''s :a'",
           "select E'\\':a'",
           "select \":a\" from t",
           "select 1 -- :a",
           "select /* :a /* :b */ :c */ 1",
           "select $$:a$$, $tag$ :a $$ $tag$",
           "select a::int",
           "select b[1:n], b[lo:hi]",
           "select '{}'::jsonb -> 'x'",
           "select '12:30'::time",
       }) {
    auto const done = number_parameters(text);
    ASSERT_TRUE(done) << text << ": " << done.error().message;
    EXPECT_EQ(done->text, text);
    EXPECT_TRUE(done->names.empty()) << text;
  }
}

TEST(postgres_parameters, a_name_after_text_is_found) {
  EXPECT_EQ(number_parameters("select 'x':: text, (:a)::int")->text, "select 'x':: text, ($1)::int");
  EXPECT_EQ(number_parameters("select e'\\\\', :a")->text, "select e'\\\\', $1");
  EXPECT_EQ(number_parameters("select $1, price$:a")->names.size(), 0U);
}

TEST(postgres_parameters, what_does_not_end_is_refused_with_its_place) {
  for (std::string const text : {"select 'a", "select \"a", "select /* a", "select $x$ a"}) {
    auto const refused = number_parameters(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, errc::bad_data);
    EXPECT_THAT(refused.error().message, HasSubstr("byte 8")) << text;
  }
}

TEST(postgres_parameters, statements_that_end_the_transaction_are_refused) {
  for (std::string const text :
       {"commit", " COMMIT", "-- x\nRollback", "/* x */ begin", ";end", "prepare transaction 'x'", "set role x", "abort"}) {
    auto const refused = number_parameters(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().message, HasSubstr("not allowed")) << text;
  }
  EXPECT_FALSE(number_parameters(" -- nothing"));
  EXPECT_TRUE(number_parameters("with x as (select 1) select * from x"));
}

TEST(postgres_parameters, values_keep_their_text) {
  auto const values = parameter_values({"a", "b", "c", "d", "e"}, R"({"a":9007199254740993,"b":"\u00e4'","c":null,"d":[1, 2],"e":true})");
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_THAT(*values, ElementsAre(text_parameter{"9007199254740993"}, text_parameter{"\xC3\xA4'"}, text_parameter{},
                                   text_parameter{"[1, 2]"}, text_parameter{"true"}));
}

TEST(postgres_parameters, a_missing_value_is_named) {
  auto const refused = parameter_values({"a", "b"}, R"({"a":1})");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(":b"));
  EXPECT_FALSE(parameter_values({"a"}, "[1]"));
}

TEST(postgres_errors, sqlstates_say_what_the_caller_may_do) {
  for (auto const* const conflict : {"40001", "40P01", "55P03"}) EXPECT_EQ(classify(conflict), errc::serialization) << conflict;
  for (auto const* const data : {"22021", "23505", "54000", "42P01", "22P02"}) EXPECT_EQ(classify(data), errc::bad_data) << data;
  for (auto const* const gone : {"57P01", "57P02", "57P03", "08006", "25006", "53300", "53100", "57014", ""}) {
    EXPECT_EQ(classify(gone), errc::unavailable) << gone;
  }
  EXPECT_EQ(classify("AT001"), errc::fenced);
  EXPECT_EQ(classify("AT002"), errc::invalid_argument);
}

TEST(postgres_errors, the_users_statement_says_nothing_of_the_store) {
  for (auto const* const passing : {"40001", "40P01", "55P03", "57014", "57P01", "53100", "58030", "08006", "25006", "28P01"}) {
    EXPECT_EQ(classify_of_user(passing), errc::statement_failed) << passing;
  }
  for (auto const* const lasting : {"3F000", "XX000", "AT001", "AT002", "25P02", "25P03", "23505", "40002", "P0001", ""}) {
    EXPECT_EQ(classify_of_user(lasting), errc::bad_data) << lasting;
  }
}

TEST(postgres_errors, a_connection_is_dropped_where_it_is_of_no_use) {
  for (auto const* const spoilt : {"57P01", "08003", "25006", "25P03", ""}) EXPECT_TRUE(spoils_connection(spoilt)) << spoilt;
  for (auto const* const fine : {"40001", "23505", "57014", "AT001", "53100"}) EXPECT_FALSE(spoils_connection(fine)) << fine;
}

TEST(postgres_errors, a_message_is_one_line) {
  EXPECT_EQ(sql_failure("commit", "23505", "ERROR: twice\nDETAIL: key\n").message, "commit: ERROR: twice DETAIL: key (SQLSTATE 23505)");
}

TEST(postgres_address, waits_are_bounded_unless_the_address_says_otherwise) {
  auto const plain = with_connection_parameters("postgresql://host/db", session_kind::writer, session_limits{});
  EXPECT_THAT(plain, HasSubstr("postgresql://host/db?application_name=atone&"));
  EXPECT_THAT(plain, HasSubstr("&connect_timeout=2&"));
  EXPECT_THAT(plain, HasSubstr("target_session_attrs=read-write"));
  auto const own =
      with_connection_parameters("postgresql://host/db?connect_timeout=9&sslmode=require", session_kind::reader, session_limits{});
  EXPECT_THAT(own, HasSubstr("?connect_timeout=9&sslmode=require&application_name=atone&"));
  EXPECT_THAT(own, Not(HasSubstr("connect_timeout=2")));
  EXPECT_THAT(own, HasSubstr("target_session_attrs=primary"));
}

TEST(postgres_bytes, bytea_text_is_read_back) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  EXPECT_EQ(from_bytea_text(bytea_text(every)), every);
  EXPECT_EQ(bytea_text("\x01\xFF"), "\\x01ff");
  EXPECT_EQ(from_bytea_text(""), "");
}

TEST(postgres_bytes, an_array_of_rows_has_the_grammar_of_the_server) {
  binary_rows rows{70'000, 2};
  rows.begin_row().small(-2).time(std::optional<timestamp>{});
  auto const bytes = rows.take();
  std::string const expected{
      "\0\0\0\1"
      "\0\0\0\0"
      "\0\1\x11\x70"
      "\0\0\0\1"
      "\0\0\0\1"  // one dimension, no null, type, one row, from 1
      "\0\0\0\x16"
      "\0\0\0\2"  // 22 bytes, two columns
      "\0\0\0\x15"
      "\0\0\0\2"
      "\xFF\xFE"  // smallint -2
      "\0\0\4\xA0"
      "\xFF\xFF\xFF\xFF",  // timestamptz NULL
      46};
  EXPECT_EQ(bytes, expected);
  EXPECT_EQ(rows.take(), (std::string{"\0\0\0\0"
                                      "\0\0\0\0"
                                      "\0\1\x11\x70",
                                      12}));  // empty again
}

TEST(postgres_watchdog, cuts_a_socket_whose_time_is_up_and_no_other) {
  std::array<int, 2> late{};
  std::array<int, 2> fine{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, late.data()), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fine.data()), 0);
  watchdog guard;
  {
    watchdog::guard const in_time{guard, fine[0], std::chrono::milliseconds{1}};
  }
  watchdog::guard const limit{guard, late[0], std::chrono::milliseconds{20}};
  char byte = 0;
  EXPECT_EQ(::recv(late[0], &byte, 1, 0), 0);  // returns at all: that is the point
  EXPECT_EQ(::send(fine[1], "x", 1, 0), 1);
  EXPECT_EQ(::recv(fine[0], &byte, 1, 0), 1);
  for (int const socket : {late[0], late[1], fine[0], fine[1]}) ::close(socket);
}

}  // namespace
}  // namespace atone::postgres
