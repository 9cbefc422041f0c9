#include <atone/features/engine.hpp>

#include <cstring>

#include "engine/compute.hpp"

namespace atone::features {

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
