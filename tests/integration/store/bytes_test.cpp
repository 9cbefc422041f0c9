// What came from outside comes back byte for byte; events come back in order.
#include <algorithm>
#include <limits>

#include "store_suite.hpp"

namespace atone::test {
namespace {

std::string all_bytes() {
  std::string bytes;
  for (int value = 0; value < 256; ++value) bytes += static_cast<char>(value);
  return bytes;
}

TEST_P(store_suite, payloads_keep_every_byte) {
  std::vector<std::string> const payloads{"",
                                          all_bytes(),
                                          std::string(3, '\0'),
                                          R"({"a":-0,"b":1E400,"c":0.10,"d":9007199254740993})",
                                          "\"\\u0000\"",
                                          "{ \"b\" : 1 , \"a\" : 2 }\n",
                                          "\xEF\xBB\xBF{}",
                                          "\xC3\x28"};
  auto batch = starting(1);
  for (std::uint32_t number = 0; number < payloads.size(); ++number) batch.records.push_back(record_of(1, number + 2, payloads[number]));
  EXPECT_FINE(commit(batch));
  auto const events = MUST(reader_->history(numbered(1)));
  ASSERT_EQ(events.size(), payloads.size() + 1);
  for (std::size_t place = 0; place < payloads.size(); ++place) EXPECT_EQ(events[place + 1].payload, payloads[place]) << place;
}

TEST_P(store_suite, a_payload_of_a_mebibyte_comes_back) {
  std::string large;
  while (large.size() < 1024 * 1024) large += all_bytes();
  auto batch = starting(1);
  batch.records.push_back(record_of(1, 2, large));
  EXPECT_FINE(commit(batch));
  EXPECT_EQ(MUST(reader_->history(numbered(1)))[1].payload, large);
  auto const open = load_open(*writer_);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].events[1].payload, large);
}

TEST_P(store_suite, outputs_keep_every_byte_of_their_json) {
  std::string const output = R"({ "x" : 1.50, "big":9007199254740993, "e": 1E400, "neg": -0, "text": "Zürich \u0000 " })";
  auto batch = starting(1);
  auto change = change_of(1, saga_status::completed, 1);
  change.row.output = output;
  batch.changes.push_back(change);
  batch.outputs.push_back(output_of(1, "user-1", output));
  EXPECT_FINE(commit(batch));
  EXPECT_EQ(MUST(reader_->find(numbered(1)))->output, output);
  EXPECT_EQ(MUST(reader_->last_output("order-placed", step_path{"features"}, "user-1"))->output, output);
}

TEST_P(store_suite, every_field_of_an_event_comes_back) {
  auto batch = starting(1);
  batch.records.push_back(record_of(1, 2));
  auto extreme = record_of(1, 3);
  extreme.event.random = std::numeric_limits<std::uint64_t>::max();
  extreme.event.retry_after = duration_max;
  extreme.event.status = 599;
  extreme.event.n = attempt{2'000'000'000};
  extreme.event.kind = event_kind::parked;
  extreme.event.timer = timer_kind::deadline;
  extreme.event.op = operation::fallback;
  extreme.event.sureness = certainty::not_done;
  extreme.event.step = step_path{std::string(step_path::size_max, 's')};
  batch.records.push_back(extreme);
  EXPECT_FINE(commit(batch));
  auto const events = MUST(reader_->history(numbered(1)));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1], record_of(1, 2).event);
  EXPECT_EQ(events[2], extreme.event);
}

TEST_P(store_suite, events_come_back_in_order_whatever_order_they_went_in) {
  auto batch = starting(1);
  for (std::uint32_t seq : {4u, 2u, 3u}) batch.records.push_back(record_of(1, seq));
  EXPECT_FINE(commit(batch));
  EXPECT_FINE(commit(recording(1, 5)));
  auto const events = MUST(reader_->history(numbered(1)));
  ASSERT_EQ(events.size(), 5u);
  for (std::uint32_t place = 0; place < 5; ++place) EXPECT_EQ(events[place].seq.value(), place + 1);
}

TEST_P(store_suite, an_event_written_twice_is_bad_data_and_leaves_nothing) {
  EXPECT_FINE(commit(starting(1)));
  auto batch = starting(2);
  batch.records.push_back(record_of(1, 1, "forged"));
  EXPECT_REFUSED(errc::bad_data, commit(batch));
  EXPECT_FALSE(MUST(reader_->find(numbered(2))));
  EXPECT_EQ(MUST(reader_->history(numbered(1)))[0].payload, record_of(1, 1).event.payload);
}

TEST_P(store_suite, a_saga_started_twice_is_bad_data_and_leaves_nothing) {
  EXPECT_FINE(commit(starting(1)));
  auto batch = starting(2);
  batch.starts.push_back(start_of(1));
  EXPECT_REFUSED(errc::bad_data, commit(batch));
  EXPECT_FALSE(MUST(reader_->find(numbered(2))));
}

TEST_P(store_suite, a_change_of_a_saga_that_was_never_started_is_bad_data) {
  journal_batch batch;
  batch.changes.push_back(change_of(9, saga_status::parked, 3));
  EXPECT_REFUSED(errc::bad_data, commit(batch));
}

TEST_P(store_suite, event_zero_is_bad_data) {
  EXPECT_REFUSED(errc::bad_data, commit(recording(1, 0)));
}

TEST_P(store_suite, more_records_than_a_batch_may_hold_are_refused) {
  journal_batch batch;
  for (std::uint32_t seq = 1; seq <= journal_batch::records_max + 1; ++seq) batch.records.push_back(record_of(1, seq));
  EXPECT_REFUSED(errc::exhausted, commit(batch));
  batch.records.pop_back();
  EXPECT_FINE(commit(batch));
}

}  // namespace
}  // namespace atone::test
