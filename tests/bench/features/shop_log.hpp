// A purchase log of the shape of CDNOW's: half of the customers buy once, few often, a year and a half of days, prices in cents.
// Thread rules: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include <atone/features/engine.hpp>

namespace features_bench {

// The set of the bench: 18 windowed aggregates, distinct products, the last five prices, a decayed sum, recency.
extern std::string const set_yaml;
// Last microsecond of the log.
atone::timestamp end_of_log();

// The log of so many customers, rows shuffled: about three rows a customer.
atone::features::event_table make_log(atone::features::feature_set const& set, std::uint32_t customers, std::uint64_t seed);

}  // namespace features_bench
