// What the demo counts, compares and prints.
#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include <atone/load.hpp>

#include "books.hpp"
#include "demo_options.hpp"
#include "kit/faults.hpp"
#include "run_sagas.hpp"

namespace demo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(demo_reason, what_differs_from_saga_to_saga_is_cut_off) {
  EXPECT_EQ(reason_of(R"(fan/profile/profile refused: 409 {"error":"spending limit reached"} (attempt 1))"), "fan/profile/profile refused");
  EXPECT_EQ(reason_of("features failed 5 times; last error: 503"), "features failed");
  EXPECT_EQ(reason_of("features timed out after 5s"), "features timed out");
  EXPECT_EQ(reason_of("the deadline of 15m passed"), "deadline");
  EXPECT_EQ(reason_of("cancelled by tester: refused before"), "other");
  EXPECT_EQ(reason_of(""), "no cause given");
}

outcome ended(std::size_t item, atone::saga_status status, std::string cause = "", std::set<std::string> fell_back = {}) {
  outcome made;
  made.item = item;
  made.status = status;
  made.cause = std::move(cause);
  made.fell_back = std::move(fell_back);
  atone::saga_id::bytes bytes{};
  bytes[15] = static_cast<std::uint8_t>(item);
  made.id = atone::saga_id{bytes};
  return made;
}

std::vector<purchase> five_purchases() {
  std::vector<purchase> made(5);
  for (std::size_t at = 0; at < made.size(); ++at) made[at].cents = static_cast<std::int64_t>(at + 1) * 100;
  return made;
}

TEST(demo_tally, counts_and_sums) {
  auto const purchases = five_purchases();
  tally count{purchases};
  count.add(ended(0, atone::saga_status::completed));
  count.add(ended(2, atone::saga_status::completed, "", {"features"}));
  count.add(ended(1, atone::saga_status::compensated, "order refused: 409"));
  count.add(ended(3, atone::saga_status::compensated, "order refused: 422"));
  count.add(ended(4, atone::saga_status::parked));
  EXPECT_EQ(count.ended(), 5U);
  EXPECT_EQ(count.completed_cents(), 400);
  EXPECT_EQ(count.last_compensated()->value()[15], 3);
  EXPECT_EQ(count.text(),
            "      completed   2   of these with stale features 1\n"
            "      compensated 2   order refused 2\n"
            "      parked      1\n");
}

TEST(demo_tally, the_commonest_reason_comes_first) {
  auto const purchases = five_purchases();
  tally count{purchases};
  count.add(ended(0, atone::saga_status::compensated, "features timed out after 5s"));
  count.add(ended(1, atone::saga_status::compensated, "order refused: 409"));
  count.add(ended(2, atone::saga_status::compensated, "order refused: 409"));
  EXPECT_THAT(count.text(), HasSubstr("order refused 2 · features timed out 1"));
}

std::size_t count_of(std::string const& text, char wanted) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), wanted));
}

TEST(demo_bar, is_as_full_as_it_should) {
  EXPECT_EQ(bar(0, 10, 4), "░░░░");
  EXPECT_EQ(bar(5, 10, 4), "██░░");
  EXPECT_EQ(bar(10, 10, 4), "████");
  EXPECT_EQ(bar(0, 0, 2), "██");
}

TEST(demo_progress, off_a_terminal_it_is_a_line_each_tenth) {
  auto const purchases = five_purchases();
  tally count{purchases};
  std::ostringstream out;
  progress_line line{out, false, 5};
  line.draw(count, 0, std::chrono::seconds{1});
  EXPECT_EQ(out.str(), "") << "nothing has come yet";
  count.add(ended(0, atone::saga_status::completed));
  line.draw(count, 3, std::chrono::seconds{1});
  line.draw(count, 3, std::chrono::seconds{1});
  EXPECT_THAT(out.str(), HasSubstr("1/5"));
  EXPECT_THAT(out.str(), HasSubstr("1 sagas/s   completed 1  compensated 0  running 3\n"));
  EXPECT_EQ(count_of(out.str(), '\n'), 1U) << "the same tenth again is not printed";
}

TEST(demo_progress, on_a_terminal_the_line_is_redrawn) {
  auto const purchases = five_purchases();
  tally const count{purchases};
  std::ostringstream out;
  progress_line line{out, true, 5};
  line.draw(count, 0, std::chrono::seconds{1});
  line.draw(count, 0, std::chrono::seconds{1});
  EXPECT_EQ(count_of(out.str(), '\r'), 1U);
  line.say("hello");
  line.end();
  EXPECT_THAT(out.str(), testing::EndsWith("\n      hello\n"));
}

TEST(demo_definition, is_described_in_one_line) {
  std::ifstream file{std::string{ATONE_SOURCE_DIR} + "/examples/sagas/order-placed.yaml"};
  std::stringstream text;
  text << file.rdbuf();
  auto const loaded = atone::load_definition(text.str());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(describe(*loaded.definition), "6 steps, 5 compensations, pivot: none, fallback: features -> last output (1d)");
}

TEST(demo_input, fits_the_definition) {
  std::ifstream file{std::string{ATONE_SOURCE_DIR} + "/examples/sagas/order-placed.yaml"};
  std::stringstream text;
  text << file.rdbuf();
  auto const loaded = atone::load_definition(text.str());
  ASSERT_TRUE(loaded.ok());
  purchase one;
  one.number = 17;
  one.customer = 4;
  one.quantity = 2;
  one.cents = 2933;
  one.placed_at = atone::timestamp{std::chrono::sys_days{std::chrono::year{1997} / 1 / 18}.time_since_epoch()};
  auto const work = work_for(one);
  EXPECT_EQ(work.key, "cdnow-17");
  EXPECT_EQ(work.input, R"({"order_id":17,"user_id":4,"amount":2933,"quantity":2,"placed_at":"1997-01-18T00:00:00.000000Z"})");
  EXPECT_THAT(loaded.definition->input->validate(*atone::json::parse(work.input)), IsEmpty());
}

atone::json::value json_of(std::string text) {
  return *atone::json::parse(std::move(text));
}

TEST(demo_books, agree_or_are_named) {
  expected_books expected;
  expected.completed = 3;
  expected.cents = 600;
  auto const orders = json_of(R"({"open":{"orders":3,"amount":600},"cancelled":{"orders":1,"amount":5}})");
  EXPECT_THAT(compare_books(expected, orders, json_of(R"({"users":2,"spending":600,"ledger":600})")), IsEmpty());
  auto const wrong = compare_books(expected, orders, json_of(R"({"users":2,"spending":601,"ledger":600})"));
  ASSERT_THAT(wrong, SizeIs(1));
  EXPECT_EQ(wrong[0], "cents spent by users: the service says 601, the completed sagas say 600");
  EXPECT_THAT(compare_books(expected, json_of("{}"), json_of("{}")), SizeIs(4));
}

TEST(demo_books, figures_are_added_up) {
  std::vector<atone::json::value> const stats{json_of(R"({"duplicates":3,"faults":{"fail":1,"drop":2}})"),
                                              json_of(R"({"duplicates":4,"faults":{"twice":5}})")};
  EXPECT_EQ(sum_of(stats, "duplicates"), 7U);
  EXPECT_EQ(sum_of(stats, "empty"), 0U);
  EXPECT_EQ(sum_of_faults(stats), 8U);
}

TEST(demo_flags, are_read) {
  auto const read =
      parse_demo_options({"--count", "100", "--all", "--seed", "7", "--faults", "20", "--kills", "3", "--outage", "0s", "--work", "x"}, {});
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->count, 100U);
  EXPECT_TRUE(read->all);
  EXPECT_EQ(read->kills, 3U);
  EXPECT_EQ(read->fault_percent, 20U);
  EXPECT_EQ(read->outage, atone::duration::zero());
  EXPECT_EQ(read->work, "x");
}

TEST(demo_flags, mistakes_are_named) {
  for (auto const& [flag, value] : {std::pair{"--count", "0"}, std::pair{"--faults", "51"}, std::pair{"--seed", "x"},
                                    std::pair{"--outage", "soon"}, std::pair{"--in-flight", "0"}, std::pair{"--count", "1e3"}}) {
    auto const read = parse_demo_options({flag, value}, {});
    ASSERT_FALSE(read.has_value()) << flag;
    EXPECT_THAT(read.error().message, HasSubstr(flag));
  }
  EXPECT_THAT(parse_demo_options({"--nonsense", "1"}, {}).error().message, HasSubstr("--nonsense"));
  EXPECT_THAT(parse_demo_options({"--count"}, {}).error().message, HasSubstr("a value after it"));
}

TEST(demo_faults, add_up_to_the_percents_asked_for) {
  for (std::uint32_t const percent : {1U, 10U, 50U}) {
    auto const plan = kit::parse_faults(fault_flags(percent));
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    std::uint32_t sum = 0;
    for (auto const& each : plan->entries) {
      sum += each.rate;
      EXPECT_LE(each.delay, std::chrono::seconds{2});
    }
    EXPECT_EQ(sum, percent * 10'000);
  }
  EXPECT_EQ(fault_flags(0), "");
}

}  // namespace
}  // namespace demo
