// Drives sagas through a daemon's API: a closed loop with a bounded number under way. The daemon may die and come back meanwhile: each
// start has a business key, so it is repeated until it is answered, and never starts a second saga.
//
// Thread rules: belongs to the thread that runs its io_context.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <atone/http.hpp>
#include <atone/ids.hpp>
#include <atone/records.hpp>
#include <atone/result.hpp>

namespace demo {

// One saga to start.
struct work_item {
  std::string key;    // business key
  std::string input;  // JSON

  work_item() = default;
  work_item(std::string business_key, std::string json) : key(std::move(business_key)), input(std::move(json)) {}
};

// How one saga ended.
struct outcome {
  std::size_t item = 0;  // which of the work
  atone::saga_id id;
  atone::saga_status status = atone::saga_status::running;
  std::string cause;
  std::set<std::string> fell_back;  // steps served by their fallback

  outcome() = default;
};

struct load_options {
  atone::http::origin daemon;
  std::string saga;
  std::uint32_t in_flight = 64;
  atone::duration retry_pause = std::chrono::milliseconds{50};
  atone::duration wait_max = std::chrono::seconds{10};    // one long poll
  atone::duration answer_max = std::chrono::seconds{15};  // one request, poll included

  load_options() = default;
};

struct load_figures {
  std::uint64_t started = 0;
  std::uint64_t ended = 0;
  std::uint64_t retries = 0;   // requests that were repeated: the daemon was away or busy
  std::uint64_t replayed = 0;  // starts that met the saga their first request had made
  std::map<atone::saga_status, std::uint64_t> by_status;

  load_figures() = default;
};

class load {
 public:
  // Called for every saga that ended or is parked.
  using ended_hook = std::function<void(outcome const&)>;
  // Called once for the first refusal that repeating can't mend; the loop stops then.
  using failed_hook = std::function<void(atone::error)>;

  load(boost::asio::io_context& io, load_options options, std::vector<work_item> work, ended_hook ended, failed_hook failed);
  ~load();
  load(load const&) = delete;
  load& operator=(load const&) = delete;

  void begin();  // then run the io_context: it runs dry when all have ended
  load_figures const& figures() const noexcept;

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

// Reads a saga as the API shows it. Errors (internal) name what is missing.
atone::result<outcome> read_outcome(std::string_view json);

}  // namespace demo
