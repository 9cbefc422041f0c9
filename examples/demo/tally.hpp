// What came of the sagas, counted for the screen.
// Thread rules: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <atone/ids.hpp>

#include "cdnow.hpp"
#include "load.hpp"

namespace demo {

// A failure's cause without what differs from saga to saga: "fan/profile/profile refused", "features timed out", "deadline".
std::string reason_of(std::string_view cause);

// "5,000"
std::string grouped(std::uint64_t value);

// "████████░░░░" for done of all.
std::string bar(std::uint64_t done, std::uint64_t all, std::size_t width);

class tally {
 public:
  explicit tally(std::vector<purchase> const& purchases) : purchases_(purchases) {}

  void add(outcome const& of);

  std::uint64_t ended() const noexcept { return completed_ + compensated_ + parked_; }
  std::uint64_t completed() const noexcept { return completed_; }
  std::uint64_t compensated() const noexcept { return compensated_; }
  std::uint64_t parked() const noexcept { return parked_; }
  // What the services' own books must show: cents and orders of the completed sagas.
  std::int64_t completed_cents() const noexcept { return completed_cents_; }
  std::optional<atone::saga_id> last_compensated() const noexcept { return last_compensated_; }
  std::string text() const;  // the table of outcomes

 private:
  std::vector<purchase> const& purchases_;
  std::uint64_t completed_ = 0, compensated_ = 0, parked_ = 0, stale_ = 0;
  std::int64_t completed_cents_ = 0;
  std::map<std::string, std::uint64_t> reasons_;
  std::optional<atone::saga_id> last_compensated_;
};

}  // namespace demo
