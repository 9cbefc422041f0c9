// The lean readers without a socket: the same bytes in every cut give the same message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "http/readers.hpp"

namespace atone::http {
namespace {

using testing::HasSubstr;

constexpr read_limits small{1024, 4096};

// Feeds `text` in pieces of `size` bytes, as a socket might bring it; returns the state at the end.
template <class Reader>
read_state feed_in_pieces(Reader& reader, std::string const& text, std::size_t size, std::string& rest) {
  std::string buffer;
  read_progress progress;
  std::size_t at = 0;
  while (at < text.size() && progress.state == read_state::need_more) {
    buffer += text.substr(at, size);
    at += size;
    progress = reader.feed(buffer);
    buffer.erase(0, progress.consumed);
  }
  rest = at < text.size() ? buffer + text.substr(at) : buffer;
  return progress.state;
}

std::string const chunked_answer =
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nRetry-After: 7\r\nX-Other: y\r\n\r\n"
    "5;name=value\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: ignored\r\n\r\n";

TEST(response_reader, reads_a_chunked_answer_in_any_cut_and_passes_over_interim_ones) {
  for (std::size_t size = 1; size <= chunked_answer.size(); ++size) {
    response_reader reader{small, false};
    reader.begin(false);
    std::string rest;
    ASSERT_EQ(feed_in_pieces(reader, chunked_answer, size, rest), read_state::done) << "pieces of " << size << ": " << reader.problem();
    EXPECT_TRUE(rest.empty());
    EXPECT_TRUE(reader.keep_alive());
    auto const made = reader.take();
    EXPECT_EQ(made.status, 200);
    EXPECT_EQ(made.body, "hello world");
    EXPECT_EQ(made.headers.get("retry-after"), "7");
    EXPECT_FALSE(made.headers.has("X-Other")) << "only what is looked at is kept";
    EXPECT_FALSE(made.headers.has("Trailer"));
  }
}

TEST(response_reader, keeps_every_header_when_told_to) {
  response_reader reader{small, true};
  reader.begin(false);
  EXPECT_EQ(reader.feed("HTTP/1.1 200 OK\r\nX-Other: y\r\nContent-Length: 0\r\n\r\n").state, read_state::done);
  EXPECT_EQ(reader.take().headers.get("x-other"), "y");
}

TEST(response_reader, answers_without_a_body_end_at_their_header) {
  for (auto const* text : {"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"}) {
    response_reader reader{small, false};
    reader.begin(false);
    EXPECT_EQ(reader.feed(text).state, read_state::done) << text;
    EXPECT_EQ(reader.take().body, "");
  }
  response_reader reader{small, false};
  reader.begin(true);
  EXPECT_EQ(reader.feed("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n").state, read_state::done) << "it answers HEAD";
}

TEST(response_reader, a_body_without_length_ends_with_the_connection) {
  response_reader reader{small, false};
  reader.begin(false);
  EXPECT_EQ(reader.feed("HTTP/1.1 200 OK\r\n\r\nabc").state, read_state::need_more);
  EXPECT_EQ(reader.end(), read_state::done);
  EXPECT_FALSE(reader.keep_alive());
  EXPECT_EQ(reader.take().body, "abc");
}

TEST(response_reader, an_answer_cut_short_has_failed) {
  for (auto const* text : {"HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", ""}) {
    response_reader reader{small, false};
    reader.begin(false);
    EXPECT_EQ(reader.feed(text).state, read_state::need_more) << text;
    EXPECT_EQ(reader.end(), read_state::failed) << text;
  }
}

TEST(response_reader, leaves_what_comes_after_the_answer) {
  response_reader reader{small, false};
  reader.begin(false);
  std::string const text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabcd";
  auto const progress = reader.feed(text);
  EXPECT_EQ(progress.state, read_state::done);
  EXPECT_EQ(text.substr(progress.consumed), "cd");
}

class response_reader_refuses : public testing::TestWithParam<std::string> {};

TEST_P(response_reader_refuses, with_a_reason) {
  response_reader reader{small, false};
  reader.begin(false);
  EXPECT_EQ(reader.feed(GetParam()).state, read_state::failed) << GetParam().substr(0, 80);
  EXPECT_FALSE(reader.problem().empty());
}

std::string many_interim_answers() {
  std::string text;
  for (int n = 0; n < 40; ++n) text += "HTTP/1.1 100 Continue\r\n\r\n";
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    answers, response_reader_refuses,
    testing::Values("garbage\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 099 Low\r\n\r\n",
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 200 OK\r\nBad Header: x\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2000\r\n", "HTTP/1.1 200 OK\r\n\r\n" + std::string(5000, 'x'),
                    "HTTP/1.1 200 OK\r\nX: " + std::string(3000, 'x'), many_interim_answers(),
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(9000, 'x')));

TEST(request_reader, reads_pipelined_requests_in_any_cut) {
  std::string const text =
      "\r\nPOST /a?b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
      "\r\nPURGE /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nd\r\n0\r\n\r\n";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    request_reader reader{small};
    std::string rest;
    ASSERT_EQ(feed_in_pieces(reader, text, size, rest), read_state::done) << size << reader.problem();
    auto const first = reader.take();
    EXPECT_EQ(first.method + first.target + first.body, "POST/a?babc");
    reader.begin();
    std::string end;
    ASSERT_EQ(feed_in_pieces(reader, rest, size, end), read_state::done) << size << reader.problem();
    auto const second = reader.take();
    EXPECT_EQ(second.method + second.target + second.body, "PURGE/cd");
    EXPECT_TRUE(end.empty());
  }
}

struct refused_request {
  std::string text;
  std::int32_t status;
};

class request_reader_refuses : public testing::TestWithParam<refused_request> {};

TEST_P(request_reader_refuses, with_the_right_status) {
  request_reader reader{small};
  EXPECT_EQ(reader.feed(GetParam().text).state, read_state::failed) << GetParam().text.substr(0, 80);
  EXPECT_EQ(reader.status(), GetParam().status) << reader.problem();
  EXPECT_FALSE(reader.problem().empty());
}

INSTANTIATE_TEST_SUITE_P(requests, request_reader_refuses,
                         testing::Values(refused_request{"garbage\r\n\r\n", 400}, refused_request{"GET / HTTP/3.0\r\n\r\n", 505},
                                         refused_request{"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
                                         refused_request{"POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", 400},
                                         refused_request{"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
                                         refused_request{"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
                                         refused_request{"POST / HTTP/1.1\r\nContent-Length: 4097\r\n\r\n", 413},
                                         refused_request{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1001\r\n", 413},
                                         refused_request{"GET / HTTP/1.1\r\nX: " + std::string(2000, 'x') + "\r\n\r\n", 431},
                                         refused_request{"GET /" + std::string(2000, 'x') + " HTTP/1.1\r\n\r\n", 431},
                                         refused_request{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(9000, 'x'),
                                                         431},
                                         refused_request{"POST / HTTP/1.1\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n", 417}));

TEST(request_reader, says_once_that_a_continue_is_waited_for) {
  request_reader reader{small};
  reader.feed("POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_TRUE(reader.take_expectation());
  EXPECT_FALSE(reader.take_expectation());
  EXPECT_EQ(reader.feed("abc").state, read_state::done);
}

TEST(request_reader, no_continue_for_a_body_that_is_there_already) {
  request_reader reader{small};
  EXPECT_EQ(reader.feed("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc").state, read_state::done);
  EXPECT_FALSE(reader.take_expectation());
}

TEST(request_reader, http_1_0_ends_its_connection_unless_it_asks_to_keep_it) {
  request_reader reader{small};
  EXPECT_EQ(reader.feed("GET / HTTP/1.0\r\n\r\n").state, read_state::done);
  EXPECT_FALSE(reader.keep_alive());
  reader.begin();
  EXPECT_EQ(reader.feed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").state, read_state::done);
  EXPECT_TRUE(reader.keep_alive());
}

// Valid messages with some bytes changed, cut anywhere: whatever comes, the readers end in a state and hold their bounds.
TEST(readers, survive_changed_bytes) {
  std::mt19937 random{20261130};
  std::string const requests =
      "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = round % 2 == 0 ? chunked_answer : requests;
    auto const changes = random() % 4;
    for (unsigned n = 0; n <= changes; ++n) text[random() % text.size()] = static_cast<char>(random());
    auto const size = 1 + random() % text.size();
    std::string rest;
    if (round % 2 == 0) {
      response_reader reader{small, true};
      reader.begin(false);
      if (feed_in_pieces(reader, text, size, rest) == read_state::need_more) (void)reader.end();
    } else {
      request_reader reader{small};
      (void)feed_in_pieces(reader, text, size, rest);
    }
    ASSERT_LE(rest.size(), text.size());
  }
}

}  // namespace
}  // namespace atone::http
