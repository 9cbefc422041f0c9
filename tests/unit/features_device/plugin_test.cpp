// The plug-in's interface: what is refused, by whom and in which words; what happens when a device breaks; the canary.
#include <dlfcn.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare.hpp"
#include "device/flatten.hpp"
#include "device/library.hpp"
#include "engine/requests.hpp"

namespace atone::features_test {
namespace {

using namespace features;
using testing::HasSubstr;

std::string const head = R"(feature_set: shop
version: 1
entity: user
event_id: id
event_time: at
columns: {user: integer, id: integer, at: timestamp, amount: {type: decimal, scale: 2}, product: text}
windows: {3s: {last: 3s}, ever: {since: epoch}}
features:
)";

feature_set_ptr shop() {
  return set_of(head + "  spent: {sum: amount, over: [3s, ever]}\n  kinds: {distinct: product, over: [ever]}\n");
}

raw_rows purchases(std::int64_t users, std::int64_t each) {
  raw_rows rows;
  for (std::int64_t user = 0; user < users; ++user) {
    for (std::int64_t at = 0; at < each; ++at) rows.push_back({user, user * each + at, at * 1'000'000, at, std::string(1, 'a')});
  }
  return rows;
}

gpu_options emulated() {
  gpu_options made;
  made.plugin = emulated_plugin();
  made.block_threads = 64;
  return made;
}

timestamp const noon{duration{12'000'000}};

TEST(features_device, the_canary_compares_every_kind_of_feature_in_every_size_class) {
  auto options = emulated();
  options.block_threads = 256;
  auto const done = compare_gpu_with_cpu(options);
  EXPECT_TRUE(done) << done.error().message;
}

TEST(features_device, says_what_the_plugin_finds) {
  auto const found = look_for_gpus(emulated_plugin());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->no_device, "");
  ASSERT_EQ(found->devices.size(), 2U);
  EXPECT_EQ(found->devices[1].number, 1);
  EXPECT_EQ(found->devices[1].name, "emulated 1");
  EXPECT_THAT(found->built, HasSubstr("emulation"));
}

TEST(features_device, a_plugin_that_is_not_there_is_a_normal_machine) {
  auto const none = look_for_gpus("");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::unavailable);
  EXPECT_THAT(none.error().message, HasSubstr(gpu_plugin_name));
  auto const gone = look_for_gpus("nowhere/libatone_features_cuda.so");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, errc::unavailable);
  EXPECT_THAT(gone.error().message, HasSubstr("No such file"));
}

TEST(features_device, a_library_that_is_no_plugin_or_another_versions_is_refused) {
  auto const stranger = look_for_gpus(ATONE_NO_PLUGIN);
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code, errc::unsupported);
  auto const nothing = look_for_gpus(ATONE_NULL_PLUGIN);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, errc::unsupported);
  auto const other = gpu_engine::open(shop(), [] {
    gpu_options made;
    made.plugin = ATONE_OTHER_VERSION;
    return made;
  }());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, errc::unsupported);
  EXPECT_THAT(other.error().message, HasSubstr("layout"));
}

TEST(features_device, a_kind_of_feature_that_a_plugin_does_not_compute_is_refused_by_name) {
  auto const all = ~std::uint64_t{0};
  EXPECT_EQ(not_computed(*shop(), all), "");
  EXPECT_EQ(not_computed(*shop(), all & ~bit_of(aggregation::distinct)), "feature 'kinds' (distinct)");
}

TEST(features_device, options_out_of_bounds_are_refused) {
  auto options = emulated();
  options.block_threads = 48;
  EXPECT_EQ(gpu_engine::open(shop(), options).error().code, errc::invalid_argument);
  options.block_threads = 288;
  EXPECT_EQ(gpu_engine::open(shop(), options).error().code, errc::invalid_argument);
  options = emulated();
  options.warp_rows = options.thread_rows - 1;
  EXPECT_EQ(gpu_engine::open(shop(), options).error().code, errc::invalid_argument);
}

TEST(features_device, a_device_that_the_plugin_is_not_built_for_is_unsupported) {
  auto options = emulated();
  options.device = 16;  // the emulator's too old one
  auto const refused = gpu_engine::open(shop(), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("expected 8.0 or newer"));
}

TEST(features_device, asking_without_a_store_is_refused) {
  auto device = gpu_engine::open(shop(), emulated());
  ASSERT_TRUE(device);
  EXPECT_EQ(device->as_of(noon, noon).error().code, errc::invalid_argument);
  EXPECT_EQ(device->per_event().error().code, errc::invalid_argument);
}

TEST(features_device, two_devices_can_be_used_in_turn_by_one_thread) {
  auto const set = shop();
  auto const store = store_of(*set, purchases(3, 5));
  auto options = emulated();
  auto first = gpu_engine::open(set, options);
  options.device = 1;
  auto second = gpu_engine::open(set, options);
  ASSERT_TRUE(first->keep(store));
  ASSERT_TRUE(second->keep(store));
  for (auto* device : {&*first, &*second, &*first}) {
    auto const found = device->as_of(noon, noon);
    ASSERT_TRUE(found) << found.error().message;
    expect_same_bits(*set, *found, *feature_engine{set}.as_of(store, noon, noon));
  }
}

// Refused before anything runs: the device is as good as before.
TEST(features_device, what_does_not_fit_the_memory_is_refused_and_no_fault_of_the_device) {
  auto const set = shop();
  auto const store = store_of(*set, purchases(2, 200));
  auto options = emulated();
  options.scratch_bytes = 1000;  // of a warp, 200 distinct products may take 4 kB
  auto device = gpu_engine::open(set, options);
  ASSERT_TRUE(device);
  ASSERT_TRUE(device->keep(store));
  auto const refused = device->as_of(noon, noon);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::exhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("distinct"));
  auto const small = store_of(*set, purchases(2, 20));
  ASSERT_TRUE(device->keep(small));
  auto const found = device->as_of(noon, noon);
  ASSERT_TRUE(found) << found.error().message;
  expect_same_bits(*set, *found, *feature_engine{set}.as_of(small, noon, noon));
}

TEST(features_device, one_row_of_results_that_is_larger_than_a_batch_is_refused) {
  auto const set = shop();
  auto const store = store_of(*set, purchases(1, 1));
  auto options = emulated();
  options.result_bytes = 100;
  auto device = gpu_engine::open(set, options);
  ASSERT_TRUE(device->keep(store));
  EXPECT_EQ(device->as_of(noon, noon).error().code, errc::exhausted);
}

template <class Parameter>
void tell_emulator(char const* what, Parameter with) {
  auto* const library = dlopen(emulated_plugin().c_str(), RTLD_NOW);
  reinterpret_cast<void (*)(Parameter)>(dlsym(library, what))(with);
}

void fail_after(long launches) {
  tell_emulator("atone_emulator_fail_after", launches);
}

TEST(features_device, a_broken_device_says_so_from_then_on_and_never_gives_results) {
  auto const set = shop();
  auto const store = store_of(*set, purchases(3, 5));
  auto device = gpu_engine::open(set, emulated());
  ASSERT_TRUE(device->keep(store));
  ASSERT_TRUE(device->as_of(noon, noon));
  fail_after(0);
  auto const failed = device->as_of(noon, noon);
  fail_after(-1);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, errc::unavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("this process can't use it any more"));
  EXPECT_FALSE(device->as_of(noon, noon)) << "sticky";
  EXPECT_FALSE(device->keep(store));
}

// A device whose memory can't be asked for is broken, not too small.
TEST(features_device, an_allocation_that_a_broken_device_refuses_is_a_failure) {
  auto const set = shop();
  auto const store = store_of(*set, purchases(3, 5));
  auto device = gpu_engine::open(set, emulated());
  ASSERT_TRUE(device->keep(store));
  tell_emulator("atone_emulator_poison", true);
  auto const failed = device->as_of(noon, noon);
  auto other = gpu_engine::open(set, emulated());
  auto const not_kept = other->keep(store);
  tell_emulator("atone_emulator_poison", false);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, errc::unavailable);
  ASSERT_FALSE(not_kept);
  EXPECT_EQ(not_kept.error().code, errc::unavailable);
}

// A job of `rows` of a store's entities over the plug-in's own interface, into arrays that have room for more.
class roomy_job {
 public:
  roomy_job(feature_set_ptr const& set, event_store const& store, std::size_t rows, std::size_t room)
      : requests_(*requests_as_of(store, noon, noon)), plan_(compile(*set)), arrays_(*set, plan_, store), table_(empty_table(plan_, room)) {
    for (auto const& column : table_.columns) {
      results_.push_back(flat_result{column.cells.get(), column.states.get(), column.lanes});
      std::fill_n(column.cells.get(), room * column.lanes, untouched);
    }
    job_.plan = arrays_.view();
    job_.requests = requests_.data();
    job_.rows = rows;
    job_.results = flat_list<flat_result>{results_.data(), static_cast<std::uint32_t>(results_.size())};
  }
  device_job const& job() const { return job_; }
  bool is_untouched(std::size_t row) const { return table_.columns[0].integer(row) == untouched; }

 private:
  static constexpr std::int64_t untouched = -77;
  std::vector<row_request> requests_;
  feature_plan plan_;
  flat_plan_arrays arrays_;
  feature_table table_;
  std::vector<flat_result> results_;
  device_job job_;
};

TEST(features_device, no_memory_in_the_midst_of_a_job_leaves_nothing_for_the_next) {
  auto const set = shop();
  auto const store = store_of(*set, purchases(40, 3));
  auto const plan = compile(*set);
  auto const library = *load_device_plugin(emulated_plugin());
  device_tuning how;
  how.block_threads = 64;
  how.result_bytes = 512 * plan.columns.size() + 10 * (18 * plan.columns.size() + 28);  // ten rows or more a batch
  device_session* session = nullptr;
  device_words why;
  ASSERT_EQ(library->open(0, &how, &session, &why), device_status::done);
  flat_store_columns const columns{*set, plan, store};
  auto const view = columns.view();
  ASSERT_EQ(library->keep(session, &view, &why), device_status::done);
  for (long copies = 1; copies < 4; ++copies) {  // the plan, then one a batch
    {
      roomy_job const large{set, store, 40, 40};
      tell_emulator("atone_emulator_no_memory_after", copies);
      auto const status = library->compute(session, &large.job(), &why);
      tell_emulator("atone_emulator_no_memory_after", -1L);
      ASSERT_EQ(status, device_status::refused) << copies;
    }
    roomy_job const small{set, store, 2, 40};
    ASSERT_EQ(library->compute(session, &small.job(), &why), device_status::done) << why.text;
    EXPECT_FALSE(small.is_untouched(1));
    for (std::size_t row = 2; row < 40; ++row) ASSERT_TRUE(small.is_untouched(row)) << row << " after " << copies;
  }
  library->close(session);
}

}  // namespace
}  // namespace atone::features_test
