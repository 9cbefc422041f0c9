#include "store/radix.hpp"

#include <array>

namespace atone::features {
namespace {

constexpr int digit_bits_max = 11;  // 2048 places: their heads stay in the first cache
constexpr std::size_t places = std::size_t{1} << digit_bits_max;

int bits_that_differ(std::vector<keyed_row> const& rows) {
  std::uint64_t different = 0;
  for (auto const& row : rows) different |= row.key ^ rows[0].key;
  int bits = 0;
  for (; bits < 64 && (different >> bits) != 0; ++bits) {
  }
  return bits;
}

void one_pass(std::vector<keyed_row> const& from, std::vector<keyed_row>& into, int shift, std::uint64_t mask) {
  std::array<std::size_t, places> heads{};
  for (auto const& row : from) ++heads[(row.key >> shift) & mask];
  std::size_t before = 0;
  for (auto& head : heads) {
    auto const size = head;
    head = before;
    before += size;
  }
  for (auto const& row : from) into[heads[(row.key >> shift) & mask]++] = row;
}

}  // namespace

void radix_sort(std::vector<keyed_row>& rows, std::vector<keyed_row>& spare) {
  if (rows.size() < 2) return;
  int const bits = bits_that_differ(rows);
  if (bits == 0) return;
  int const passes = (bits + digit_bits_max - 1) / digit_bits_max;
  int const width = (bits + passes - 1) / passes;
  auto const mask = (std::uint64_t{1} << width) - 1;
  spare.resize(rows.size());
  for (int pass = 0; pass < passes; ++pass) {
    one_pass(rows, spare, pass * width, mask);
    rows.swap(spare);
  }
}

}  // namespace atone::features
