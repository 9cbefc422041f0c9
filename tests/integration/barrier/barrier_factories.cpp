// The databases the suite runs over, and the one place where it is instantiated.
#include <filesystem>

#include "barrier_suite.hpp"
#include "sqlite_place.hpp"

namespace atone::test {
namespace {

class sqlite_participant_place final : public participant_place {
 public:
  result<std::unique_ptr<participant::participant_database>> open() override { return participant::open_database(files_.address()); }

 private:
  sqlite_place files_;
};

}  // namespace

participant_factory sqlite_participant_factory() {
  participant_factory made;
  made.name = "sqlite";
  made.make = [] { return std::unique_ptr<participant_place>(new sqlite_participant_place); };
  return made;
}

std::vector<participant_factory> participant_factories() {
  return {sqlite_participant_factory()};
}

INSTANTIATE_TEST_SUITE_P(databases, barrier_suite, testing::ValuesIn(participant_factories()),
                         [](testing::TestParamInfo<participant_factory> const& of) { return of.param.name; });

}  // namespace atone::test
