// Finished sagas are deleted while others go on, and what is said of them then: a real file, real threads.
#include <atomic>
#include <filesystem>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/coordinator.hpp>

#include "pace.hpp"

namespace atone {
namespace {

using test::comes_true;
using testing::HasSubstr;
using testing::Not;

constexpr test::span patience{20'000};

std::string const definition = R"(saga: one
version: 1
input: {type: object, required: [n], properties: {n: {type: integer}}}
services: {shop: {local: shop}}
defaults:
  retry: {attempts: 2, delay: 1ms, jitter: none}
  compensate: {attempts: 1, delay: 1ms, jitter: none}
steps:
  - id: pay
    call: shop pay
    in: {n: =input.n}
    compensate: {call: shop refund, in: {n: =input.n}}
  - id: ship
    call: shop ship
    in: {n: =input.n}
    compensate: {call: shop unship, in: {n: =input.n}}
)";

// n = 13: refused, and its compensation too; n = 7: refused; n = 99: hangs until it is let go.
class library_retention : public testing::Test {
 protected:
  library_retention() {
    auto pattern = (std::filesystem::temp_directory_path() / "atone-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~library_retention() override {
    let_go();
    sagas_.reset();
    std::filesystem::remove_all(folder_);
  }

  options on_file() const { return options{"sqlite:" + folder_ + "/sagas.db"}; }

  void open(duration retention, duration keys = std::chrono::hours{24}) {
    auto with = on_file();
    with.retention = retention;
    with.key_retention = keys;
    auto opened = coordinator::open(std::move(with));
    ASSERT_TRUE(opened) << opened.error().message;
    sagas_ = std::move(*opened);
    auto const takes = [](call const&) { return done(); };
    sagas_->handle("shop", "pay", takes);
    sagas_->handle("shop", "unship", takes);
    sagas_->handle("shop", "refund",
                   [](call const& asked) { return asked.input().find("13") != std::string::npos ? refused("no way back") : done(); });
    sagas_->handle("shop", "ship", [this](call const& asked) {
      if (asked.input().find("13") != std::string::npos || asked.input().find("7}") != std::string::npos) return refused("no");
      if (asked.input().find("99") != std::string::npos) gate_.get_future().wait();
      return done();
    });
    ASSERT_TRUE(sagas_->publish(definition));
    ASSERT_TRUE(sagas_->run());
  }
  void let_go() {
    if (!std::exchange(let_go_, true)) gate_.set_value();
  }

  saga_id begin(int n, std::string key = {}) {
    auto const made = start(n, std::move(key));
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->id : saga_id{};
  }
  result<started> start(int n, std::string key = {}) {
    start_request what;
    what.saga = "one";
    what.key = business_key{std::move(key)};
    what.input = "{\"n\":" + std::to_string(n) + "}";
    return sagas_->start(std::move(what));
  }
  saga_status end_of(saga_id id) {
    auto const view = sagas_->wait(id, std::chrono::seconds{20});
    EXPECT_TRUE(view) << view.error().message;
    return view ? view->row.status : saga_status::running;
  }
  bool deletes(std::uint64_t count) {
    return comes_true([&] { return sagas_->deletions().deleted_sagas >= count; }, patience);
  }

  std::string folder_;
  std::promise<void> gate_;
  bool let_go_ = false;
  std::unique_ptr<coordinator> sagas_;
};

TEST_F(library_retention, finished_sagas_go_and_parked_and_open_ones_stay) {
  ASSERT_NO_FATAL_FAILURE(open(std::chrono::seconds{1}));
  auto const completed = begin(1);
  auto const compensated = begin(7);
  auto const parked = begin(13);
  auto const open_one = begin(99);
  EXPECT_EQ(end_of(completed), saga_status::completed);
  EXPECT_EQ(end_of(compensated), saga_status::compensated);
  EXPECT_EQ(end_of(parked), saga_status::parked);
  ASSERT_TRUE(deletes(2));
  auto const passes = sagas_->deletions().passes;
  EXPECT_TRUE(comes_true([&] { return sagas_->deletions().passes >= passes + 2; }, patience));
  EXPECT_EQ(sagas_->deletions().deleted_sagas, 2u);
  EXPECT_EQ(sagas_->get(parked)->row.status, saga_status::parked);
  EXPECT_EQ(sagas_->get(open_one)->row.status, saga_status::running);
  // A person decides about the parked one; then it goes, too, and so does the open one after its end.
  operator_request skip;
  skip.action = operator_request::action_kind::skip;
  skip.saga = parked;
  skip.note = "refunded by hand";
  EXPECT_TRUE(sagas_->act(skip));
  let_go();
  EXPECT_EQ(end_of(open_one), saga_status::completed);
  EXPECT_TRUE(deletes(4));
}

TEST_F(library_retention, whoever_asks_for_a_deleted_saga_is_told_so) {
  ASSERT_NO_FATAL_FAILURE(open(std::chrono::seconds{1}));
  auto const gone = begin(1);
  EXPECT_EQ(end_of(gone), saga_status::completed);
  ASSERT_TRUE(deletes(1));
  operator_request cancel;
  cancel.saga = gone;
  for (auto const& refused_by : {sagas_->get(gone), sagas_->wait(gone, std::chrono::seconds{20}), sagas_->act(cancel)}) {
    ASSERT_FALSE(refused_by);
    EXPECT_EQ(refused_by.error().code, errc::not_found);
    EXPECT_THAT(refused_by.error().message, HasSubstr("deleted after its retention"));
  }
  auto const never_was = sagas_->get(*saga_id::parse("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"));
  ASSERT_FALSE(never_was);
  EXPECT_THAT(never_was.error().message, Not(HasSubstr("deleted")));
}

TEST_F(library_retention, a_key_of_a_deleted_saga_starts_nothing_and_says_that_it_is_gone) {
  ASSERT_NO_FATAL_FAILURE(open(std::chrono::seconds{1}));
  auto const first = start(1, "order-1");
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->replayed);
  EXPECT_EQ(end_of(first->id), saga_status::completed);
  auto const soon = start(1, "order-1");
  ASSERT_TRUE(soon);
  EXPECT_TRUE(soon->replayed);
  ASSERT_TRUE(deletes(1));
  auto const late = start(1, "order-1");
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->id, first->id);
  EXPECT_TRUE(late->replayed);
  EXPECT_TRUE(late->gone);
  auto const other = start(2, "order-1");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, errc::conflict);
  auto const waited = sagas_->run("one", business_key{"order-1"}, R"({"n":1})");
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, errc::not_found);
  // The same where the definition would refuse the input by now: the key says what there was.
  ASSERT_TRUE(
      sagas_->publish("saga: one\nversion: 2\ninput: {type: object, required: [m]}\nservices: {shop: {local: shop}}\nsteps:\n  - {id: pay, "
                      "call: shop pay, in: {}, read_only: true}\n"));
  auto const refused_now = start(1, "order-1");
  ASSERT_TRUE(refused_now) << refused_now.error().message;
  EXPECT_EQ(refused_now->id, first->id);
  EXPECT_TRUE(refused_now->gone);
}

TEST_F(library_retention, a_key_whose_time_is_over_starts_a_new_saga) {
  ASSERT_NO_FATAL_FAILURE(open(std::chrono::seconds{1}, std::chrono::seconds{1}));
  auto const first = begin(1, "order-1");
  EXPECT_EQ(end_of(first), saga_status::completed);
  ASSERT_TRUE(comes_true([this] { return sagas_->deletions().deleted_keys >= 1; }, patience));
  auto const second = start(2, "order-1");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_NE(second->id, first);
  EXPECT_FALSE(second->replayed);
}

TEST_F(library_retention, after_a_restart_without_retention_what_was_deleted_is_still_known_as_such) {
  ASSERT_NO_FATAL_FAILURE(open(std::chrono::seconds{1}));
  auto const gone = begin(1, "order-1");
  EXPECT_EQ(end_of(gone), saga_status::completed);
  ASSERT_TRUE(deletes(1));
  sagas_.reset();
  ASSERT_NO_FATAL_FAILURE(open(duration{0}));
  auto const again = start(1, "order-1");
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->gone);
  EXPECT_THAT(sagas_->get(gone).error().message, HasSubstr("deleted after its retention"));
  auto const kept = begin(2);
  EXPECT_EQ(end_of(kept), saga_status::completed);
  EXPECT_EQ(sagas_->deletions().passes, 0u);
  EXPECT_TRUE(sagas_->get(kept));
}

TEST_F(library_retention, an_age_that_can_not_be_meant_is_refused) {
  for (duration const wrong : {duration{1}, duration{std::chrono::milliseconds{999}}, duration{-1}, duration_max + duration{1}}) {
    auto with = on_file();
    with.retention = wrong;
    auto const opened = coordinator::open(std::move(with));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::invalid_argument);
    EXPECT_THAT(opened.error().message, HasSubstr("retention"));
  }
}

}  // namespace
}  // namespace atone
