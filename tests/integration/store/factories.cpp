// The stores the suite runs over, and the one place where it is instantiated.
#include "store_suite.hpp"

namespace atone::test {
namespace {

class memory_place final : public store_place {
 public:
  result<std::unique_ptr<store>> open() override { return make_memory_store(); }
  void execute(std::string const&) override { FAIL() << "the memory store runs no SQL"; }
  std::string ask(std::string const&) override { return {}; }
  void pretend_newer() override { FAIL() << "the memory store has no migrations"; }
};

}  // namespace

store_factory memory_factory() {
  store_factory made;
  made.name = "memory";
  made.make = [] { return std::unique_ptr<store_place>(new memory_place); };
  made.survives = false;
  made.runs_sql = false;
  made.migrates = false;
  return made;
}

std::vector<store_factory> store_factories() {
  return {memory_factory(), sqlite_factory()};
}

INSTANTIATE_TEST_SUITE_P(stores, store_suite, testing::ValuesIn(store_factories()),
                         [](testing::TestParamInfo<store_factory> const& of) { return of.param.name; });

}  // namespace atone::test
