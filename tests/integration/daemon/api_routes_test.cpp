// The table of routes, the page that describes it, and what comes before any handler: 404, 405, 400, 415.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "api/routes.hpp"
#include "api_harness.hpp"

namespace atone::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(route_match, takes_the_braces_decoded) {
  EXPECT_THAT(match("/v1/sagas/{id}/history", "/v1/sagas/A%20B/history").value(), ElementsAre("A B"));
  EXPECT_THAT(match("/v1/callbacks/{saga}/{op}/{attempt}", "/v1/callbacks/S/do/1").value(), ElementsAre("S", "do", "1"));
  EXPECT_THAT(match("/health", "/health").value(), ElementsAre());
}

TEST(route_match, refuses_what_does_not_fit) {
  for (auto const* path : {"/v1/sagas", "/v1/sagas/", "/v1/sagas/a/b", "/v1/saga/a", "/", "/v1/sagas/a/", "/v1/sagas/%", "//v1/sagas/a"}) {
    EXPECT_FALSE(match("/v1/sagas/{id}", path)) << path;
  }
}

// "path method" of every operation in schemas/openapi.yaml, by its indentation.
std::set<std::string> documented_operations() {
  std::ifstream page{ATONE_SOURCE_DIR "/schemas/openapi.yaml"};
  std::set<std::string> made;
  std::string line;
  std::string path;
  bool in_paths = false;
  while (std::getline(page, line)) {
    if (!line.empty() && line.front() != ' ') in_paths = line == "paths:";
    if (!in_paths) continue;
    if (line.starts_with("  /")) path = line.substr(2, line.find(':') - 2);
    for (auto const* method : {"get", "post", "put", "delete"}) {
      if (line == "    " + std::string{method} + ":") made.insert(path + " " + method);
    }
  }
  return made;
}

TEST(routes, are_those_of_the_openapi_document) {
  std::set<std::string> served;
  for (auto const& one : make_routes()) {
    std::string method{one.method};
    for (auto& c : method) c = static_cast<char>(c + ('a' - 'A'));
    EXPECT_TRUE(served.insert(std::string{one.pattern} + " " + method).second) << one.pattern << " stands twice";
  }
  EXPECT_EQ(served, documented_operations());
}

TEST(routes, every_query_parameter_is_documented) {
  std::ifstream page{ATONE_SOURCE_DIR "/schemas/openapi.yaml"};
  std::stringstream all;
  all << page.rdbuf();
  for (auto const& one : make_routes()) {
    for (auto const parameter : one.query) {
      EXPECT_THAT(all.str(), HasSubstr("{name: " + std::string{parameter} + ", in: query")) << one.pattern;
    }
  }
}

using api_front = api_test;

TEST_F(api_front, an_unknown_path_is_404) {
  auto const made = get("/v2/sagas");
  EXPECT_EQ(made.status, 404);
  EXPECT_EQ(text(problem_in(made), "code"), "not_found");
}

TEST_F(api_front, a_wrong_method_is_405_and_names_the_right_ones) {
  EXPECT_EQ(ask("DELETE", "/v1/definitions").headers.get("Allow"), "POST, PUT, GET, HEAD");
  EXPECT_EQ(ask("GET", "/v1/lint").headers.get("Allow"), "POST");
  for (auto const* method : {"TRACE", "OPTIONS", "PURGE", "CONNECT"}) {
    auto const made = ask(method, "/health");
    EXPECT_EQ(made.status, 405) << method;
    EXPECT_EQ(made.headers.get("Allow"), "GET, HEAD");
  }
}

TEST_F(api_front, head_is_answered_as_get) {
  EXPECT_EQ(ask("HEAD", "/health").status, 200);
}

TEST_F(api_front, an_unreadable_target_is_400) {
  EXPECT_EQ(get("*").status, 400);
  EXPECT_EQ(get("/v1/sagas?x=%zz").status, 400);
}

TEST_F(api_front, an_unknown_parameter_is_refused_with_the_known_ones) {
  auto const made = get("/v1/sagas?statsu=parked");
  EXPECT_EQ(made.status, 400);
  EXPECT_THAT(text(problem_in(made), "message"), HasSubstr("known: saga, definition, status"));
  EXPECT_EQ(text(problem_in(made), "field"), "statsu");
}

TEST_F(api_front, a_body_of_another_type_is_415) {
  for (auto const* type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"}) {
    EXPECT_EQ(ask("POST", "/v1/sagas/two", "{}", {{"Content-Type", type}}).status, 415) << type;
    EXPECT_EQ(ask("POST", "/v1/definitions", "a: b", {{"Content-Type", type}}).status, 415) << type;
  }
  EXPECT_EQ(ask("POST", "/v1/sagas/two", R"({"amount":1})", {{"Content-Type", "Application/JSON; charset=utf-8"}}).status, 201);
}

struct crowded : api_test {
  static service_options options() {
    service_options made;
    made.queue_max = 0;
    return made;
  }
  crowded() : api_test(options()) {}
};

TEST_F(crowded, too_many_readers_are_503_with_retry_after) {
  auto const made = get("/v1/sagas");
  EXPECT_EQ(made.status, 503);
  EXPECT_EQ(made.headers.get("Retry-After"), "1");
  EXPECT_EQ(get("/health").status, 200) << "alive all the same";
}

}  // namespace
}  // namespace atone::api
