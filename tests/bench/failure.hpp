// A measurement that can't be made ends the program: errors are thrown, main prints them, and what was started is stopped
// on the way. Thread rules: throw on the main thread only.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <atone/result.hpp>

namespace bench {

class failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The value, or a failure that says what was being done.
template <class T>
T need(atone::result<T> outcome, std::string const& doing) {
  if (!outcome) throw failure{doing + ": " + outcome.error().message};
  if constexpr (!std::is_void_v<T>) return std::move(outcome).value();
}

}  // namespace bench
