#include "drill/installation.hpp"

#include <algorithm>

#include <atone/assert.hpp>

namespace atone::drill {

installation::installation(drill_plan const& plan) : plan_(plan) {
  for (auto const& each : plan.processes) processes_.push_back(std::make_unique<managed_process>(each));
}

installation::~installation() {
  while (!processes_.empty()) processes_.pop_back();
}

result<void> installation::start_proxies(std::uint64_t seed) {
  for (auto const& each : plan_.proxies) {
    proxy_options with;
    with.address = each.listen.address;
    with.port = each.listen.port;
    with.target_address = each.to.address;
    with.target_port = each.to.port;
    with.seed = seed + proxies_.size();
    auto started = fault_proxy::start(std::move(with));
    if (!started) return error{started.error().code, "proxy " + each.name + ": " + started.error().message};
    proxies_.push_back(std::move(*started));
  }
  return {};
}

managed_process& installation::process(std::string const& name) {
  auto const found = std::find_if(processes_.begin(), processes_.end(), [&](auto const& one) { return one->plan().name == name; });
  ATONE_ASSERT(found != processes_.end());
  return **found;
}

fault_proxy& installation::proxy(std::string const& name) {
  auto const found = std::find_if(plan_.proxies.begin(), plan_.proxies.end(), [&](auto const& one) { return one.name == name; });
  ATONE_ASSERT(found != plan_.proxies.end());
  return *proxies_.at(static_cast<std::size_t>(found - plan_.proxies.begin()));
}

}  // namespace atone::drill
