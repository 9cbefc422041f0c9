#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <atone/http.hpp>

#include "http/request_text.hpp"
#include "http/text.hpp"

namespace atone::http {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(header_list, compares_names_without_case) {
  header_list fields;
  fields.add("Content-Type", "text/plain");
  fields.add("X", "1");
  fields.add("x", "2");
  EXPECT_EQ(fields.get("content-TYPE"), "text/plain");
  EXPECT_EQ(fields.get("X"), "1") << "the first one";
  EXPECT_EQ(fields.get("Content"), "");
  EXPECT_TRUE(fields.has("CONTENT-type"));
  EXPECT_FALSE(fields.has("Content-Type "));
  EXPECT_EQ(fields.all().size(), 3u);
}

TEST(http_text, names_compare_in_ascii_only) {
  EXPECT_TRUE(same_name("ETag", "etag"));
  EXPECT_FALSE(same_name("\xc3\x89tag", "\xc3\xa9tag"));
  EXPECT_FALSE(same_name("[", "{")) << "only letters have a case";
}

origin make_origin(std::string host, std::uint16_t port) {
  origin made;
  made.host = std::move(host);
  made.port = port;
  return made;
}

TEST(request_text, is_one_text_with_host_and_length) {
  request what;
  what.method = "POST";
  what.target = "/orders?x=1";
  what.headers.add("Atone-Saga", "S");
  what.body = "{\"a\":1}";
  auto to = make_origin("127.0.0.1", 7001);
  to.prefix = "/base";
  EXPECT_EQ(request_text(to, what).text,
            "POST /base/orders?x=1 HTTP/1.1\r\nHost: 127.0.0.1:7001\r\nAtone-Saga: S\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
}

TEST(request_text, names_the_port_only_where_it_is_not_the_schemes_own) {
  EXPECT_THAT(request_text(make_origin("h", 80), {}).text, HasSubstr("Host: h\r\n"));
  auto secure = make_origin("h", 443);
  secure.tls = true;
  EXPECT_THAT(request_text(secure, {}).text, HasSubstr("Host: h\r\n"));
  EXPECT_THAT(request_text(make_origin("::1", 81), {}).text, HasSubstr("Host: [::1]:81\r\n"));
}

TEST(request_text, says_the_length_of_an_empty_body_where_one_is_expected) {
  request what;
  what.method = "PUT";
  EXPECT_THAT(request_text(make_origin("h", 80), what).text, HasSubstr("Content-Length: 0\r\n"));
  what.method = "GET";
  EXPECT_THAT(request_text(make_origin("h", 80), what).text, Not(HasSubstr("Content-Length")));
}

TEST(request_text, does_not_let_the_caller_frame_the_message) {
  request what;
  what.method = "POST";
  what.body = "abc";
  what.headers.add("content-length", "1");
  what.headers.add("Transfer-Encoding", "chunked");
  auto const made = request_text(make_origin("h", 80), what).text;
  EXPECT_THAT(made, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_THAT(made, Not(HasSubstr("content-length")));
  EXPECT_THAT(made, Not(HasSubstr("chunked")));
}

TEST(request_text, refuses_what_would_break_out_of_its_line) {
  auto const to = make_origin("h", 80);
  request what;
  what.headers.add("X", "a\r\nEvil: yes");
  auto made = request_text(to, what);
  ASSERT_TRUE(made.wrong);
  EXPECT_THAT(made.wrong->message, HasSubstr("value of header X"));
  EXPECT_THAT(made.wrong->message, Not(HasSubstr("\n")));

  request name;
  name.headers.add("X y", "a");
  EXPECT_TRUE(request_text(to, name).wrong);
  for (auto const* target : {"", "no-slash", "/a b", "/a\r\nX: y"}) {
    request aimed;
    aimed.target = target;
    EXPECT_TRUE(request_text(to, aimed).wrong) << target;
  }
  request method;
  method.method = "GET /";
  EXPECT_TRUE(request_text(to, method).wrong);
}

TEST(request_writer, writes_the_bytes_of_the_same_request) {
  auto const to = make_origin("h", 81);
  request what;
  what.method = "POST";
  what.target = "/t";
  what.headers.add("X-Long", std::string(300, 'v'));
  what.headers.add("X-Number", "18446744073709551615");
  what.body = "{}";
  request_writer piecewise{to, "POST", "/t", 1};
  piecewise.field("X-Long", std::string(300, 'v')).field("X-Number", std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(piecewise.end("{}").text, request_text(to, what).text);
}

TEST(request_writer, keeps_the_first_thing_wrong_and_no_text) {
  auto const made = request_writer{make_origin("h", 80), "POST", "/", 64}.field("X", "a\nb").field("Y Z", "c").end("{}");
  ASSERT_TRUE(made.wrong);
  EXPECT_THAT(made.wrong->message, HasSubstr("value of header X"));
  EXPECT_EQ(made.text, "");
}

// Each place of a control character in a value, whatever stands around it.
TEST(request_writer, finds_a_control_character_anywhere) {
  auto const to = make_origin("h", 80);
  for (std::size_t size = 1; size < 20; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int code = 0; code < 256; ++code) {
        std::string value(size, '\x80');
        value[at] = static_cast<char>(code);
        bool const control = (code < 0x20 && code != '\t') || code == 0x7f;
        auto const made = request_writer{to, "GET", "/", 64}.field("X", value).end("");
        ASSERT_EQ(made.wrong.has_value(), control) << "byte " << code << " at " << at << " of " << size;
      }
    }
  }
}

answer_form plain_form() {
  answer_form form;
  form.date = "D";
  return form;
}

TEST(response_text, is_framed_by_length) {
  EXPECT_EQ(response_text(response{200, "{}"}, plain_form()),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: D\r\nContent-Length: 2\r\n\r\n{}");
}

TEST(response_text, of_head_has_the_length_but_not_the_body) {
  auto form = plain_form();
  form.head = true;
  auto const made = response_text(response{200, "{}"}, form);
  EXPECT_THAT(made, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_TRUE(made.ends_with("\r\n\r\n"));
}

TEST(response_text, of_204_and_304_has_neither_length_nor_body) {
  for (auto const status : {204, 304}) {
    auto const made = response_text(response{status, "ignored"}, plain_form());
    EXPECT_THAT(made, Not(HasSubstr("Content-Length"))) << status;
    EXPECT_TRUE(made.ends_with("\r\n\r\n")) << status;
  }
}

TEST(response_text, a_value_from_outside_cannot_write_headers) {
  response what;
  what.headers.add("Location", "/a\r\nSet-Cookie: x");
  what.headers.add("Bad Name", "x");
  what.headers.add("Connection", "keep-alive");
  auto form = plain_form();
  form.close = true;
  auto const made = response_text(what, form);
  EXPECT_THAT(made, HasSubstr("Location: /a  Set-Cookie: x\r\n"));
  EXPECT_THAT(made, Not(HasSubstr("Bad Name")));
  EXPECT_THAT(made, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(made, Not(HasSubstr("keep-alive")));
}

}  // namespace
}  // namespace atone::http
