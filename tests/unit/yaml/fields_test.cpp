// Fields: each kind of value with what it takes and what it refuses.
#include <atone/yaml/fields.hpp>

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml/keys.hpp"
#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

using namespace yaml;
using testing::HasSubstr;

// Reads `v: WRITTEN` with `how`, and keeps what was said.
template <class How>
auto read_value(std::string const& written, std::string& said, How how) {
  auto const tree = read("v: " + written + "\n");
  report out;
  auto value = how(spot{*tree.root.value().find("v"), "v"}, out);
  said.clear();
  for (auto const& one : out.take()) said += one.message + "|" + one.hint;
  return value;
}

std::string flag_said(std::string const& written) {
  std::string said;
  read_value(written, said, [](spot const& at, report& out) { return read_flag(at, out); });
  return said;
}

TEST(fields, flags_are_true_or_false) {
  std::string said;
  EXPECT_EQ(read_value("true", said, [](spot const& at, report& out) { return read_flag(at, out); }), true);
  EXPECT_EQ(read_value("false", said, [](spot const& at, report& out) { return read_flag(at, out); }), false);
  EXPECT_EQ(said, "");
  for (auto const* wrong : {"yes", "on", "1", "True", "[]", "{}", "null", "=true"})
    EXPECT_THAT(flag_said(wrong), HasSubstr("expected true or false")) << wrong;
  EXPECT_THAT(flag_said("'true'"), HasSubstr("without quotes"));
}

std::optional<std::int64_t> integer(std::string const& written, std::string& said) {
  return read_value(written, said, [](spot const& at, report& out) { return read_integer(at, 1, 100, out); });
}

TEST(fields, integers_are_decimal_and_in_range) {
  std::string said;
  EXPECT_EQ(integer("1", said), 1);
  EXPECT_EQ(integer("100", said), 100);
  for (auto const* wrong :
       {"0", "101", "-1", "1.0", "1e2", "010", "0x10", "1_0", "+5", "99999999999999999999", "ten", "''", "null", "[]", "'5'", "=5"}) {
    EXPECT_FALSE(integer(wrong, said)) << wrong;
    EXPECT_THAT(said, HasSubstr("expected a whole number from 1 to 100")) << wrong;
  }
  integer("010", said);
  EXPECT_THAT(said, HasSubstr("decimal digits only"));
  integer("'5'", said);
  EXPECT_THAT(said, HasSubstr("without quotes"));
}

TEST(fields, thousandths_keep_three_decimals) {
  auto const how = [](spot const& at, report& out) { return read_thousandths(at, 1000, 100'000, out); };
  std::string said;
  EXPECT_EQ(read_value("1", said, how), 1000);
  EXPECT_EQ(read_value("1.5", said, how), 1500);
  EXPECT_EQ(read_value("2.125", said, how), 2125);
  EXPECT_EQ(read_value("100", said, how), 100'000);
  for (auto const* wrong : {"0.999", "100.001", "1.2345", "-2", "-0.5", "1e1", "x", "'2'", "999999999999999999999", "[]"}) {
    EXPECT_FALSE(read_value(wrong, said, how)) << wrong;
    EXPECT_THAT(said, HasSubstr("expected a number from 1 to 100")) << wrong;
  }
}

std::optional<duration> a_duration(std::string const& written, std::string& said) {
  return read_value(written, said, [](spot const& at, report& out) { return read_duration(at, out); });
}

TEST(fields, durations_have_a_unit) {
  std::string said;
  EXPECT_EQ(a_duration("250ms", said), std::chrono::milliseconds{250});
  EXPECT_EQ(a_duration("'24h'", said), std::chrono::hours{24});
  EXPECT_EQ(a_duration("50d", said), std::chrono::hours{24 * 50});
  EXPECT_EQ(a_duration("3653d", said), duration_max);
  for (auto const* wrong : {"5", "0", "-5s", "1e3", "1.5s", "5 s", "5S", "s", "''", "0ms", "3654d", "[5s]", "{s: 5}", "null", "=input.x",
                            "99999999999999999999s", "010"}) {
    EXPECT_FALSE(a_duration(wrong, said)) << wrong;
    EXPECT_THAT(said, HasSubstr("duration")) << wrong;
  }
  a_duration("5", said);
  EXPECT_THAT(said, HasSubstr("the unit is missing"));
}

TEST(fields, names_are_lower_case_and_begin_with_a_letter) {
  auto const how = [](spot const& at, report& out) { return read_name(at, "an id", false, out); };
  std::string said;
  EXPECT_EQ(read_value("a-1", said, how), "a-1");
  EXPECT_EQ(read_value("'on'", said, how), "on");
  for (auto const* wrong : {"a_b", "A", "1a", "-a", "a b", "ä", "''", "123", "1.0", "true", "null", "yes", "[]", "=a", "a/b", "a.b"}) {
    EXPECT_FALSE(read_value(wrong, said, how)) << wrong;
    EXPECT_THAT(said, HasSubstr("expected an id")) << wrong;
  }
  auto const underscored = [](spot const& at, report& out) { return read_name(at, "an id", true, out); };
  EXPECT_EQ(read_value("a_b", said, underscored), "a_b");
}

TEST(fields, texts_are_not_numbers_nor_expressions) {
  auto const how = [](spot const& at, report& out) { return read_text(at, "a text", out); };
  std::string said;
  EXPECT_EQ(read_value("abc", said, how), "abc");
  EXPECT_EQ(read_value("'5'", said, how), "5");
  EXPECT_EQ(read_value("==x", said, how), "=x");
  for (auto const* wrong : {"5", "true", "null", "yes", "010", "[]", "{}", "=x"}) {
    EXPECT_FALSE(read_value(wrong, said, how)) << wrong;
    EXPECT_THAT(said, HasSubstr("expected a text")) << wrong;
  }
  read_value("=x", said, how);
  EXPECT_THAT(said, HasSubstr("not evaluated here"));
}

TEST(fields, words_come_with_the_nearest_one) {
  constexpr std::array words{std::string_view{"timeout"}, std::string_view{"refused"}};
  auto const how = [&](spot const& at, report& out) { return read_word(at, words, out); };
  std::string said;
  EXPECT_EQ(read_value("refused", said, how), 1U);
  EXPECT_FALSE(read_value("timeouts", said, how));
  EXPECT_THAT(said, HasSubstr("did you mean `timeout`?"));
  EXPECT_FALSE(read_value("[]", said, how));
  EXPECT_EQ(said, "found an empty list; expected one of timeout, refused|");
}

TEST(fields, missing_ones_are_told_at_the_map) {
  auto const tree = read("a:\n  b: 1\n");
  report out;
  spot const map{*tree.root->find("a"), "a"};
  EXPECT_TRUE(field(map, "b"));
  EXPECT_EQ(field(map, "b")->path, "a.b");
  EXPECT_FALSE(required_field(map, "c", "as in `c: 1`", out));
  auto const said = out.take();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(format(said[0], "f"), "f:2:3  a   `c` is missing\n    as in `c: 1`");
}

std::string keys_said(std::string const& map, key_table const& known) {
  auto const tree = read(map);
  report out;
  check_keys(spot{tree.root.value(), ""}, known, out);
  std::string text;
  for (auto const& one : out.take()) text += one.message + "|" + one.hint + "\n";
  return text;
}

TEST(fields, unknown_keys_come_with_a_suggestion) {
  EXPECT_EQ(keys_said("{id: a, call: b}", step_keys), "");
  EXPECT_THAT(keys_said("{retires: 1}", step_keys), HasSubstr("did you mean `retry`?"));
  EXPECT_THAT(keys_said("{compensat: 1}", step_keys), HasSubstr("did you mean `compensate`?"));
  EXPECT_THAT(keys_said("{pviot: 1}", step_keys), HasSubstr("did you mean `pivot`?"));
  EXPECT_THAT(keys_said("{jitter: full}", step_keys), HasSubstr("it belongs under `retry`"));
  EXPECT_THAT(keys_said("{max_age: 1h}", step_keys), HasSubstr("it belongs under `fallback`"));
  EXPECT_THAT(keys_said("{qqqqqq: 1}", retry_keys), HasSubstr("known keys: attempts, delay, factor, cap, jitter"));
}

TEST(fields, later_keys_are_not_called_unknown) {
  EXPECT_EQ(keys_said("{tcc: {}}", step_keys), "`tcc` is not yet supported in this version|what works now: call, sql, parallel, fail\n");
  EXPECT_EQ(keys_said("{kafka: main}", service_keys),
            "`kafka` is not yet supported in this version|what works now: http, local, in_flight, barrier\n");
}

}  // namespace
}  // namespace atone::yaml_test
