// Publishing, listing and checking definitions.
#include "api_harness.hpp"

namespace atone::api {
namespace {

using testing::HasSubstr;

using api_definitions = api_test;

std::string other_version(std::string const& version, std::string const& delay = "1ms") {
  auto text = shop_definition;
  text.replace(text.find("version: 1"), 10, "version: " + version);
  text.replace(text.find("delay: 1ms"), 10, "delay: " + delay);
  return text;
}

TEST_F(api_definitions, publish_says_what_was_published_and_where) {
  auto const made = ask("POST", "/v1/definitions", other_version("2"), {{"Content-Type", "application/yaml"}});
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(text(read(made), "saga"), "two");
  EXPECT_EQ(read(made).find("version")->as_int64(), 2);
  EXPECT_EQ(text(read(made), "hash").size(), 64u);
  EXPECT_EQ(made.headers.get("Location"), "/v1/definitions/two?version=2");
  EXPECT_EQ(ask("PUT", "/v1/definitions", other_version("2")).status, 201) << "again is the same";
}

TEST_F(api_definitions, another_content_under_a_known_version_is_409) {
  EXPECT_EQ(ask("POST", "/v1/definitions", other_version("1", "2ms")).status, 409);
}

TEST_F(api_definitions, mistakes_come_with_their_places_and_nothing_is_published) {
  auto const made = ask("POST", "/v1/definitions", "saga: broken\nversion: 1\nstpes: []\n");
  EXPECT_EQ(made.status, 422);
  EXPECT_EQ(text(problem_in(made), "code"), "invalid_definition");
  auto const found = read(made).find("diagnostics")->elements();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(text(found[0], "severity"), "mistake");
  EXPECT_GT(*found[0].find("line")->as_int64(), 0);
  EXPECT_EQ(get("/v1/definitions/broken").status, 404);
}

TEST_F(api_definitions, too_large_a_definition_is_413) {
  EXPECT_EQ(ask("POST", "/v1/definitions", std::string(load_limits::bytes_max + 1, ' ')).status, 413);
  EXPECT_EQ(ask("POST", "/v1/lint", std::string(load_limits::bytes_max + 1, ' ')).status, 413);
}

TEST_F(api_definitions, are_listed_and_shown_as_they_came) {
  ask("POST", "/v1/definitions", other_version("2"));
  EXPECT_EQ(read(get("/v1/definitions")).find("definitions")->size(), 2u);
  EXPECT_EQ(text(read(get("/v1/definitions/two?version=1")), "text"), shop_definition);
  EXPECT_EQ(read(get("/v1/definitions/two")).find("version")->as_int64(), 2) << "the newest";
  auto const missing = get("/v1/definitions/two?version=7");
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(text(problem_in(missing), "message"), HasSubstr("two@7"));
}

TEST_F(api_definitions, lint_publishes_nothing) {
  auto const fine = read(ask("POST", "/v1/lint", other_version("5")));
  EXPECT_TRUE(fine.find("ok")->as_bool());
  EXPECT_EQ(get("/v1/definitions/two?version=5").status, 404);
  auto const broken = read(ask("POST", "/v1/lint", "saga: [\n"));
  EXPECT_FALSE(broken.find("ok")->as_bool());
  EXPECT_GE(*broken.find("mistakes")->as_int64(), 1);
}

}  // namespace
}  // namespace atone::api
