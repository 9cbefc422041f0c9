// The checker of locks can fail: fed with two sagas of one lock, it says so when both have it, when it is passed on too early, when the
// later one has it first, and when one sends without it.
#include <algorithm>

#include <gtest/gtest.h>

#include "judge.hpp"

namespace atone::simulation {
namespace {

writer_number const writer{1};

std::vector<blueprint> locked() {
  step_plan only;
  only.path = "s0";
  only.where.way.emplace_back(0, -1);
  only.has_undo = true;
  std::vector<blueprint> made;
  made.push_back(fixed_blueprint("locked", R"(saga: locked
version: 1
lock: =input.user
services: {a: {http: "http://127.0.0.1:1"}}
steps:
  - id: s0
    call: a POST /s0
    in: {}
    compensate: {call: a POST /undo, in: {}}
)",
                                 {only}));
  return made;
}

class queue {
 public:
  queue() : definitions_(locked()), judge_(definitions_, true) {
    judge_.clock([this] { return now_; });
    judge_.epoch_raised(writer, epoch{1}, true);
    for (std::uint8_t number = 1; number <= 2; ++number) {
      saga_id::bytes bytes{};
      bytes[15] = number;
      sagas_.emplace_back(definitions_[0].loaded, saga_id{bytes}, business_key{std::to_string(number)});
    }
  }

  // Of the first or second saga; what is added goes with the next write().
  queue& add(std::size_t which, event_kind kind) {
    auto& of = sagas_.at(which);
    event what;
    what.kind = kind;
    what.seq = sequence{of.last().value() + 1};
    what.at = timestamp{} + ++now_;
    if (kind == event_kind::started) what.payload = R"({"user": 5})";
    if (kind == event_kind::step_succeeded) {
      what.step = step_path{"s0"};
      what.op = operation::act;
      what.n = attempt{1};
    }
    EXPECT_TRUE(of.apply(what).has_value());
    saga_row row;
    row.id = of.id();
    row.key = business_key{std::to_string(which + 1)};
    row.definition = definitions_[0].loaded->ref;
    row.status = of.status();
    if (kind == event_kind::started) batch_.starts.emplace_back().row = row;
    batch_.changes.emplace_back().row = row;
    auto& record = batch_.records.emplace_back();
    record.saga = of.id();
    record.event = what;
    return *this;
  }
  void write() { judge_.committed(writer, epoch{1}, std::exchange(batch_, {}), {}); }
  void both_started() { add(0, event_kind::started).add(1, event_kind::started).write(); }
  void send(std::size_t which) {
    runtime::outgoing_call made;
    made.saga = sagas_.at(which).id();
    made.step = step_path{"s0"};
    made.n = attempt{1};
    made.epoch = epoch{1};
    judge_.sent(std::nullopt, made);
  }
  bool objects() const {
    auto const& all = judge_.violations();
    return std::any_of(all.begin(), all.end(), [](violation const& one) { return one.checker == "lock"; });
  }
  bool nothing() const { return judge_.violations().empty(); }

 private:
  std::vector<blueprint> definitions_;
  duration now_{};
  judge judge_;
  std::vector<saga_machine> sagas_;
  journal_batch batch_;
};

TEST(lock_checker, one_after_the_other_is_right) {
  queue of;
  of.both_started();
  of.add(0, event_kind::lock_granted).write();
  of.send(0);
  of.add(0, event_kind::step_succeeded).write();
  of.add(1, event_kind::lock_granted).write();
  of.send(1);
  EXPECT_TRUE(of.nothing());
}

TEST(lock_checker, two_at_a_time_are_wrong) {
  queue of;
  of.both_started();
  of.add(0, event_kind::lock_granted).write();
  EXPECT_TRUE(of.nothing());
  of.add(1, event_kind::lock_granted).write();
  EXPECT_TRUE(of.objects());
}

TEST(lock_checker, a_grant_in_the_batch_of_the_end_is_wrong) {
  queue of;
  of.both_started();
  of.add(0, event_kind::lock_granted).write();
  of.add(0, event_kind::step_succeeded).add(1, event_kind::lock_granted).write();
  EXPECT_TRUE(of.objects());
}

TEST(lock_checker, the_later_one_first_is_wrong) {
  queue of;
  of.both_started();
  of.add(1, event_kind::lock_granted).write();
  EXPECT_TRUE(of.objects());
}

TEST(lock_checker, sending_without_it_is_wrong) {
  queue of;
  of.both_started();
  of.send(0);
  EXPECT_TRUE(of.objects());
}

}  // namespace
}  // namespace atone::simulation
