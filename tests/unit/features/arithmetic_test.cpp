// The arithmetic by itself: one rounding at any size, merges in any order, weights near the true ones and the same everywhere.
#include <atone/features/arithmetic.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <atone/ids.hpp>

#include "oracle.hpp"

namespace atone::features_test {
namespace {

using namespace features;

std::string text_of(uint128 of) {
  std::string text;
  for (; of > 0 || text.empty(); of /= 10) text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(of % 10)));
  return text;
}

// Numbers of every size, many of them next to powers of two, where rounding is hardest.
uint128 draw(std::mt19937_64& random, int bits_max) {
  int const bits = static_cast<int>(random() % static_cast<std::uint64_t>(bits_max)) + 1;
  uint128 const wide = (static_cast<uint128>(random()) << 64) | random();
  uint128 const top = uint128{1} << (bits - 1);
  if (random() % 2 == 0) return top | (wide & (top - 1));
  return top + (random() % 5) - (bits > 3 ? 2 : 0);
}

TEST(feature_arithmetic, quotients_are_rounded_once) {
  std::mt19937_64 random{53};
  for (int round = 0; round < 40'000; ++round) {
    auto const above = draw(random, 128);
    auto const below = std::max<uint128>(draw(random, 126), 1);
    int const exponent = round % 2 == 0 ? 0 : -62;
    ASSERT_EQ(nearest_quotient(uint256{0, above}, below, exponent), nearest_by_rationals(text_of(above), text_of(below), exponent))
        << text_of(above) << " / " << text_of(below);
  }
}

TEST(feature_arithmetic, quotients_of_wide_numbers_are_rounded_once) {
  std::mt19937_64 random{54};
  auto const power_128 = [] { return std::string{"340282366920938463463374607431768211456"}; };
  for (int round = 0; round < 5'000; ++round) {
    // high × 2^128 over below × 2^128 is high over below: the wide way must give what the short one gives.
    auto const high = draw(random, 100);
    auto const below = std::max<uint128>(draw(random, 126), 1);
    ASSERT_EQ(nearest_quotient(uint256{high, 0}, below, -128), nearest_by_rationals(text_of(high), text_of(below), 0));
    // 2^128 + low, by the decimal text of it: low is small enough to be added to the last digits by hand.
    auto const low = random() % 1'000;
    auto expected = power_128();
    std::uint64_t const tail = std::stoull(expected.substr(30)) + low;
    expected.replace(30, 9, std::to_string(tail));
    ASSERT_EQ(nearest_quotient(uint256{1, low}, below), nearest_by_rationals(expected, text_of(below), 0));
  }
}

TEST(feature_arithmetic, ties_go_to_even) {
  uint128 const base = uint128{1} << 53;
  EXPECT_EQ(nearest_quotient(int128{1} << 53, 1), 9007199254740992.0);
  EXPECT_EQ(nearest_quotient(static_cast<int128>(base + 1), 1), 9007199254740992.0);
  EXPECT_EQ(nearest_quotient(static_cast<int128>(base + 3), 1), 9007199254740996.0);
  EXPECT_EQ(nearest_quotient(-static_cast<int128>(base + 3), 1), -9007199254740996.0);
  EXPECT_EQ(nearest_quotient(static_cast<int128>(3 * (base + 1) + 1), 3), 9007199254740994.0);  // a third above a tie
}

// A sum that is rounded before it is divided gives another double.
TEST(feature_arithmetic, a_mean_is_not_rounded_twice) {
  int128 const sum = (int128{1} << 54) + 2;
  EXPECT_EQ(mean_of(sum, 3, 1), 6004799503160662.0);  // exactly 18014398509481986 / 3
  EXPECT_NE(mean_of(sum, 3, 1), std::ldexp(1.0, 54) / 3.0);
}

TEST(feature_arithmetic, wide_multiplication_and_subtraction_agree_with_themselves) {
  std::mt19937_64 random{3};
  for (int round = 0; round < 10'000; ++round) {
    auto const a = draw(random, 120);
    auto const b = draw(random, 128);
    // (a + 1) × b - a × b is b.
    auto const rest = subtract(multiply(a + 1, b), multiply(a, b));
    ASSERT_TRUE(rest.high == 0 && rest.low == b);
    auto const back = subtract(add(multiply(a, b), uint256{0, b}), multiply(a, b));
    ASSERT_TRUE(back.high == 0 && back.low == b);
    ASSERT_FALSE(multiply(a, b) < multiply(a, b));
  }
}

std::int64_t draw_value(std::mt19937_64& random) {
  switch (random() % 5) {
    case 0: return std::numeric_limits<std::int64_t>::min();
    case 1: return std::numeric_limits<std::int64_t>::max();
    case 2: return static_cast<std::int64_t>(random());
    default: return static_cast<std::int64_t>(random() % 2'000) - 1'000;
  }
}

bool equal(moments const& left, moments const& right) {
  return left.count == right.count && left.sum == right.sum && left.least == right.least && left.most == right.most &&
         left.overflow == right.overflow && (left.overflow || left.squares == right.squares);
}

// Parts of any size, merged as any tree in any order.
template <class State, class Add>
State merged(std::vector<std::int64_t> const& values, std::mt19937_64& random, Add const& add) {
  std::vector<State> parts(1 + random() % 6);
  for (auto const value : values) add(parts[random() % parts.size()], value);
  while (parts.size() > 1) {
    std::shuffle(parts.begin(), parts.end(), random);
    auto const last = parts.back();
    parts.pop_back();
    parts[0].merge(last);
  }
  return parts[0];
}

TEST(feature_arithmetic, moments_are_the_same_however_they_are_split_and_merged) {
  std::mt19937_64 random{11};
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::int64_t> values(random() % 30);
    std::generate(values.begin(), values.end(), [&] { return draw_value(random); });
    moments whole;
    for (auto const value : values) whole.add(value);
    auto const parts = merged<moments>(values, random, [](moments& part, std::int64_t value) { part.add(value); });
    ASSERT_TRUE(equal(parts, whole)) << "round " << round;
  }
}

TEST(feature_arithmetic, decayed_sums_are_the_same_however_they_are_split_and_merged) {
  std::mt19937_64 random{12};
  decay_rate const rate{30LL * 86'400'000'000};
  decay_table const table;
  auto const add = [&](decayed& part, std::int64_t value) {
    part.add(value, rate.weight(static_cast<std::uint64_t>(value) % 1'000'000'000'000, table));
  };
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::int64_t> values(random() % 30);
    std::generate(values.begin(), values.end(), [&] { return draw_value(random); });
    decayed whole;
    for (auto const value : values) add(whole, value);
    auto const parts = merged<decayed>(values, random, add);
    ASSERT_TRUE(parts.high == whole.high && parts.low == whole.low) << "round " << round;
  }
}

TEST(feature_arithmetic, squares_beyond_128_bits_are_flagged_and_never_wrap) {
  moments all;
  for (int at = 0; at < 3; ++at) all.add(std::numeric_limits<std::int64_t>::min());
  EXPECT_FALSE(all.overflow);  // 3 × 2^126
  all.add(std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(all.overflow);
  moments other;
  other.merge(all);
  EXPECT_TRUE(other.overflow);
}

TEST(feature_arithmetic, sums_are_flagged_at_the_ends_of_64_bits) {
  EXPECT_TRUE(fits(std::numeric_limits<std::int64_t>::max()));
  EXPECT_TRUE(fits(std::numeric_limits<std::int64_t>::min()));
  EXPECT_FALSE(fits(static_cast<int128>(std::numeric_limits<std::int64_t>::max()) + 1));
  EXPECT_FALSE(fits(static_cast<int128>(std::numeric_limits<std::int64_t>::min()) - 1));
}

// Adding the bits of floats as integers, as a well-known kernel does, is no addition.
TEST(feature_arithmetic, a_float_is_not_added_by_adding_its_bits) {
  auto const bits = [](float of) { return std::bit_cast<std::uint32_t>(of); };
  float const wrong = std::bit_cast<float>(bits(1.5F) + bits(2.25F));
  EXPECT_NE(wrong, 3.75F);
  moments right;
  right.add(150);
  right.add(225);
  EXPECT_EQ(mean_of(right.sum, 1, 100), 3.75);
}

// Every build and every device must have this table. The digest is over its entries as decimal text, a line each.
TEST(feature_decay, the_table_is_pinned) {
  decay_table const table;
  std::string text;
  for (auto const weight : table.weights) text += std::to_string(weight) + "\n";
  EXPECT_EQ(table.weights.front(), std::uint64_t{1} << 62);
  EXPECT_EQ(table.weights.back(), std::uint64_t{1} << 61);
  EXPECT_EQ(content_hash::of(text).text(), "243170951ca6cc20a60f91d2f7c13fd741d6f84b0f7e3891dfb154d112d11fce");
}

TEST(feature_decay, the_table_is_right_to_its_last_places) {
  decay_table const table;
  for (int at = 0; at <= decay_table::steps; ++at) {
    long double const exact = std::ldexp(std::exp2(-static_cast<long double>(at) / 1024.0L), 62);
    ASSERT_NEAR(static_cast<double>(static_cast<long double>(table.weights[static_cast<std::size_t>(at)]) - exact), 0, 16.0) << at;
  }
}

TEST(feature_decay, weights_are_near_the_true_ones) {
  decay_table const table;
  std::int64_t const half_life = 30LL * 86'400'000'000;
  decay_rate const rate{half_life};
  long double worst = 0;
  for (std::uint64_t age = 0; age < 20ULL * static_cast<std::uint64_t>(half_life); age += 1'234'567'891) {
    auto const exact = std::exp2(-static_cast<long double>(age) / static_cast<long double>(half_life));
    auto const found = std::ldexp(static_cast<long double>(rate.weight(age, table)), -62);
    worst = std::max(worst, std::fabs(found - exact) / exact);
  }
  EXPECT_LT(worst, 6e-8L);
}

TEST(feature_decay, whole_half_lives_halve_exactly) {
  decay_table const table;
  for (std::int64_t const half_life : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{1'000'000}, std::int64_t{1} << 40,
                                       std::int64_t{315'619'200'000'000}}) {
    decay_rate const rate{half_life};
    EXPECT_EQ(rate.weight(0, table), std::uint64_t{1} << 62);
    for (int times = 1; times < 60; times += 7) {
      auto const weight = rate.weight(static_cast<std::uint64_t>(half_life) * static_cast<std::uint64_t>(times), table);
      // The reciprocal is rounded down, so a whole number of half-lives may be found a hair short of it.
      EXPECT_NEAR(static_cast<double>(weight), std::ldexp(1.0, 62 - times), std::ldexp(1.0, 62 - times) * 1e-9)
          << half_life << " " << times;
    }
    EXPECT_EQ(rate.weight(std::numeric_limits<std::uint64_t>::max() / 2, table), 0U) << half_life;
  }
}

TEST(feature_decay, weights_never_grow_with_age) {
  decay_table const table;
  decay_rate const rate{1'000};
  auto last = rate.weight(0, table);
  for (std::uint64_t age = 1; age < 70'000; ++age) {
    auto const weight = rate.weight(age, table);
    ASSERT_LE(weight, last) << age;
    last = weight;
  }
  EXPECT_EQ(last, 0U);
}

}  // namespace
}  // namespace atone::features_test
