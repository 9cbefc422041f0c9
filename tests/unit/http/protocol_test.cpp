// The table of answers: the code, and the page that prints it, say the same.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <atone/participant_protocol.hpp>

namespace atone {
namespace {

using namespace std::chrono_literals;

std::string cell(std::string const& row, std::size_t which) {
  std::istringstream in{row};
  std::string part;
  for (std::size_t at = 0; at <= which; ++at) std::getline(in, part, '|');
  auto const from = part.find_first_not_of(" `");
  auto const to = part.find_last_not_of(" `");
  return from == std::string::npos ? std::string{} : part.substr(from, to - from + 1);
}

// The rows of the table under `heading` in docs/participants.md, without head and ruler.
std::vector<std::string> rows_under(std::string const& heading) {
  std::ifstream page{ATONE_SOURCE_DIR "/docs/participants.md"};
  std::vector<std::string> rows;
  std::string line;
  while (std::getline(page, line) && line != heading) {
  }
  while (std::getline(page, line) && !line.starts_with("#")) {
    if (line.starts_with("|")) rows.push_back(line);
  }
  if (rows.size() > 2) rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

std::vector<std::int32_t> statuses_of(std::string const& text) {
  std::vector<std::int32_t> made;
  std::istringstream in{text};
  std::string part;
  while (std::getline(in, part, ',')) {
    int low = 0;
    int high = 0;
    auto const count = std::sscanf(part.c_str(), " %d-%d", &low, &high);
    if (count == 1) high = low;
    for (int status = low; count > 0 && status <= high; ++status) made.push_back(status);
  }
  return made;
}

TEST(answers_table, in_the_documents_says_what_the_code_does) {
  std::map<std::int32_t, std::string> documented;
  for (auto const& row : rows_under("### By status")) {
    for (auto const status : statuses_of(cell(row, 1))) {
      EXPECT_TRUE(documented.emplace(status, cell(row, 2)).second) << status << " stands twice";
    }
  }
  for (std::int32_t status = 200; status <= 599; ++status) {
    EXPECT_EQ(documented[status], name(classify_status(status))) << status;
  }
}

TEST(answers_table, in_the_documents_names_every_transport_failure) {
  std::map<std::string, std::string> documented;
  for (auto const& row : rows_under("### Without an answer")) documented[cell(row, 1)] = cell(row, 2);
  for (auto const failure : {transport_failure::connect, transport_failure::lost, transport_failure::timeout, transport_failure::malformed,
                             transport_failure::breaker_open}) {
    EXPECT_EQ(documented[std::string{name(failure)}], name(certainty_of(failure))) << name(failure);
  }
  EXPECT_EQ(documented.size(), 5u);
}

TEST(classify_status, what_is_no_final_status_is_unknown) {
  for (auto const status : {-1, 0, 99, 100, 101, 199, 600, 999}) {
    EXPECT_EQ(classify_status(status), answer_class::transient_unknown) << status;
  }
}

TEST(certainty_of, only_what_never_left_is_not_done) {
  EXPECT_EQ(certainty_of(transport_failure::none), certainty::none);
  EXPECT_EQ(certainty_of(transport_failure::connect), certainty::not_done);
  EXPECT_EQ(certainty_of(transport_failure::breaker_open), certainty::not_done);
  EXPECT_EQ(certainty_of(transport_failure::lost), certainty::unknown);
}

TEST(parse_retry_after, reads_seconds) {
  EXPECT_EQ(parse_retry_after("0", ""), 0s);
  EXPECT_EQ(parse_retry_after("120", ""), 120s);
  EXPECT_EQ(parse_retry_after(" 7 ", ""), 7s);
}

TEST(parse_retry_after, is_capped_at_an_hour) {
  EXPECT_EQ(parse_retry_after("3600", ""), 1h);
  EXPECT_EQ(parse_retry_after("3601", ""), 1h);
  EXPECT_EQ(parse_retry_after("99999999999999999999999", ""), 1h);
}

TEST(parse_retry_after, reads_a_date_against_the_answers_own_clock) {
  auto const date = "Sun, 06 Nov 1994 08:49:37 GMT";
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:07 GMT", date), 30s);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:00 GMT", date), 0s) << "the past is now";
  EXPECT_EQ(parse_retry_after("Mon, 07 Nov 1994 08:49:37 GMT", date), 1h);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:07 GMT", ""), std::nullopt) << "our clock does not decide";
}

TEST(parse_retry_after, gives_nothing_for_what_it_cannot_read) {
  for (auto const* text : {"", " ", "soon", "-1", "1.5", "1s", "0x10", "1 2"}) EXPECT_EQ(parse_retry_after(text, ""), std::nullopt) << text;
}

}  // namespace
}  // namespace atone
