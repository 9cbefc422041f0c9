// What the load is put on: something that runs a saga to its end and says how it ended.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace bench {

enum class outcome : std::uint8_t {
  ended,        // completed or compensated, as the saga's kind has it
  turned_away,  // refused for now: too much is under way
  failed,       // anything else: the measurement is worth nothing
};

struct work_item {
  std::uint64_t number = 0;  // names the saga within the run
  std::string input;         // JSON

  work_item() = default;
};

class target {
 public:
  using done = std::function<void(outcome)>;

  virtual ~target() = default;
  // `then` is called once, never from inside run_saga, and always on one and the same thread. Callable from any thread.
  virtual void run_saga(work_item what, done then) = 0;
  // Why something failed: the first reason.
  virtual std::string first_failure() const = 0;
};

}  // namespace bench
