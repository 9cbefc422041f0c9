// A log that an earlier build has written: it is read with the same answers, and the same calls still write the same bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/bytes.hpp"
#include "service/log.hpp"
#include "service/step_record.hpp"
#include "support.hpp"

namespace atone::features_test {
namespace {

using testing::HasSubstr;

std::string const golden = ATONE_SOURCE_DIR "/tests/golden/features/format-1.log";

class features_golden : public service_test {
 protected:
  features_golden() {
    set = set_of(
        "feature_set: shop\nversion: 1\nentity: user\nevent_id: id\nevent_time: at\nknown_at: told\ncolumns: {user: text, id: integer, at: "
        "timestamp, told: timestamp, amount: {type: decimal, scale: 2}}\nwindows: {ever: {since: epoch}}\nfeatures: {n: {count: events, "
        "over: "
        "[ever]}, spent: {sum: amount, over: [ever]}}\n");
  }
  void append_json(char const* rows) {
    auto const done = service->append(*rows_from_json(*set, rows));
    ASSERT_TRUE(done) << done.error().message;
  }
  std::string ask(char const* key, char const* entity, std::int64_t time) {
    auto what = wish(key, entity, time * second);
    what.known_at = what.as_of;
    return recompute(what);
  }
};

TEST_F(features_golden, a_log_of_format_1_is_read) {
  write_file(folder.path() + "/data/features.log", read_file(golden));
  open();
  EXPECT_EQ(service->cut_off(), 0U);
  EXPECT_EQ(service->figures().events, 4U);
  EXPECT_EQ(served("ann").version.number, 3U);
  EXPECT_EQ(served("ann").version.tag, version_tag::to_be_updated);
  EXPECT_THAT(served("bob").version.json, HasSubstr(R"("spent":7.00)"));
  EXPECT_EQ(ask("s1", "ann", 5),
            R"({"entity":"ann","outcome":"published","version":1,"input":5000000,"as_of":"1970-01-01T00:00:05.000000Z",)"
            R"("known_at":"1970-01-01T00:00:05.000000Z","published_at":"1970-01-01T00:01:40.000000Z","tag":"current",)"
            R"("hash":"dea281359e510a628c06ab31f634c000c5bef0d6633240fe0a2fbbb3c9130160",)"
            R"("features":{"as_of":"1970-01-01T00:00:05.000000Z","windows":{"ever":{"n":2,"spent":0.10}}}})");
  EXPECT_THAT(ask("s3", "ann", 4), HasSubstr(R"("outcome":"superseded","version":2)"));
  EXPECT_THAT(ask("s2", "ann", 7), HasSubstr("has been undone"));
  EXPECT_THAT(ask("s5", "cid", 7), HasSubstr("has been undone"));
}

TEST_F(features_golden, the_same_calls_write_the_same_bytes) {
  open();
  append_json(R"([{"user":"ann","id":1,"at":1000000,"told":1000000,"amount":0.10},{"user":"ann","id":2,"at":2000000,"told":2000000},)"
              R"({"user":"bob","id":1,"at":3000000,"told":3000000,"amount":7}])");
  ask("s1", "ann", 5);
  append_json(R"([{"user":"ann","id":1,"at":1000000,"told":6000000,"amount":0.25}])");
  ask("s2", "ann", 7);
  ask("s3", "ann", 4);
  ask("s4", "bob", 8);
  republish("s2", "ann");
  republish("s5", "cid");
  EXPECT_EQ(read_file(service->path()), read_file(golden)) << "stored bytes have changed: give them another format version";
}

TEST_F(features_golden, a_version_whose_number_does_not_rise_is_damage_told_with_its_place) {
  for (auto const number : {std::uint64_t{0}, std::uint64_t{3}, std::numeric_limits<std::uint64_t>::max()}) {
    auto const path = folder.path() + "/data/features.log";
    write_file(path, read_file(golden));
    step_record record;
    record.entity = "ann";
    record.version.number = number;
    record.version.json = "{}";
    std::string entry{"\3"};
    put_text(entry, bytes_of(record));
    {
      auto log = commit_log::open(folder.path() + "/data", {}, [](auto, auto) { return result<void>{}; });
      ASSERT_TRUE(log && log->append(1000, entry));
    }
    auto const made = feature_service::open(set, options());
    ASSERT_FALSE(made) << number;
    EXPECT_EQ(made.error().code, errc::corrupt);
    EXPECT_THAT(made.error().message, testing::AllOf(HasSubstr(path + ", frame at byte " + std::to_string(read_file(golden).size())),
                                                     HasSubstr("after version 3, expected one above it")));
  }
}

}  // namespace
}  // namespace atone::features_test
