// What of a request goes along to another node, and what of its answer comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/forwarded.hpp"
#include "api/metrics.hpp"

namespace atone::api {
namespace {

using testing::HasSubstr;
using testing::Not;

http::request asked() {
  http::request made;
  made.method = "POST";
  made.target = "/v1/sagas/01JDZ4M6GQ5V7Y8N2W3X4R5T6K/skip?x=%20";
  made.body = R"({"note": "0.10"})";
  for (auto const& [name, value] : {std::pair{"Host", "here:7070"},
                                    {"authorization", "Bearer secret"},
                                    {"Content-Type", "application/json"},
                                    {"X-Atone-Actor", "ada"},
                                    {"Atone-Token", "t"},
                                    {"Cookie", "c=1"},
                                    {"Origin", "http://here:7070"},
                                    {"Content-Length", "16"},
                                    {"Connection", "close"}}) {
    made.headers.add(name, value);
  }
  return made;
}

TEST(forwarded_request, keeps_what_it_asks_and_who_asks) {
  auto const made = forwarded_request(asked(), "node b");
  EXPECT_EQ(made.method, "POST");
  EXPECT_EQ(made.target, asked().target) << "byte for byte";
  EXPECT_EQ(made.body, asked().body);
  EXPECT_EQ(made.headers.get("Authorization"), "Bearer secret");
  EXPECT_EQ(made.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(made.headers.get("X-Atone-Actor"), "ada");
  EXPECT_EQ(made.headers.get("Atone-Token"), "t");
  EXPECT_EQ(made.headers.get("Atone-Forwarded"), "node%20b");
  EXPECT_EQ(made.headers.all().size(), 5u) << "nothing of the connection, the page or its cookies";
}

TEST(forwarded_request, is_marked_once) {
  EXPECT_FALSE(was_forwarded(asked()));
  auto const first = forwarded_request(asked(), "a");
  EXPECT_TRUE(was_forwarded(first));
  EXPECT_EQ(forwarded_request(first, "b").headers.get("Atone-Forwarded"), "b");
}

TEST(not_driven, is_known_from_every_other_503) {
  auto const refused = answer_of(not_driven_here(saga_id{}));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.get("Retry-After"), "1");
  EXPECT_TRUE(is_not_driven(refused));
  EXPECT_FALSE(is_not_driven(answer_of(problem{503, "unavailable", "the store is away"})));
  EXPECT_FALSE(is_not_driven(answer_of(problem{409, "elsewhere", "not this status"})));
  for (auto const* body : {"", "elsewhere", "[]", R"({"error": "elsewhere"})", R"({"error": {"code": 1}})"}) {
    EXPECT_FALSE(is_not_driven(http::response{503, body})) << body;
  }
}

TEST(passed_answer, has_status_body_and_what_they_mean) {
  http::response from{429, R"({"a": 1E400})"};
  from.headers.add("Retry-After", "3");
  from.headers.add("ETag", "x");
  auto const made = passed_answer(from);
  EXPECT_EQ(made.status, 429);
  EXPECT_EQ(made.body, R"({"a": 1E400})");
  EXPECT_EQ(made.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(made.headers.get("Retry-After"), "3");
  EXPECT_FALSE(made.headers.has("ETag"));
}

node_view node(std::string name, bool alive, bool here, std::size_t shards) {
  node_view made;
  made.node = node_id{std::move(name)};
  made.alive = alive;
  made.here = here;
  made.shards = shards;
  return made;
}

TEST(metrics_text, says_what_is_driven_here_and_who_is_alive) {
  metrics of{"1.2.3"};
  auto own = node("b", true, true, 44);
  own.clock_offset = std::chrono::milliseconds{-1500};
  auto const text = of.text({}, {node("a", true, false, 20), own, node("c", false, false, 3)}, {}, {});
  EXPECT_THAT(text, HasSubstr("\natone_shards_driven 44\n"));
  EXPECT_THAT(text, HasSubstr("\natone_nodes_alive 2\n"));
  EXPECT_THAT(text, HasSubstr("\natone_clock_offset_seconds -1.5\n"));
  EXPECT_THAT(of.text({}, {}, {}, {}), Not(HasSubstr("atone_nodes_alive"))) << "not known is not 0";
}

TEST(metrics_text, counts_forwarded_requests_by_outcome) {
  metrics of{"1.2.3"};
  EXPECT_THAT(of.text({}, {}, {}, {}), HasSubstr("atone_forwarded_requests_total{outcome=\"lost\"} 0\n"));
  of.forwarded(forward_outcome::lost);
  of.forwarded(forward_outcome::lost);
  EXPECT_THAT(of.text({}, {}, {}, {}), HasSubstr("atone_forwarded_requests_total{outcome=\"lost\"} 2\n"));
}

}  // namespace
}  // namespace atone::api
