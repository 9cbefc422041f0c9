// The proxies and processes of a plan, while a drill runs.
// Thread rules: one thread, that of main().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <atone/result.hpp>

#include "drill/plan.hpp"
#include "drill/process.hpp"
#include "drill/proxy/fault_proxy.hpp"

namespace atone::drill {

class installation {
 public:
  explicit installation(drill_plan const& plan);
  // Ends what the drill brought up, last one first, then the proxies.
  ~installation();
  installation(installation const&) = delete;
  installation& operator=(installation const&) = delete;

  // Errors name the proxy.
  result<void> start_proxies(std::uint64_t seed);
  std::vector<std::unique_ptr<managed_process>> const& processes() const noexcept { return processes_; }
  // By a name that the plan has.
  managed_process& process(std::string const& name);
  fault_proxy& proxy(std::string const& name);

 private:
  drill_plan const& plan_;
  std::vector<std::unique_ptr<fault_proxy>> proxies_;  // as the plan lists them
  std::vector<std::unique_ptr<managed_process>> processes_;
};

}  // namespace atone::drill
