// Starts sagas through the coordinators' API all the time, each under a business key of its own, and keeps a ledger of every one: whoever
// is told "accepted" is looked for at the end.
//
// Thread rules: belongs to the thread that runs its io_context.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <atone/http.hpp>
#include <atone/result.hpp>

#include "drill/ledger.hpp"
#include "drill/plan.hpp"

namespace atone::drill {

class load {
 public:
  // `run`: what every key of this drill has and no other's. `first`: the number of the first saga, for its input.
  load(boost::asio::io_context& io, drill_plan const& plan, std::string token, http::tls_options tls, std::string run, std::uint64_t first);
  ~load();
  load(load const&) = delete;
  load& operator=(load const&) = delete;

  // From now on sagas are started, until stop_starting().
  void begin();
  void stop_starting();
  // Whether every saga that was begun is settled or missing.
  bool quiet() const noexcept;
  // Closes the connections: what is still under way is asked for no more.
  void stop();
  // Asks for every accepted saga once more and writes down what it is now; `done` is called when all have answered.
  void verify(std::function<void()> done);

  std::vector<ledger_row> const& ledger() const noexcept;
  // What the keys of all its sagas begin with.
  std::string key_prefix() const;
  // When sagas were settled, in rising order, since the load began.
  std::vector<duration> const& ends() const noexcept;
  // Which rows of the ledger those were.
  std::vector<std::size_t> const& settled_rows() const noexcept;
  duration now() const;
  // The first refusal that repeating can't mend.
  std::optional<error> const& failure() const noexcept;
  std::uint64_t repeats() const noexcept;  // requests that were sent again

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace atone::drill
