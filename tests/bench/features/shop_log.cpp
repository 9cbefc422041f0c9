#include "shop_log.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace features_bench {
namespace {

constexpr std::int64_t day_us = 86'400'000'000;
constexpr std::int64_t days = 546;
constexpr std::uint32_t most_purchases = 217;
constexpr std::int64_t products = 5'000;

std::uint32_t purchases_of(std::mt19937_64& random) {
  auto const drawn = static_cast<double>(random() >> 11) / 9007199254740992.0;
  if (drawn < 0.5) return 1;
  // The other half: two or more, ever fewer of them.
  auto const rest = (drawn - 0.5) * 2;
  auto const more = std::pow(1 - rest, -0.78);
  return std::min(most_purchases, 1 + static_cast<std::uint32_t>(more));
}

void shuffle_rows(atone::features::event_table& table, std::mt19937_64& random) {
  std::vector<std::uint32_t> order(table.rows());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  for (auto& column : table.columns) {
    std::vector<std::int64_t> shuffled;
    shuffled.reserve(order.size());
    for (auto const row : order) shuffled.push_back(column.values[row]);
    column.values = std::move(shuffled);
  }
}

}  // namespace

std::string const set_yaml = R"(feature_set: shop
version: 1
entity: customer
event_id: id
event_time: at
columns: {customer: integer, id: integer, at: timestamp, price: {type: decimal, scale: 2}, product: integer}
windows: {7d: {last: 7d}, 30d: {last: 30d}, 90d: {last: 90d}, ever: {since: epoch}}
features:
  count: {count: events, over: [7d, 30d, 90d]}
  sum: {sum: price, over: [7d, 30d, 90d]}
  mean: {mean: price, over: [7d, 30d, 90d]}
  min: {min: price, over: [7d, 30d, 90d]}
  max: {max: price, over: [7d, 30d, 90d]}
  deviation: {deviation: price, over: [7d, 30d, 90d]}
  products: {distinct: product, over: [ever]}
  newest: {last_values: price, keep: 5, over: [ever]}
  warmth: {decayed_sum: price, half_life: 30d, over: [ever]}
  age: {recency: events, over: [ever]}
)";

atone::timestamp end_of_log() {
  return atone::timestamp{atone::duration{days * day_us}};
}

atone::features::event_table make_log(atone::features::feature_set const& set, std::uint32_t customers, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  atone::features::event_table table{set};
  std::int64_t id = 0;
  for (std::uint32_t customer = 0; customer < customers; ++customer) {
    auto const first = static_cast<std::int64_t>(random() % 84);
    for (auto left = purchases_of(random); left > 0; --left) {
      auto const price = 500 + static_cast<std::int64_t>(random() % 2'000) * static_cast<std::int64_t>(1 + random() % 4);
      std::int64_t const row[] = {customer, id++,
                                  (first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(days - first))) * day_us, price,
                                  static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(products))};
      for (std::size_t column = 0; column < table.columns.size(); ++column) table.columns[column].values.push_back(row[column]);
    }
  }
  shuffle_rows(table, random);
  return table;
}

}  // namespace features_bench
