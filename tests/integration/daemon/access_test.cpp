// Who is let in: tokens, pages of other origins, names that only pretend to be this host.
#include "api/access.hpp"

#include "api_harness.hpp"

namespace atone::api {
namespace {

http::request with(std::vector<std::pair<std::string, std::string>> const& headers) {
  http::request made;
  for (auto const& [name, value] : headers) made.headers.add(name, value);
  return made;
}

std::int32_t status_of(access const& door, http::request const& what, std::string* actor = nullptr) {
  std::string who;
  auto const refused = door.check(what, who);
  if (actor) *actor = who;
  return refused ? refused->status : 200;
}

TEST(access, without_tokens_lets_in_who_names_this_host) {
  access const door{{}, true};
  for (auto const* host : {"127.0.0.1:7070", "localhost:7070", "LOCALHOST", "[::1]:7070", "10.0.0.7", ""}) {
    EXPECT_EQ(status_of(door, with({{"Host", host}})), 200) << host;
  }
  for (auto const* host : {"evil.example:7070", "localhost.evil.example", "atone"}) {
    EXPECT_EQ(status_of(door, with({{"Host", host}})), 403) << host;
  }
  access const open{{}, false};
  EXPECT_EQ(status_of(open, with({{"Host", "atone.internal"}})), 200) << "beyond loopback names are usual";
}

TEST(access, pages_of_other_origins_are_refused) {
  access const door{{}, true};
  EXPECT_EQ(status_of(door, with({{"Host", "localhost:7070"}, {"Origin", "https://evil.example"}})), 403);
  EXPECT_EQ(status_of(door, with({{"Host", "localhost:7070"}, {"Origin", "null"}})), 403);
  EXPECT_EQ(status_of(door, with({{"Host", "localhost:7070"}, {"Origin", "http://localhost:7071"}})), 403);
  EXPECT_EQ(status_of(door, with({{"Host", "localhost:7070"}, {"Origin", "http://localhost:7070"}})), 200);
}

TEST(access, with_tokens_one_of_them_is_needed) {
  access const door{{token{"ops", "0123456789abcdef"}, token{"ci", "fedcba9876543210"}}, true};
  EXPECT_EQ(status_of(door, with({})), 401);
  EXPECT_EQ(status_of(door, with({{"Authorization", "Basic 0123456789abcdef"}})), 401);
  EXPECT_EQ(status_of(door, with({{"Authorization", "Bearer 0123456789abcde"}})), 401);
  EXPECT_EQ(status_of(door, with({{"Authorization", "Bearer 0123456789abcdef0"}})), 401);
  EXPECT_EQ(status_of(door, with({{"Authorization", "Bearer "}})), 401);
  std::string actor;
  EXPECT_EQ(status_of(door, with({{"Authorization", "bearer fedcba9876543210"}, {"Host", "atone.example"}}), &actor), 200);
  EXPECT_EQ(actor, "ci");
}

TEST(access, the_actor_is_who_they_say_and_whose_token_it_was) {
  access const open{{}, true};
  std::string actor;
  status_of(open, with({}), &actor);
  EXPECT_EQ(actor, "anonymous");
  status_of(open, with({{"X-Atone-Actor", "ada"}}), &actor);
  EXPECT_EQ(actor, "ada");
  access const door{{token{"ops", "0123456789abcdef"}}, true};
  status_of(door, with({{"Authorization", "Bearer 0123456789abcdef"}, {"X-Atone-Actor", "ada"}}), &actor);
  EXPECT_EQ(actor, "ada (ops)");
}

struct guarded : api_test {
  static service_options options() {
    service_options made;
    made.tokens.emplace_back("ops", "0123456789abcdef");
    return made;
  }
  guarded() : api_test(options()) {}
};

TEST_F(guarded, health_is_open_and_everything_else_is_not) {
  EXPECT_EQ(get("/health").status, 200);
  EXPECT_EQ(get("/ready").status, 200);
  for (auto const* target : {"/v1/sagas", "/v1/stats", "/metrics", "/v1/definitions"}) {
    auto const made = get(target);
    EXPECT_EQ(made.status, 401) << target;
    EXPECT_EQ(made.headers.get("WWW-Authenticate"), "Bearer realm=\"atone\"");
  }
  EXPECT_EQ(ask("GET", "/v1/stats", "", {{"Authorization", "Bearer 0123456789abcdef"}}).status, 200);
}

}  // namespace
}  // namespace atone::api
