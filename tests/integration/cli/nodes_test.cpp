// `atone nodes` and what `atone doctor` makes of them: against answers written down here, since a store in memory has one node only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/command.hpp"
#include "cli/parse.hpp"

namespace atone::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

struct typed_result {
  exit_code code = exit_code::internal;
  std::string out;
};

// A daemon in good health that tells of these nodes; empty: it does not know the question.
typed_result type(std::vector<std::string> words, std::string const& nodes) {
  std::ostringstream out;
  std::ostringstream err;
  auto const line = parse_line(std::move(words), out, err);
  terminal const screen{out, err, terminal_traits{}};
  std::istringstream nothing;
  auto const answer = [&](api_request const& what) {
    api_answer made;
    made.status = what.url.ends_with("/v1/nodes") && nodes.empty() ? 404 : 200;
    made.body = what.url.ends_with("/v1/nodes") ? nodes : "{}";
    return made;
  };
  surroundings const with{screen, nothing, answer, [](duration) {}, [] { return timestamp{}; }, "tester", "http://daemon", "", "memory:"};
  typed_result made;
  made.code = line.command->run(line.typed, with);
  made.out = out.str();
  return made;
}

std::string const three = R"({"nodes":[{"node":"a","address":"http://10.0.0.1:7070","alive":true,"here":true,"shards":32},)"
                          R"({"node":"b","address":"","alive":true,"here":false,"shards":30},)"
                          R"({"node":"c","address":"http://10.0.0.3:7070","alive":false,"here":false,"shards":2}]})";

TEST(nodes_command, is_a_table) {
  auto const made = type({"nodes"}, three);
  EXPECT_EQ(made.code, exit_code::done);
  EXPECT_EQ(made.out,
            "node  state         shards  address\n"
            "a     alive, asked  32      http://10.0.0.1:7070\n"
            "b     alive         30      none\n"
            "c     gone          2       http://10.0.0.3:7070\n");
}

TEST(nodes_command, passes_json_on) {
  EXPECT_EQ(type({"nodes", "-o", "json"}, three).out, three + "\n");
}

TEST(doctor_of_nodes, names_who_shares_the_store) {
  auto const made = type({"doctor"}, R"({"nodes":[{"node":"a","address":"http://a","alive":true,"here":true,"shards":64},)"
                                     R"({"node":"b","address":"http://b","alive":false,"here":false,"shards":0}]})");
  EXPECT_EQ(made.code, exit_code::done);
  EXPECT_THAT(made.out, HasSubstr("ok        nodes    a drives every saga of the store; gone: b"));
  EXPECT_THAT(made.out, Not(HasSubstr("warning   nodes")));
}

TEST(doctor_of_nodes, warns_of_shards_that_nobody_drives_and_of_a_node_without_address) {
  auto const made = type({"doctor"}, three);
  EXPECT_EQ(made.code, exit_code::done) << "nothing is broken";
  EXPECT_THAT(made.out, HasSubstr("a, b share the store; gone: c"));
  EXPECT_THAT(made.out, HasSubstr("c is gone, and nobody has taken over its 2 shards"));
  EXPECT_THAT(made.out, HasSubstr("b has no address"));
}

TEST(doctor_of_nodes, asks_an_older_daemon_in_vain) {
  EXPECT_THAT(type({"doctor"}, "").out, Not(HasSubstr("nodes")));
}

}  // namespace
}  // namespace atone::cli
