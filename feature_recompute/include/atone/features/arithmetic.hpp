// The arithmetic of features, for host and device alike: every state is integers, every merge is associative and commutative, and each
// result that is a double is the nearest one to an exact quotient, so that order, threads and engines can't change a bit.
// Thread rules: functions are pure; states are plain values.
#pragma once

#include <array>
#include <cstdint>

#if defined(__CUDACC__)
#define ATONE_HOST_DEVICE __host__ __device__
#else
#define ATONE_HOST_DEVICE
#endif

namespace atone::features {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

// high × 2^128 + low.
struct uint256 {
  uint128 high = 0;
  uint128 low = 0;
};

ATONE_HOST_DEVICE constexpr bool operator<(uint256 const& left, uint256 const& right) {
  return left.high != right.high ? left.high < right.high : left.low < right.low;
}

ATONE_HOST_DEVICE constexpr uint256 add(uint256 left, uint256 right) {
  uint256 sum;
  sum.low = left.low + right.low;
  sum.high = left.high + right.high + (sum.low < left.low ? 1 : 0);
  return sum;
}

ATONE_HOST_DEVICE constexpr uint256 subtract(uint256 left, uint256 right) {
  uint256 rest;
  rest.low = left.low - right.low;
  rest.high = left.high - right.high - (left.low < right.low ? 1 : 0);
  return rest;
}

ATONE_HOST_DEVICE constexpr uint256 multiply(uint128 left, uint128 right) {
  uint128 const mask = (uint128{1} << 64) - 1;
  uint128 const low = (left & mask) * (right & mask);
  uint128 const cross = (left >> 64) * (right & mask) + (low >> 64);
  uint128 const other = (left & mask) * (right >> 64) + (cross & mask);
  uint256 product;
  product.low = (other << 64) | (low & mask);
  product.high = (left >> 64) * (right >> 64) + (cross >> 64) + (other >> 64);
  return product;
}

ATONE_HOST_DEVICE constexpr int bit_length(std::uint64_t of) {
#if defined(__CUDA_ARCH__)
  return 64 - __clzll(static_cast<long long>(of));
#else
  return of == 0 ? 0 : 64 - __builtin_clzll(of);
#endif
}

ATONE_HOST_DEVICE constexpr int bit_length(uint128 of) {
  auto const high = static_cast<std::uint64_t>(of >> 64);
  return high != 0 ? 64 + bit_length(high) : bit_length(static_cast<std::uint64_t>(of));
}

// 2^exponent, exactly; -1000 … 1000.
ATONE_HOST_DEVICE inline double power_of_two(int exponent) {
  std::uint64_t const bits = static_cast<std::uint64_t>(exponent + 1023) << 52;
  double value = 0;
  static_assert(sizeof value == sizeof bits);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// significant × 2^exponent rounded once, to nearest, ties to even. `rest`: something below the last place is not zero; then `significant`
// has 54 bits or more. Results are normal numbers, as all of ours are.
ATONE_HOST_DEVICE inline double nearest_double(uint128 significant, int exponent, bool rest) {
  int const length = bit_length(significant);
  if (length > 64) {
    int const cut = length - 64;
    rest = rest || (significant << (128 - cut)) != 0;
    significant >>= cut;
    exponent += cut;
  }
  auto top = static_cast<std::uint64_t>(significant);
  if (length <= 53) return static_cast<double>(top) * power_of_two(exponent);
  int const spare = (length > 64 ? 64 : length) - 53;
  std::uint64_t const below = top & ((std::uint64_t{1} << spare) - 1);
  std::uint64_t const half = std::uint64_t{1} << (spare - 1);
  top >>= spare;
  if (below > half || (below == half && (rest || (top & 1) != 0))) ++top;
  return static_cast<double>(top) * power_of_two(exponent + spare);
}

// One step of a long division: the next bit of the dividend comes down.
struct long_division {
  uint128 divisor = 1;
  uint128 quotient = 0;
  uint128 remainder = 0;

  ATONE_HOST_DEVICE constexpr void bring_down(bool bit) {
    remainder = (remainder << 1) | (bit ? 1 : 0);
    quotient <<= 1;
    if (remainder < divisor) return;
    remainder -= divisor;
    quotient |= 1;
  }
  ATONE_HOST_DEVICE constexpr bool is_enough() const { return (quotient >> 64) != 0; }
};

// For what is wider than the machine divides: bit by bit until more than 64 stand. 0 < divisor < 2^126.
ATONE_HOST_DEVICE inline double divide_wide(uint256 dividend, uint128 divisor, int exponent) {
  long_division division{divisor};
  int position = 256;  // bits that have not come down
  while (position > 0 && !division.is_enough()) {
    --position;
    uint128 const half = position >= 128 ? dividend.high : dividend.low;
    division.bring_down(((half >> (position & 127)) & 1) != 0);
  }
  while (position == 0 && !division.is_enough() && division.remainder != 0) {
    division.bring_down(false);
    --exponent;
  }
  bool rest = division.remainder != 0;
  if (position > 0)
    rest = rest || (position < 128 ? (dividend.low << (128 - position)) != 0
                                   : (dividend.low != 0 || (position > 128 && (dividend.high << (256 - position)) != 0)));
  return nearest_double(division.quotient, exponent + position, rest);
}

// The double nearest to dividend / divisor × 2^exponent, ties to even. 0 < divisor < 2^126.
ATONE_HOST_DEVICE inline double nearest_quotient(uint256 dividend, uint128 divisor, int exponent = 0) {
  constexpr uint128 exact_max = uint128{1} << 53;
  if (dividend.high == 0) {
    // Both are exact as doubles: the machine's division rounds once.
    if (dividend.low <= exact_max && divisor <= exact_max && exponent == 0) {
      return static_cast<double>(static_cast<std::int64_t>(dividend.low)) / static_cast<double>(static_cast<std::int64_t>(divisor));
    }
    if (dividend.low == 0) return 0;
    if (divisor == 1) return nearest_double(dividend.low, exponent, false);
    int const length = bit_length(dividend.low);
    if (divisor < 1024 && length >= 64) {
      // The upper 64 bits divided have 54 bits or more; what is below them only matters as a rest.
      int const cut = length - 64;
      auto const upper = static_cast<std::uint64_t>(dividend.low >> cut);
      auto const small = static_cast<std::uint64_t>(divisor);
      bool const below = cut > 0 && (dividend.low << (128 - cut)) != 0;
      return nearest_double(std::uint64_t{upper / small}, exponent + cut, below || upper % small != 0);
    }
    if ((divisor >> 63) == 0) {
      int const shift = 128 - length;
      uint128 const shifted = dividend.low << shift;
      uint128 const quotient = shifted / divisor;  // 65 bits or more
      return nearest_double(quotient, exponent - shift, quotient * divisor != shifted);
    }
  }
  return divide_wide(dividend, divisor, exponent);
}

ATONE_HOST_DEVICE constexpr uint128 magnitude_of(int128 of) {
  return of < 0 ? uint128{0} - static_cast<uint128>(of) : static_cast<uint128>(of);
}

// Likewise for a signed dividend.
ATONE_HOST_DEVICE inline double nearest_quotient(int128 dividend, uint128 divisor, int exponent = 0) {
  double const size = nearest_quotient(uint256{0, magnitude_of(dividend)}, divisor, exponent);
  return dividend < 0 ? -size : size;
}

// Count, sum, sum of squares, smallest and largest of some values. The sum can't overflow below 2^64 values; the sum of squares says so.
struct moments {
  std::int64_t count = 0;
  int128 sum = 0;
  uint128 squares = 0;
  std::int64_t least = INT64_MAX;
  std::int64_t most = INT64_MIN;
  bool overflow = false;  // of the squares: they are at least 2^128

  ATONE_HOST_DEVICE constexpr void add_without_squares(std::int64_t value) {
    ++count;
    sum += value;
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  ATONE_HOST_DEVICE constexpr void add(std::int64_t value) {
    add_without_squares(value);
    add_squares(static_cast<uint128>(static_cast<int128>(value) * value), false);
  }
  ATONE_HOST_DEVICE constexpr void merge(moments const& other) {
    count += other.count;
    sum += other.sum;
    least = other.least < least ? other.least : least;
    most = other.most > most ? other.most : most;
    add_squares(other.squares, other.overflow);
  }
  // Squares only grow, so that a partial sum overflows only where the whole does: order can't matter.
  ATONE_HOST_DEVICE constexpr void add_squares(uint128 more, bool overflown) {
    squares += more;
    overflow = overflow || overflown || squares < more;
  }
};

// Whether a sum is given as a 64-bit integer, or flagged.
ATONE_HOST_DEVICE constexpr bool fits(int128 sum) {
  return sum >= INT64_MIN && sum <= INT64_MAX;
}

// Up to here integers are exact as doubles, so that the machine's division of two of them rounds once.
inline constexpr std::int64_t exact_max = std::int64_t{1} << 53;

// The mean of values in units of 1 / scale. count > 0, count × scale < 2^126.
ATONE_HOST_DEVICE inline double mean_of(int128 sum, std::int64_t count, std::int64_t scale) {
  if (sum >= -exact_max && sum <= exact_max && count <= (std::int64_t{1} << 23)) {
    return static_cast<double>(static_cast<std::int64_t>(sum)) / static_cast<double>(count * scale);
  }
  return nearest_quotient(sum, static_cast<uint128>(count) * static_cast<uint128>(scale));
}

// The variance of values in units of 1 / scale: (n Σx² - (Σx)²) / (n × (n - 1 or n) × scale²), rounded once. count < 2^32, > 1 for a
// sample.
ATONE_HOST_DEVICE inline double variance_of(std::int64_t count, int128 sum, uint128 squares, std::int64_t scale, bool sample) {
  auto const n = static_cast<uint128>(count);
  uint128 const size = magnitude_of(sum);
  constexpr std::int64_t small = std::int64_t{1} << 11;
  if (count < small && squares < static_cast<uint128>(exact_max / small) && scale <= 10'000) {
    // (Σx)² is at most n Σx², below 2^53; the divisor is below 2^22 × 10^8.
    auto const spread = static_cast<std::int64_t>(n * squares - size * size);
    return static_cast<double>(spread) / static_cast<double>(count * (sample ? count - 1 : count) * scale * scale);
  }
  uint256 spread;
  if (((squares | size) >> 64) == 0 && (n >> 32) == 0 && (size >> 63) == 0) {
    spread.low = n * squares - size * size;  // below 2^96 and 2^126
  } else {
    spread = subtract(multiply(n, squares), multiply(size, size));
  }
  auto const unit = static_cast<uint128>(scale);
  return nearest_quotient(spread, n * (sample ? n - 1 : n) * unit * unit);
}

// 2^(-i / 1024) for i = 0 … 1024 in units of 2^-62. Made from integer square roots, so that it is the same wherever it is made.
struct decay_table {
  static constexpr int steps = 1024;
  std::array<std::uint64_t, steps + 1> weights{};

  constexpr decay_table() {
    std::array<std::uint64_t, 11> roots{};  // 2^(-1 / 2^k) in units of 2^-63
    roots[0] = std::uint64_t{1} << 62;
    for (std::size_t k = 1; k < roots.size(); ++k) roots[k] = root_of(static_cast<uint128>(roots[k - 1]) << 63);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      std::uint64_t weight = std::uint64_t{1} << 63;
      for (std::size_t k = 0; k < roots.size(); ++k) {
        if ((i >> (10 - k)) & 1) weight = static_cast<std::uint64_t>((static_cast<uint128>(weight) * roots[k]) >> 63);
      }
      weights[i] = (weight + 1) >> 1;
    }
  }

  // The integer square root.
  static constexpr std::uint64_t root_of(uint128 of) {
    std::uint64_t root = 0;
    for (int bit = 63; bit >= 0; --bit) {
      std::uint64_t const next = root | (std::uint64_t{1} << bit);
      if (static_cast<uint128>(next) * next <= of) root = next;
    }
    return root;
  }
};

// How fast events lose weight: age in half-lives, by one multiplication.
struct decay_rate {
  std::uint64_t reciprocal = 0;  // 2^94 / (half-life × 2^shift), rounded down
  std::uint64_t zero_age = 0;    // 63 half-lives: from here on the weight is 0
  int shift = 0;                 // of short half-lives, so that the reciprocal fits: half-life × 2^shift is at least 2^31

  decay_rate() = default;
  // `half_life` > 0, microseconds, at most 2^56.
  ATONE_HOST_DEVICE constexpr explicit decay_rate(std::int64_t half_life) {
    auto const length = bit_length(static_cast<std::uint64_t>(half_life));
    shift = length > 31 ? 0 : 32 - length;
    reciprocal = static_cast<std::uint64_t>((uint128{1} << 94) / (static_cast<uint128>(half_life) << shift));
    zero_age = 63 * static_cast<std::uint64_t>(half_life);
  }

  // 2^(-age / half-life) in units of 2^-62, rounded down; the table interpolated: within 6e-8 of the true value.
  ATONE_HOST_DEVICE constexpr std::uint64_t weight(std::uint64_t age, decay_table const& table) const {
    if (age >= zero_age) return 0;
    // Half-lives in units of 2^-30: 10 places choose the table's entry, 20 lie between two entries.
    auto const phase = static_cast<std::uint64_t>((static_cast<uint128>(age << shift) * reciprocal) >> 64);
    std::uint64_t const part = phase & ((std::uint64_t{1} << 30) - 1);
    std::uint64_t const above = table.weights[part >> 20];
    std::uint64_t const below = table.weights[(part >> 20) + 1];
    std::uint64_t const between = part & ((std::uint64_t{1} << 20) - 1);
    auto const step = static_cast<std::uint64_t>((static_cast<uint128>(above - below) * between) >> 20);
    return (above - step) >> (phase >> 30);
  }
};

// A sum of value × weight in units of 2^-62: 192 bits, which 2^60 terms can't overflow.
struct decayed {
  std::int64_t high = 0;
  uint128 low = 0;

  ATONE_HOST_DEVICE constexpr void add(std::int64_t value, std::uint64_t weight) {
    int128 const term = static_cast<int128>(value) * static_cast<std::int64_t>(weight);  // a weight is at most 2^62
    add_parts(term < 0 ? -1 : 0, static_cast<uint128>(term));
  }
  ATONE_HOST_DEVICE constexpr void merge(decayed const& other) { add_parts(other.high, other.low); }
  ATONE_HOST_DEVICE constexpr void add_parts(std::int64_t more_high, uint128 more_low) {
    low += more_low;
    high += more_high + (low < more_low ? 1 : 0);
  }
  // In units of 1 / scale; rounded once.
  ATONE_HOST_DEVICE double value(std::int64_t scale) const {
    bool const negative = high < 0;
    uint256 size{static_cast<uint128>(static_cast<int128>(high)), low};
    if (negative) size = subtract(uint256{}, size);
    double const nearest = nearest_quotient(size, static_cast<uint128>(scale), -62);
    return negative ? -nearest : nearest;
  }
};

}  // namespace atone::features
