#include <atone/features/engine.hpp>

#include <algorithm>
#include <cstring>

#include "engine/plan.hpp"
#include "engine/requests.hpp"
#include "engine/visible.hpp"
#include "engine/walker.hpp"

namespace atone::features {
namespace {

// Rows of results that one part of a job computes.
constexpr std::size_t part_rows = 4096;

// `request_of(row)` says what a row is made from.
template <class RequestOf>
feature_table compute(feature_set const& set, feature_plan const& plan, event_store const& store, std::size_t rows, parallel const& how,
                      RequestOf const& request_of) {
  auto table = empty_table(plan, rows);
  bound_filters const filters{set, plan, store};
  how((rows + part_rows - 1) / part_rows, [&](std::size_t part) {
    walker one{set, plan, store, filters, table};
    auto const end = std::min(rows, (part + 1) * part_rows);
    one.begin(part * part_rows);
    for (auto row = part * part_rows; row < end; ++row) one.add(request_of(row));
    one.finish();
  });
  return table;
}

}  // namespace

double feature_column::real(std::size_t row) const noexcept {
  double value = 0;
  std::memcpy(&value, &cells[row * lanes], sizeof value);
  return value;
}

feature_engine::feature_engine(feature_set_ptr set) : set_(std::move(set)), plan_(std::make_unique<feature_plan const>(compile(*set_))) {}
feature_engine::~feature_engine() = default;
feature_engine::feature_engine(feature_engine&&) noexcept = default;
feature_engine& feature_engine::operator=(feature_engine&&) noexcept = default;

result<feature_table> feature_engine::as_of(event_store const& store, timestamp at, timestamp known_at, parallel const& how) const {
  if (auto done = check_times(at, known_at); !done) return done.error();
  return compute(*set_, *plan_, store, store.entities.size(), how,
                 [&](std::size_t row) { return request_for(store, static_cast<std::uint32_t>(row), at, known_at); });
}

result<feature_table> feature_engine::at(event_store const& store, std::span<feature_moment const> moments_wanted,
                                         parallel const& how) const {
  if (auto done = check_moments(store, moments_wanted); !done) return done.error();
  return compute(*set_, *plan_, store, moments_wanted.size(), how,
                 [&](std::size_t row) { return request_for(store, moments_wanted[row]); });
}

result<feature_table> feature_engine::per_event(event_store const& store, parallel const& how) const {
  auto const first = first_rows(store);
  return compute(*set_, *plan_, store, store.rows(), how, [&](std::size_t row) { return request_for_event(store, first, row); });
}

}  // namespace atone::features
