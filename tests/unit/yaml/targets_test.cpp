// What is called, and whether `in` gives it what it needs.
#include "yaml/targets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string said_of(std::string const& call, std::string const& in = "") {
  return told(load_definition(saga_of_step("    call: " + call + "\n" + (in.empty() ? "" : "    in: " + in + "\n"))));
}

TEST(targets, a_path_is_split_at_its_placeholders) {
  auto const done = load_definition(saga_of_step("    call: orders POST /a/{id}/b-{x_1}/c\n    in: {id: 1, x_1: 2}\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  auto const& http = std::get<http_target>(std::get<call_target>(first_action(done).what).how);
  EXPECT_EQ(http.method, "POST");
  ASSERT_EQ(http.path.size(), 5U);
  EXPECT_EQ(http.path[0].text, "/a/");
  EXPECT_FALSE(http.path[0].placeholder);
  EXPECT_EQ(http.path[1].text, "id");
  EXPECT_TRUE(http.path[1].placeholder);
  EXPECT_EQ(http.path[2].text, "/b-");
  EXPECT_EQ(http.path[3].text, "x_1");
  EXPECT_EQ(http.path[4].text, "/c");
}

TEST(targets, blanks_between_words_do_not_matter) {
  EXPECT_EQ(said_of("\"  orders   GET   /x \""), "");
  EXPECT_EQ(said_of("|\n      orders GET /x"), "");
}

TEST(targets, paths_that_mean_something_else_are_refused) {
  for (auto const* path :
       {"x", "/a/../b", "/a/.", "/..", "/a?b=c", "/a#b", "/a b", "/{", "/{}", "/{a", "/a}", "/{a b}", "/{a}{", "/ü", "/a\\b", "/{a/b}"}) {
    EXPECT_THAT(said_of(std::string{"'orders POST "} + path + "'", "{a: 1}"), HasSubstr("steps[0].call")) << path;
  }
  for (auto const* path : {"/", "/a/b.c", "/a/..b", "/a;b=c", "/a%20b", "/{a}", "/{a}/{a}", "/a:b", "/~x"}) {
    EXPECT_EQ(said_of(std::string{"'orders POST "} + path + "'", "{a: 1}"), "") << path;
  }
}

TEST(targets, handlers_have_names) {
  EXPECT_EQ(said_of("shop take_back-2"), "");
  for (auto const* name : {"Take", "1st", "a.b", "a/b"})
    EXPECT_THAT(said_of(std::string{"shop "} + name), HasSubstr("not the name of a handler")) << name;
}

TEST(targets, placeholders_come_from_in) {
  EXPECT_EQ(said_of("orders GET /o/{id}", "{id: =input.id}"), "");
  EXPECT_EQ(said_of("orders GET /o/{id}", "{id: '7'}"), "");
  EXPECT_THAT(said_of("orders GET /o/{id}", "{od: 1}"), HasSubstr("the path needs `id`"));
  EXPECT_THAT(said_of("orders POST /o/{id}"), HasSubstr("the path needs `id`"));
  EXPECT_THAT(said_of("orders POST /o/{id}", "[1]"), HasSubstr("expected a map"));
  EXPECT_THAT(said_of("orders POST /o/{id}", "5"), HasSubstr("expected a map"));
  EXPECT_THAT(said_of("orders POST /o/{id}", "{id: ''}"), HasSubstr("can't stand in a path"));
  EXPECT_THAT(said_of("orders POST /o/{id}", "{id: {a: 1}}"), HasSubstr("a map can't stand in a path"));
}

TEST(targets, placeholders_of_a_computed_in_are_checked_when_it_runs) {
  EXPECT_EQ(said_of("orders POST /o/{id}", "=input"), "");
}

TEST(targets, what_is_left_becomes_the_query_where_there_is_no_body) {
  EXPECT_EQ(said_of("orders GET /o", "{a: 1, b: x, c: true, d: =input.id}"), "");
  for (auto const* method : {"GET", "HEAD", "DELETE"}) {
    EXPECT_THAT(said_of(std::string{"orders "} + method + " /o", "{a: [1]}"), HasSubstr("a list can't stand in a query")) << method;
    EXPECT_THAT(said_of(std::string{"orders "} + method + " /o", "{a: null}"), HasSubstr("null can't stand in a query")) << method;
  }
  for (auto const* method : {"POST", "PUT", "PATCH"})
    EXPECT_EQ(said_of(std::string{"orders "} + method + " /o", "{a: [1], b: null}"), "") << method;
}

TEST(targets, a_body_may_be_any_value) {
  for (auto const* in : {"[1, 2]", "5", "text", "null", "{}", "=input"}) EXPECT_EQ(said_of("orders POST /o", in), "") << in;
  EXPECT_EQ(said_of("shop pay", "[1, 2]"), "");
}

TEST(targets, in_is_an_empty_map_when_nothing_is_said) {
  auto const done = load_definition(saga_of_step("    call: orders POST /o\n"));
  EXPECT_EQ(first_action(done).in.render({}).value(), "{}");
}

TEST(targets, sql_names_stand_outside_of_texts_comments_and_casts) {
  using yaml::sql_names;
  EXPECT_THAT(sql_names("insert into t values (:a, :b_2, :a)"), ElementsAre("a", "b_2"));
  EXPECT_THAT(sql_names("select ':no', \":no\", x::text, $$ :no $$, $t$ :no $t$, :yes"), ElementsAre("yes"));
  EXPECT_THAT(sql_names("select 1 -- :no\n, :yes /* :no */"), ElementsAre("yes"));
  EXPECT_THAT(sql_names("select a[1:2], ': ', :1, :"), ElementsAre());
  EXPECT_THAT(sql_names("select 'it''s :no', :yes"), ElementsAre("yes"));
  EXPECT_THAT(sql_names("select 'open :no"), ElementsAre());
  EXPECT_THAT(sql_names("select $1, :yes"), ElementsAre("yes"));
  EXPECT_THAT(sql_names(""), ElementsAre());
}

TEST(targets, a_statement_takes_its_names_from_in) {
  EXPECT_EQ(told(load_definition(saga_of_step("    sql: insert into t values (:id)\n    in: {id: =input.id}\n"))), "");
  EXPECT_THAT(told(load_definition(saga_of_step("    sql: insert into t values (:id)\n"))), HasSubstr("the statement takes `:id`"));
  EXPECT_THAT(told(load_definition(saga_of_step("    sql: select 1\n    in: [1]\n"))),
              HasSubstr("expected a map of the statement's parameters"));
  EXPECT_THAT(told(load_definition(saga_of_step("    sql: ' '\n"))), HasSubstr("the statement is empty"));
  EXPECT_THAT(told(load_definition(saga_of_step("    sql: " + std::string(70'000, 'x') + "\n"))), HasSubstr("longer than 65536 bytes"));
}

TEST(targets, a_statement_is_kept_as_written) {
  auto const done = load_definition(saga_of_step("    sql: |\n      insert into t\n        values (:id)\n    in: {id: 1}\n"));
  ASSERT_TRUE(done.ok()) << told(done);
  EXPECT_EQ(std::get<sql_target>(first_action(done).what).text, "insert into t\n  values (:id)\n");
}

std::string with_address(std::string const& url) {
  return told(load_definition("saga: s\nversion: 1\ndeadline: 1m\nservices: {a: {http: \"" + url +
                              "\"}}\nsteps:\n  - {id: x, call: a GET /, read_only: true}\n"));
}

TEST(targets, addresses_are_http_with_host_and_maybe_a_base) {
  for (auto const* url :
       {"http://a", "http://a.b-c:80", "https://a/base", "http://[::1]:80", "http://127.0.0.1:65535/x/y", "https://[2001:db8::1]/"}) {
    EXPECT_EQ(with_address(url), "") << url;
  }
  for (auto const* url : {"",
                          "a",
                          "http:/a",
                          "http://",
                          "http://:80",
                          "http://a:",
                          "http://a:0",
                          "http://a:65536",
                          "http://a:x",
                          "ftp://a",
                          "http://u@a",
                          "http://a?x",
                          "http://a#x",
                          "http://a b",
                          "http://[::1",
                          "http://[zz]",
                          "HTTP://a",
                          "http://a:80x",
                          "http://a:+80",
                          "http://a<b"}) {
    EXPECT_THAT(with_address(url), HasSubstr("services.a.http")) << url;
  }
}

TEST(targets, a_service_without_barrier_is_warned_of) {
  auto const done = load_definition(
      "saga: s\nversion: 1\ndeadline: 1m\nservices: {a: {local: a, barrier: false, in_flight: 7}}\nsteps:\n  - {id: x, call: a b, "
      "read_only: true}\n");
  ASSERT_TRUE(done.ok());
  EXPECT_THAT(told(done), HasSubstr("services.a.barrier   warning: service `a` keeps no barrier"));
  EXPECT_EQ(mistakes_in(done), 0U);
  EXPECT_FALSE(done.definition->services.at(0).barrier);
  EXPECT_EQ(done.definition->services.at(0).in_flight_max, 7U);
}

}  // namespace
}  // namespace atone::yaml_test
