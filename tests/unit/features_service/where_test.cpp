// Who computes is invisible in the result: GPUs (emulated) and the CPU give the same versions, and a GPU that fails costs none.
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../features_device/workers.hpp"
#include "support.hpp"

namespace atone::features_test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

class where : public service_test {
 protected:
  static constexpr int users = 40;

  // What each of the users gets in one batch.
  std::vector<std::string> recompute_together() {
    raw_rows rows;
    for (std::int64_t n = 0; n < 400; ++n)
      rows.push_back({n * 7 % users, "id" + std::to_string(n), n % 30 * second, n, std::string{"tea"}});
    must_append(rows);
    auto const syncs = gate.arrived();
    gate.close();
    service->async_recompute(wish("first", "1000", second), [](auto const&) {});
    gate.await(syncs + 1);
    std::vector<std::promise<std::string>> told(users);
    for (std::size_t user = 0; user < users; ++user) {
      service->async_recompute(wish("s" + std::to_string(user), std::to_string(user), 25 * second),
                               [&told, user](auto made) { told[user].set_value(made ? made->version.json : made.error().message); });
    }
    gate.open();
    std::vector<std::string> made;
    for (auto& one : told) made.push_back(one.get_future().get());
    return made;
  }
  feature_service_options gathering() {
    auto made = options();
    made.batch_requests = users;                 // and where GPUs compute, no fewer than are worth it
    made.batch_wait = std::chrono::seconds{20};  // the batch is closed by its count: all of them are one
    return made;
  }
};

TEST_F(where, the_cpu_and_a_gpu_publish_the_same_bytes) {
  open(gathering());
  auto const by_cpu = recompute_together();
  EXPECT_EQ(service->figures().rows_by_gpu, 0U);
  service.reset();
  std::filesystem::remove_all(folder.path() + "/data");
  auto with = gathering();
  with.recompute.gpus = {worker_on(0)};
  with.recompute.gpu_rows_least = users;
  open(with);
  EXPECT_EQ(recompute_together(), by_cpu);
  EXPECT_EQ(service->figures().rows_by_gpu, static_cast<std::uint64_t>(users));
  EXPECT_EQ(service->figures().rows_by_cpu, 1U) << "the single one before is not worth it";
  EXPECT_THAT(alerts(), IsEmpty());
}

TEST_F(where, the_cpu_does_what_a_gpu_that_fails_has_left_and_an_alert_says_so) {
  auto with = gathering();
  auto broken = worker_on(0);
  broken.program = folder.file("no such worker");
  with.recompute.gpus = {broken};
  with.recompute.gpu_rows_least = users;
  open(with);
  EXPECT_THAT(recompute_together(), Each(HasSubstr(R"("ever":{"n":)")));
  EXPECT_EQ(service->figures().rows_by_cpu, static_cast<std::uint64_t>(users) + 1);
  EXPECT_THAT(alerts(), testing::ElementsAre(HasSubstr("GPU 0")));
}

}  // namespace
}  // namespace atone::features_test
