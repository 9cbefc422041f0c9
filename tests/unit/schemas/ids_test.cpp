// Ids and digests are stored and sent: their texts are pinned here.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <unordered_set>

#include <atone/ids.hpp>

namespace atone {
namespace {

saga_id id_of(std::initializer_list<int> bytes) {
  saga_id::bytes raw{};
  std::size_t at = 0;
  for (int const byte : bytes) raw[at++] = static_cast<std::uint8_t>(byte);
  return saga_id{raw};
}

saga_id random_id(std::mt19937_64& random) {
  saga_id::bytes raw{};
  for (auto& byte : raw) byte = static_cast<std::uint8_t>(random());
  return saga_id{raw};
}

TEST(saga_id, golden_texts) {
  EXPECT_EQ(saga_id{}.text(), "00000000000000000000000000");
  EXPECT_EQ(id_of({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}).text(), "00000000000000000000000001");
  EXPECT_EQ(id_of({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32}).text(), "00000000000000000000000010");
  EXPECT_EQ(id_of({255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}).text(), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  EXPECT_EQ(id_of({0x01, 0x93, 0x4f, 0x42, 0xd0, 0x17, 0xd9, 0x5a, 0x7a, 0x1c, 0x55, 0x1e, 0x1d, 0x52, 0x2f, 0xc3}).text(),
            "01JD7M5M0QV5D7M72N3REN4BY3");
}

TEST(saga_id, text_reads_back) {
  std::mt19937_64 random{1};
  for (int round = 0; round < 2000; ++round) {
    auto const id = random_id(random);
    ASSERT_EQ(id.text().size(), saga_id::text_size);
    ASSERT_EQ(saga_id::parse(id.text()), id);
  }
}

TEST(saga_id, text_order_is_byte_order) {
  std::mt19937_64 random{2};
  for (int round = 0; round < 2000; ++round) {
    auto const left = random_id(random), right = random_id(random);
    ASSERT_EQ(left < right, left.text() < right.text());
  }
}

TEST(saga_id, lower_case_is_accepted) {
  EXPECT_EQ(saga_id::parse("7zzzzzzzzzzzzzzzzzzzzzzzzz"), saga_id::parse("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"));
  EXPECT_TRUE(saga_id::parse("01jdz4m6gq5v7y8n2w3x4r5t6k"));
}

TEST(saga_id, bad_texts) {
  for (auto const* text :
       {"", "0", "0000000000000000000000000", "000000000000000000000000000", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "0000000000000000000000000I",
        "0000000000000000000000000L", "0000000000000000000000000O", "0000000000000000000000000U", "000000000000 0000000000000",
        "0000000000000000000000000-", "!0000000000000000000000000", "I0000000000000000000000000"}) {
    EXPECT_FALSE(saga_id::parse(text)) << text;
  }
}

TEST(saga_id, empty_is_all_zero) {
  EXPECT_TRUE(saga_id{}.empty());
  EXPECT_FALSE(id_of({1}).empty());
}

TEST(saga_id, hashes) {
  std::mt19937_64 random{3};
  std::unordered_set<saga_id> seen;
  for (int round = 0; round < 100; ++round) seen.insert(random_id(random));
  EXPECT_EQ(seen.size(), 100U);
}

TEST(content_hash, golden_values) {
  EXPECT_EQ(content_hash::of("abc").text(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(content_hash::of("").text(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(content_hash, text_reads_back) {
  auto const hash = content_hash::of("abc");
  EXPECT_EQ(content_hash::parse(hash.text()), hash);
  EXPECT_FALSE(content_hash::parse(""));
  EXPECT_FALSE(content_hash::parse(hash.text() + "0"));
  EXPECT_FALSE(content_hash::parse(hash.text().substr(1)));
  EXPECT_FALSE(content_hash::parse(std::string(64, 'g')));
  EXPECT_FALSE(content_hash::parse(std::string(64, 'A')));
}

// Participants keep these as idempotency keys: a change would do work twice.
TEST(trace_id, golden_value) {
  auto const saga = *saga_id::parse("01JDZ4M6GQ5V7Y8N2W3X4R5T6K");
  auto const trace = trace_id::of(saga, step_path{"fan/profile/tag"}, operation::compensate);
  EXPECT_EQ(trace.text(), content_hash::of("01JDZ4M6GQ5V7Y8N2W3X4R5T6K\nfan/profile/tag\ncompensate").text().substr(0, 32));
  EXPECT_EQ(trace.text(), "ac4893ace69659cd0053fe03df1a0c28");
}

TEST(trace_id, differs_by_saga_step_and_operation) {
  auto const a = *saga_id::parse("01JDZ4M6GQ5V7Y8N2W3X4R5T6K");
  auto const b = *saga_id::parse("01JDZ4M6GQ5V7Y8N2W3X4R5T6M");
  std::set<std::string> texts;
  for (auto const& saga : {a, b}) {
    for (auto const* step : {"order", "orde", "order/x"}) {
      for (auto const op : {operation::act, operation::compensate, operation::try_})
        texts.insert(trace_id::of(saga, step_path{step}, op).text());
    }
  }
  EXPECT_EQ(texts.size(), 18U);
  EXPECT_EQ(trace_id::of(a, step_path{"order"}, operation::act), trace_id::of(a, step_path{"order"}, operation::act));
}

TEST(step_path, children) {
  EXPECT_EQ(step_path{}.child("fan").child("profile").text(), "fan/profile");
  EXPECT_TRUE(step_path{}.empty());
}

TEST(strong, keeps_meanings_apart) {
  EXPECT_LT(attempt{1}, attempt{2});
  EXPECT_EQ(epoch{}.value(), 0U);
  static_assert(!std::is_convertible_v<shard, epoch>);
  static_assert(!std::is_convertible_v<std::uint16_t, shard>);
  EXPECT_EQ(std::hash<sequence>{}(sequence{5}), std::hash<sequence>{}(sequence{5}));
}

}  // namespace
}  // namespace atone
