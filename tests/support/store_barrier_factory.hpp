// What the suite of tests/integration/barrier runs over: one factory a kind of participant's database. A new kind adds a
// factory in a file of its own in that folder; the suite itself names none.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <atone/participant.hpp>

namespace atone::test {

// One fresh, empty database; removed with the object.
class participant_place {
 public:
  virtual ~participant_place() = default;
  // Another handle on the same database each time, as another process would have.
  virtual result<std::unique_ptr<participant::participant_database>> open() = 0;
};

struct participant_factory {
  std::string name;
  std::function<std::unique_ptr<participant_place>()> make;  // gives nullptr where it is not possible: the test is skipped

  participant_factory() = default;
  friend std::ostream& operator<<(std::ostream& out, participant_factory const& of) { return out << of.name; }
};

participant_factory sqlite_participant_factory();
// One for each isolation level.
std::vector<participant_factory> postgres_participant_factories();

// Those of one program: each links one definition of this (barrier_factories.cpp; postgres_suite_factory.cpp has a server).
std::vector<participant_factory> participant_factories();

}  // namespace atone::test
