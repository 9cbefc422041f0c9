// Memory that ends at any allocation of an append: nobody is told of rows that a restart does not find.
#include <cstdlib>
#include <functional>
#include <future>
#include <new>

#include <gtest/gtest.h>

#include "support.hpp"

namespace {

thread_local int allocations_left = -1;  // of this thread; -1: as many as it likes

}  // namespace

void* operator new(std::size_t size) {
  if (allocations_left == 0) throw std::bad_alloc{};
  if (allocations_left > 0) --allocations_left;
  if (void* const made = std::malloc(size == 0 ? 1 : size)) return made;
  throw std::bad_alloc{};
}
void operator delete(void* of) noexcept {
  std::free(of);
}
void operator delete(void* of, std::size_t) noexcept {
  std::free(of);
}

namespace atone::features_test {
namespace {

using features_out_of_memory = service_test;

TEST_F(features_out_of_memory, an_append_is_whole_or_not_there) {
  int whole = 0;
  int stopped = 0;
  for (int allocations = 0; whole == 0; ++allocations) {
    ASSERT_LT(allocations, 1000);
    std::filesystem::remove_all(folder.path() + "/data");
    auto with = options();
    with.sync = [](int) { return 0; };
    open(with);
    auto const rows =
        table_of(*set, {{7, "a", 1 * second, 150, "tea"}, {8, "b", 2 * second, 150, "milk"}, {8, "b", 2 * second, 150, "milk"}});
    std::promise<result<append_outcome>> told;
    auto answer = told.get_future();
    std::function<void(result<append_outcome>)> const then = [&](result<append_outcome> made) {
      allocations_left = -1;
      told.set_value(std::move(made));
    };
    allocations_left = allocations;
    bool thrown = false;
    try {
      service->async_append(rows, then);
    } catch (std::bad_alloc const&) {
      thrown = true;  // before anything was taken
    }
    allocations_left = -1;
    auto const first = thrown ? result<append_outcome>{error{errc::exhausted, "thrown"}} : answer.get();
    auto const again = service->append(rows);
    whole += first ? 1 : 0;
    stopped += again ? 0 : 1;
    if (again) {
      EXPECT_EQ(again->taken, first ? 0U : 2U) << "what was not told had not been taken, " << allocations;
    }
    EXPECT_TRUE(again || !first);
    open(with);
    EXPECT_EQ(service->figures().events, first || again ? 2U : 0U) << allocations;
    EXPECT_EQ(service->append(rows)->taken, first || again ? 0U : 2U);
  }
  EXPECT_GT(stopped, 0) << "between memory and the log it stops";
}

}  // namespace
}  // namespace atone::features_test
