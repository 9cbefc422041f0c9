#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/http.hpp>
#include <atone/percent.hpp>

namespace atone::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(parse_origin, reads_scheme_host_port_and_base) {
  auto const made = parse_origin("http://127.0.0.1:7001/base/");
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->tls);
  EXPECT_EQ(made->host, "127.0.0.1");
  EXPECT_EQ(made->port, 7001);
  EXPECT_EQ(made->prefix, "/base");
}

TEST(parse_origin, fills_in_the_port_of_the_scheme) {
  EXPECT_EQ(parse_origin("http://orders").value().port, 80);
  EXPECT_EQ(parse_origin("HTTPS://orders/").value().port, 443);
  EXPECT_TRUE(parse_origin("https://orders").value().tls);
}

TEST(parse_origin, takes_brackets_off_an_ipv6_address) {
  auto const made = parse_origin("http://[::1]:8080");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->host, "::1");
  EXPECT_EQ(made->port, 8080);
  EXPECT_EQ(parse_origin("http://[fe80::1]").value().port, 80);
}

struct bad_url {
  char const* url;
  char const* why;
};

class parse_origin_refuses : public testing::TestWithParam<bad_url> {};

TEST_P(parse_origin_refuses, and_says_why) {
  auto const made = parse_origin(GetParam().url);
  ASSERT_FALSE(made) << GetParam().url;
  EXPECT_EQ(made.error().code, errc::invalid_argument);
  EXPECT_THAT(made.error().message, HasSubstr(GetParam().why));
  EXPECT_THAT(made.error().message, HasSubstr("expected http://HOST"));
}

INSTANTIATE_TEST_SUITE_P(urls, parse_origin_refuses,
                         testing::Values(bad_url{"127.0.0.1:7001", "no scheme"}, bad_url{"", "no scheme"},
                                         bad_url{"ftp://orders", "neither http nor https"}, bad_url{"http://", "host can't be read"},
                                         bad_url{"http://:80", "host can't be read"}, bad_url{"http://[::1", "host can't be read"},
                                         bad_url{"http://[::1]x", "host can't be read"}, bad_url{"http://a b", "host can't be read"},
                                         bad_url{"http://orders:", "port is not a number"}, bad_url{"http://orders:0", "port is not"},
                                         bad_url{"http://orders:65536", "port is not"}, bad_url{"http://orders:80x", "port is not"},
                                         bad_url{"http://orders:-1", "port is not"}, bad_url{"http://me:secret@orders", "user name"},
                                         bad_url{"http://orders/a?b=c", "query or a fragment"},
                                         bad_url{"http://orders#x", "query or a fragment"},
                                         bad_url{"http://orders/a b", "space or a control"}));

TEST(parse_origin, keeps_a_password_out_of_the_message) {
  EXPECT_THAT(parse_origin("http://me:secret@orders").error().message, testing::Not(HasSubstr("secret")));
}

TEST(parse_origin, refuses_what_is_too_long_without_repeating_it) {
  auto const made = parse_origin("http://" + std::string(5000, 'a'));
  ASSERT_FALSE(made);
  EXPECT_LT(made.error().message.size(), 300u);
}

TEST(percent_encoding, keeps_only_unreserved_characters) {
  EXPECT_EQ(percent_encode("aZ0-._~"), "aZ0-._~");
  EXPECT_EQ(percent_encode("a/b c?d%"), "a%2Fb%20c%3Fd%25");
  EXPECT_EQ(percent_encode("\xc3\xa9"), "%C3%A9");
}

TEST(percent_encoding, is_undone_by_decoding_for_every_byte) {
  std::string all;
  for (int code = 0; code < 256; ++code) all += static_cast<char>(code);
  EXPECT_EQ(percent_decode(percent_encode(all)), all);
}

TEST(percent_decoding, refuses_broken_escapes) {
  EXPECT_FALSE(percent_decode("%"));
  EXPECT_FALSE(percent_decode("a%2"));
  EXPECT_FALSE(percent_decode("%zz"));
  EXPECT_FALSE(percent_decode("%2%20"));
  EXPECT_EQ(percent_decode("%2f"), "/");
}

TEST(parse_target, splits_path_and_decoded_query) {
  auto const made = parse_target("/v1/sagas/order%20placed?wait=30s&key=a%26b&flag&x=1+2");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->path, "/v1/sagas/order%20placed") << "segments are decoded by whoever splits the path";
  EXPECT_THAT(made->query, ElementsAre(Pair("wait", "30s"), Pair("key", "a&b"), Pair("flag", ""), Pair("x", "1 2")));
}

TEST(parse_target, keeps_repeated_parameters_in_order) {
  EXPECT_THAT(parse_target("/?a=1&a=2&&b").value().query, ElementsAre(Pair("a", "1"), Pair("a", "2"), Pair("b", "")));
}

TEST(parse_target, refuses_what_is_not_a_path) {
  EXPECT_FALSE(parse_target(""));
  EXPECT_FALSE(parse_target("*"));
  EXPECT_FALSE(parse_target("http://elsewhere/"));
  EXPECT_FALSE(parse_target("/a b"));
  EXPECT_FALSE(parse_target("/?a=%"));
}

}  // namespace
}  // namespace atone::http
