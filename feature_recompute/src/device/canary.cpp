// A known question before any other: does this device give the bits of the CPU?
#include <cstring>

#include <atone/features/gpu.hpp>

namespace atone::features {
namespace {

constexpr char canary_set[] = R"(feature_set: canary
version: 1
entity: user
event_id: id
event_time: at
known_at: known
columns:
  user: integer
  id: integer
  at: timestamp
  known: timestamp
  amount: {type: decimal, scale: 3}
  product: text
windows: {short: {last: 90s}, long: {last: 2h}, twenty: {rows: 20}, ever: {since: epoch}}
features:
  events: {count: events, over: [short, long, twenty, ever]}
  values: {count: amount, over: [short, ever]}
  spent: {sum: amount, over: [short, long, twenty, ever]}
  usual: {mean: amount, over: [short, long, twenty, ever]}
  least: {min: amount, over: [long, ever]}
  most: {max: amount, over: [long, ever]}
  spread: {deviation: amount, over: [short, long, twenty, ever]}
  scatter: {variance: amount, estimate: population, over: [ever]}
  kinds: {distinct: product, over: [short, long, twenty, ever]}
  prices: {distinct: amount, over: [ever], where: {product: [b, c, d]}}
  oldest: {first: amount, over: [long, ever]}
  newest: {last: product, over: [long]}
  recent: {last_values: amount, keep: 5, over: [long, ever], where: {amount: {at_least: 0}}}
  age: {recency: events, over: [ever]}
  rhythm: {interval: mean, over: [long, ever]}
  closest: {interval: min, over: [long, ever]}
  warmth: {decayed_sum: amount, half_life: 31m, over: [long, ever]}
  heat: {decayed_count: events, half_life: 7s, over: [ever]}
  per_product: {sum: amount, over: [ever], per: {product: [a, b, never]}}
  trend: {ratio: spent, between: [short, ever]}
)";

constexpr std::int64_t second = 1'000'000;

// The same numbers everywhere: no library's generator.
class numbers {
 public:
  std::int64_t below(std::uint64_t bound) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int64_t>((state_ >> 33) % bound);
  }

 private:
  std::uint64_t state_ = 42;
};

// Entities of all size classes: one event, some, thousands; amounts up to where sums overflow.
event_table canary_events(feature_set const& set) {
  event_table table{set};
  row_appender rows{set, table};
  numbers draw;
  constexpr std::int64_t sizes[] = {1, 2, 3, 31, 32, 33, 64, 100, 1000, 4096, 4097, 6000};
  constexpr std::string_view products[] = {"a", "b", "c", "d", "e", "f", "g"};
  std::int64_t id = 0;
  for (std::int64_t user = 0; user < static_cast<std::int64_t>(std::size(sizes)); ++user) {
    for (std::int64_t event = 0; event < sizes[user]; ++event) {
      auto const at = draw.below(10'000) * second + draw.below(3);
      auto const scale = draw.below(40) == 0 ? std::int64_t{1} << 40 : 1;
      cell const amount = draw.below(10) == 0 ? cell{} : cell{(draw.below(5000) - 1000) * scale};
      cell const product = draw.below(10) == 0 ? cell{} : cell{products[draw.below(std::size(products))]};
      cell const row[] = {user, id++, at, at + draw.below(3) * second, amount, product};
      auto const taken = rows.append(row);
      ATONE_ASSERT(taken);
    }
  }
  return table;
}

// Where two tables differ first; empty: nowhere.
std::string difference(feature_set const& set, feature_table const& left, feature_table const& right) {
  for (std::size_t at = 0; at < left.columns.size(); ++at) {
    auto const& one = left.columns[at];
    auto const& other = right.columns[at];
    for (std::size_t cell = 0; cell < left.rows * one.lanes; ++cell) {
      bool const same_state = one.states == nullptr || one.states[cell] == other.states[cell];
      if (same_state && one.cells[cell] == other.cells[cell]) continue;
      return "feature '" + set.features[one.feature].name + "' over '" + set.windows[one.window].name + "', row " +
             std::to_string(cell / one.lanes);
    }
  }
  return {};
}

result<void> compare(feature_set const& set, result<feature_table> const& device, result<feature_table> const& host) {
  if (!device) return device.error();
  if (!host) return host.error();
  auto const where = difference(set, *device, *host);
  if (!where.empty()) return error{errc::corrupt, "the GPU gives other bits than the CPU: " + where};
  return {};
}

}  // namespace

result<void> compare_gpu_with_cpu(gpu_options const& options) {
  auto const loaded = load_feature_set(canary_set);
  ATONE_ASSERT(loaded.ok());
  auto const store = sort_events(*loaded.set, canary_events(*loaded.set));
  if (!store) return store.error();
  feature_engine const host{loaded.set};
  auto opened = gpu_engine::open(loaded.set, options);
  if (!opened) return opened.error();
  auto& device = *opened;
  if (auto done = device.keep(*store); !done) return done;
  timestamp const at{duration{9'000 * second}};
  if (auto done = compare(*loaded.set, device.as_of(at, at), host.as_of(*store, at, at)); !done) return done;
  std::vector<feature_moment> moments_wanted;
  for (std::uint32_t entity = 0; entity < store->entities.size(); ++entity) {
    for (std::int64_t time = 0; time <= 10'000; time += 2'500) {
      timestamp const then{duration{time * second}};
      moments_wanted.emplace_back(entity, then, then);
    }
  }
  moments_wanted.emplace_back(std::nullopt, at, at);
  return compare(*loaded.set, device.at(moments_wanted), host.at(*store, moments_wanted));
}

}  // namespace atone::features
