#include "formats.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace atone::schema_detail;

void expect(bool (*holds)(std::string_view), std::vector<std::string> const& right, std::vector<std::string> const& wrong) {
  for (auto const& text : right) EXPECT_TRUE(holds(text)) << text;
  for (auto const& text : wrong) EXPECT_FALSE(holds(text)) << text;
}

TEST(formats, date) {
  expect(is_date, {"2026-11-30", "2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31"},
         {"", "2026-11-31", "2023-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-1-01", "26-01-01", "2026/01/01",
          "2026-01-01Z", " 2026-01-01", "2026-01-0a", "+026-01-01"});
}

TEST(formats, time) {
  expect(is_time,
         {"13:37:00Z", "00:00:00z", "23:59:59.999999999Z", "08:30:06.283185+01:30", "12:00:00-23:59", "23:59:60Z", "01:29:60+01:30",
          "15:59:60-08:00"},
         {"", "13:37:00", "13:37Z", "24:00:00Z", "13:60:00Z", "13:37:61Z", "13:37:00.Z", "13:37:00,5Z", "13:37:00+1:00", "13:37:00+24:00",
          "13:37:00+01:60", "13:37:60Z", "22:59:60+00:30", "1:37:00Z", "13-37-00Z", "13:37:00ZZ", "13:37:00.5"});
}

TEST(formats, date_time) {
  expect(is_date_time, {"2026-11-30T13:37:00Z", "2026-11-30t13:37:00.25-05:00", "1990-12-31T23:59:60Z"},
         {"", "2026-11-30", "2026-11-30 13:37:00Z", "2026-11-31T13:37:00Z", "2026-11-30T13:37:00", "2026-11-30T25:37:00Z", "T13:37:00Z"});
}

TEST(formats, uri) {
  expect(is_uri,
         {"https://example.org/a/b?c=d&e=%20#f", "http://user:secret@example.org:8080/", "http://[2001:db8::1]:80/x", "http://[v1.fe]/",
          "urn:isbn:0451450523", "mailto:ann@example.org", "file:///a", "a:", "tel:+1-816-555-1212",
          "ldap://[2001:db8::7]/c=GB?objectClass?one"},
         {"", "example.org", "/a/b", "//example.org/a", "1http://example.org", "http://example.org/a b", "http://example.org/%2",
          "http://[::1", "http://[1.2.3.4]/", "http://example.org:80a/", "http://a@b@c/", "http://example.org/\"", "http://example.org/<x>",
          "http://ü.org/", "http://example.org/#a#b", "ht tp://a", ":a", "http://example.org\\a"});
}

TEST(formats, email) {
  expect(is_email,
         {"ann@example.org", "a.b+c@example.org", "\"ann lee\"@example.org", "\"a\\\"b\"@example.org", "ann@[192.0.2.1]",
          "ann@[IPv6:2001:db8::1]", "!#$%&'*+-/=?^_`{|}~@example.org", "\"a@b\"@example.org"},
         {"", "ann", "@example.org", "ann@", ".ann@example.org", "ann.@example.org", "an..n@example.org", "ann lee@example.org",
          "ann@exa mple.org", "ann@-example.org", "\"ann@example.org", "\"a\"b\"@example.org", "\"a\\\"@example.org", "ann@[300.0.2.1]",
          "ann@[192.0.2.1", "ann@example.org\n", "änn@example.org", std::string(65, 'a') + "@example.org"});
}

TEST(formats, hostname) {
  expect(is_hostname, {"example.org", "localhost", "a-b.c1", "xn--4gbwdl.xn--wgbh1c", "1.2.3.4", std::string(63, 'a')},
         {"", ".", "a..b", "a.", ".a", "-a", "a-", "a_b", "a b", "ü.org", std::string(64, 'a'),
          std::string(63, 'a') + '.' + std::string(63, 'a') + '.' + std::string(63, 'a') + '.' + std::string(62, 'a')});
}

TEST(formats, ipv4) {
  expect(is_ipv4, {"0.0.0.0", "192.0.2.1", "255.255.255.255"},
         {"", "1.2.3", "1.2.3.4.5", "256.0.0.1", "1.2.3.04", "1.2.3.", ".1.2.3", "1..2.3", "0x7f.0.0.1", "1.2.3.4 ", "1.2.3.-4",
          "2130706433", "1.2.3.1000"});
}

TEST(formats, ipv6) {
  expect(is_ipv6,
         {"::", "::1", "1::", "2001:db8::1", "1:2:3:4:5:6:7:8", "::ffff:192.0.2.1", "1:2:3:4:5:6:1.2.3.4", "1::3:4:5:6:7:8", "ABCD::ef01"},
         {"", ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", "::1%eth0", "1:2:3:4:5:6:7::8:9", "1.2.3.4",
          "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "1.2.3.4::1", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", "1:2:3:4::5:6:7:8"});
}

TEST(formats, uuid) {
  expect(is_uuid, {"123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000000", "ABCDEF01-2345-6789-ABCD-EF0123456789"},
         {"", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400", "123e4567-e89b-12d3-a456-42661417400g",
          "{123e4567-e89b-12d3-a456-426614174000}", "123e4567-e89b-12d3-a456_426614174000"});
}

TEST(formats, json_pointer) {
  expect(is_json_pointer, {"", "/", "/a/b", "/a~0b/c~1d", "/ü", "//"}, {"a", "/a~", "/a~2", "#/a", "a/"});
}

TEST(formats, each_name_has_a_rule_whose_example_holds) {
  std::string_view names = format_names();
  std::size_t count = 0;
  while (!names.empty()) {
    auto const comma = names.find(", ");
    auto const name = names.substr(0, comma);
    auto const* rule = find_format(name);
    ASSERT_NE(rule, nullptr) << name;
    EXPECT_TRUE(rule->holds(rule->example)) << name;
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 2);
    ++count;
  }
  EXPECT_EQ(count, 10U);
}

}  // namespace
