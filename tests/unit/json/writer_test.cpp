#include <gtest/gtest.h>

#include <limits>

#include <atone/json.hpp>

namespace atone::json {
namespace {

std::string as_json_string(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

TEST(json_writer, nests) {
  writer out;
  out.begin_object();
  out.key("a").begin_array().number(std::int64_t{1}).null().begin_object().end_object().string("x").end_array();
  out.key("b").boolean(true).key("c").begin_array().end_array().key("d").raw("1E400");
  out.end_object();
  EXPECT_EQ(out.take(), R"({"a":[1,null,{},"x"],"b":true,"c":[],"d":1E400})");
}

TEST(json_writer, is_empty_again_after_take) {
  writer out;
  out.begin_array().begin_array().end_array().begin_array().end_array().end_array();
  EXPECT_EQ(out.take(), "[[],[]]");
  EXPECT_EQ(out.boolean(false).take(), "false");
  EXPECT_EQ(out.begin_object().key("k").string("v").end_object().take(), R"({"k":"v"})");
}

TEST(json_writer, numbers_read_back_the_same) {
  writer out;
  out.begin_array();
  out.number(std::numeric_limits<std::int64_t>::min()).number(std::numeric_limits<std::uint64_t>::max());
  out.number(0.1).number(-0.0).number(1e300).number(5e-324).end_array();
  auto const text = out.take();
  auto const read = parse(text);
  ASSERT_TRUE(read) << text;
  EXPECT_EQ(read->at(0)->as_int64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(read->at(1)->as_uint64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(read->at(2)->as_double(), 0.1);
  EXPECT_EQ(read->at(3)->raw(), "-0");
  EXPECT_EQ(read->at(4)->as_double(), 1e300);
  EXPECT_EQ(read->at(5)->as_double(), 5e-324);
}

TEST(json_writer, strings_escape_what_must_be) {
  EXPECT_EQ(as_json_string("a\"\\/\b\f\n\r\t\x01\x1f\x7f"), "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
  EXPECT_EQ(as_json_string("é€😀"), "\"é€😀\"");
  EXPECT_EQ(as_json_string(std::string_view{"\0", 1}), "\"\\u0000\"");
}

TEST(json_writer, bytes_that_are_no_utf8_are_replaced) {
  EXPECT_EQ(as_json_string("a\xFF"), "\"a\xEF\xBF\xBD\"");
  EXPECT_EQ(as_json_string("\xC3"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(as_json_string("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(json_writer, every_string_reads_back) {
  std::string all;
  for (char character = 0; character < 127; ++character) all += character;
  auto const read = parse(as_json_string(all));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->as_string(), all);
}

TEST(json_writer_death, misuse_aborts) {
  EXPECT_DEATH(writer{}.begin_object().null(), "broken invariant");
  EXPECT_DEATH(writer{}.key("a"), "broken invariant");
  EXPECT_DEATH(writer{}.null().null(), "broken invariant");
  EXPECT_DEATH(writer{}.begin_array().end_object(), "broken invariant");
  EXPECT_DEATH(writer{}.begin_object().key("a").end_object(), "broken invariant");
  EXPECT_DEATH(static_cast<void>(writer{}.begin_array().take()), "broken invariant");
  EXPECT_DEATH(writer{}.number(std::numeric_limits<double>::infinity()), "broken invariant");
}

}  // namespace
}  // namespace atone::json
