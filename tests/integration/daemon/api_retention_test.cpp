// What the API says of sagas that have been deleted, and of how long they are kept.
#include "api_harness.hpp"
#include "pace.hpp"

namespace atone::api {
namespace {

using test::comes_true;
using testing::HasSubstr;
using testing::Not;

options kept_a_second() {
  options made{"memory:"};
  made.retention = std::chrono::seconds{1};
  return made;
}

class api_retention : public api_test {
 protected:
  api_retention() : api_test({}, kept_a_second()) {}

  // The id of one that has come to its end and is gone.
  std::string start_and_lose(std::string const& key) {
    auto const before = sagas->deletions().deleted_sagas;
    auto id = start(key);
    EXPECT_TRUE(comes_true([&] { return sagas->deletions().deleted_sagas > before; }, guard));
    return id;
  }
};

TEST_F(api_retention, a_deleted_saga_is_not_found_and_the_words_say_why) {
  auto const id = start_and_lose("");
  for (auto const& path :
       {"/v1/sagas/" + id, "/v1/sagas/" + id + "/history", "/v1/sagas/" + id + "/wait?timeout=20s", "/v1/compensations/" + id}) {
    auto const got = get(path);
    EXPECT_EQ(got.status, 404) << path;
    EXPECT_EQ(text(problem_in(got), "code"), "not_found");
    EXPECT_THAT(text(problem_in(got), "message"), HasSubstr("deleted after its retention")) << path;
  }
  auto const acted = ask("POST", "/v1/sagas/" + id + "/cancel", "{}");
  EXPECT_EQ(acted.status, 404) << acted.body;
  EXPECT_EQ(read(get("/v1/sagas")).find("sagas")->size(), 0u);
}

TEST_F(api_retention, a_start_under_the_key_of_a_deleted_saga_is_answered_with_its_id_and_that_it_is_gone) {
  auto const id = start_and_lose("order-1");
  auto const again = ask("POST", "/v1/sagas/two", R"({"amount": 990})", {{"Idempotency-Key", "order-1"}});
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, R"({"id":")" + id + R"(","replayed":true,"gone":true})");
  auto const other = ask("POST", "/v1/sagas/two", R"({"amount": 991})", {{"Idempotency-Key", "order-1"}});
  EXPECT_EQ(other.status, 409);
}

TEST_F(api_retention, whoever_wants_its_end_too_is_told_that_nobody_knows_it_any_more) {
  auto const id = start_and_lose("order-1");
  auto const again = ask("POST", "/v1/sagas/two?wait=20s", R"({"amount": 990})", {{"Idempotency-Key", "order-1"}});
  EXPECT_EQ(again.status, 410);
  EXPECT_EQ(text(problem_in(again), "code"), "gone");
  EXPECT_THAT(text(problem_in(again), "message"), HasSubstr(id));
}

TEST_F(api_retention, figures_say_what_is_kept_for_how_long_and_what_is_gone) {
  auto const id = start_and_lose("");
  auto const set = read(get("/v1/stats")).find("retention").value();
  EXPECT_EQ(text(set, "sagas"), "1s");
  EXPECT_EQ(text(set, "keys"), "30d");
  EXPECT_EQ(set.find("deleted")->as_int64(), 1);
  EXPECT_EQ(text(set, "deleted_up_to"), id);
  EXPECT_TRUE(set.find("lag_seconds")->as_int64());
  auto const metrics = get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("atone_retention_seconds 1\n"));
  EXPECT_THAT(metrics, HasSubstr("atone_retention_deleted_sagas_total 1\n"));
  EXPECT_THAT(metrics, HasSubstr("atone_retention_deleted_keys_total 0\n"));
  EXPECT_THAT(metrics, HasSubstr("atone_retention_lag_seconds "));
  EXPECT_THAT(metrics, HasSubstr("atone_retention_passes_total "));
}

using api_without_retention = api_test;

TEST_F(api_without_retention, everything_is_kept_where_nothing_was_asked_for) {
  auto const id = start();
  auto const set = read(get("/v1/stats")).find("retention").value();
  EXPECT_TRUE(set.find("sagas")->is_null());
  EXPECT_TRUE(set.find("deleted_up_to")->is_null());
  EXPECT_THAT(get("/metrics").body, HasSubstr("atone_retention_seconds 0\n"));
  EXPECT_EQ(get("/v1/sagas/" + id).status, 200);
  EXPECT_THAT(get("/v1/sagas/7ZZZZZZZZZZZZZZZZZZZZZZZZZ").body, Not(HasSubstr("deleted")));
}

}  // namespace
}  // namespace atone::api
