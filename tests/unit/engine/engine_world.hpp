// The engine alone in the hand of a test: memory store, and a writer, participants and a clock that do nothing by themselves.
// What the engine has asked for waits in lists until the test lets it happen, so each state between two happenings can be seen.
//
// Every member that lets something happen runs the engine's own turns to their end before it returns.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <atone/load.hpp>

#include "runtime/engine.hpp"

namespace atone::test {

// What a callback was told; asking before it was called ends the test.
template <class T>
class told {
 public:
  std::function<void(result<T>)> callback() const {
    return [kept = kept_](result<T> what) {
      EXPECT_FALSE(kept->has_value()) << "told twice";
      kept->emplace(std::move(what));
    };
  }
  bool heard() const { return kept_->has_value(); }
  bool fine() const { return heard() && (*kept_)->has_value(); }
  std::add_lvalue_reference_t<T const> value() const { return answer().value(); }
  errc code() const { return answer().error().code; }
  std::string const& message() const { return answer().error().message; }

 private:
  result<T> const& answer() const {
    if (!heard()) throw std::logic_error{"nothing was told yet"};
    return **kept_;
  }
  std::shared_ptr<std::optional<result<T>>> kept_ = std::make_shared<std::optional<result<T>>>();
};

struct sent_call {
  runtime::outgoing_call what;
  runtime::caller::completion done;  // empty once answered, abandoned, taken back or lost in a crash
  bool left = true;

  sent_call() = default;
};

runtime::call_answer done_with(std::string payload = "null");
runtime::call_answer refused_with(std::string text);
runtime::call_answer failed_with(certainty sureness);

class engine_world final : public clock_source,
                           public random_source,
                           public id_source,
                           public runtime::caller,
                           public runtime::batch_writer,
                           public runtime::store_lookup,
                           public runtime::scheduler,
                           public runtime::probe,
                           public runtime::tenure {
 public:
  using action_kind = operator_request::action_kind;
  using tampering = std::function<void(open_saga&)>;
  static constexpr std::string_view poison = "poison";  // a record whose payload holds it is refused by the store

  explicit engine_world(std::string_view yaml, runtime::engine_settings settings = {});
  ~engine_world() override;

  // ---- its life ----
  void publish(std::string_view yaml);
  void unpublish(std::string_view name);
  // What is not in the store is lost; another engine takes over. `tamper` changes what it finds.
  void crash(tampering const& tamper = {});
  // Another coordinator takes the store over: the next write is fenced.
  void take_over_by_another();
  runtime::engine& engine() { return *engine_; }
  // Every open saga as the store has it: what another coordinator would find.
  std::vector<open_saga> open_sagas();
  // Whether the lease stands; renewed when it comes back.
  void lease(bool stands);
  void settle();

  // ---- what is asked ----
  told<started> start(std::string key = {}, std::string input = "{}");  // of the definition published first
  saga_id begun(std::string key = {}, std::string input = "{}");        // started, and durable
  told<saga_view> act(action_kind what, saga_id saga, std::string step = {}, std::string note = {}, std::string output = {});
  told<std::optional<saga_view>> view(saga_id saga);
  told<std::optional<saga_view>> wait(saga_id saga);
  told<void> report(saga_id saga, std::string step, std::uint32_t n, runtime::call_answer answer);

  // ---- the writer ----
  std::size_t writes() const { return writes_.size(); }
  journal_batch const& next_write() const { return writes_.at(0).batch; }
  bool next_is_sql() const { return !writes_.empty() && writes_.front().sql.has_value(); }
  sql_statement const& next_sql() const { return writes_.at(0).sql.value(); }
  void commit();                                         // the oldest write becomes durable and is answered
  void commit_all();                                     // and the reads and writes that follow from it
  void make_durable();                                   // the oldest write is in the store; nobody has been told
  void refuse_all_of(saga_id saga) { refused_ = saga; }  // whatever is written of it from now on is refused as bad data
  void fail_write(errc code);                            // the oldest one ends without having been written
  void run_sql(std::string answer);
  void refuse_sql(std::string why);

  // ---- reads ----
  std::size_t reads() const { return reads_.size(); }
  void read();  // the oldest read is answered
  void fail_read(bool from_now_on = true) { reads_fail_ = from_now_on; }
  void fail_read_of(saga_id saga) { unreadable_ = saga; }  // as long as it is asked for; nobody: the empty one

  // ---- participants ----
  void hold_calls(bool hold) { hold_ = hold; }  // what is sent from now on does not leave
  std::size_t sent() const { return calls_.size(); }
  sent_call const& call(std::size_t at) const { return calls_.at(at); }
  std::vector<std::string> under_way(saga_id saga) const;  // steps whose call has not been answered
  void answer(saga_id saga, std::string_view step, runtime::call_answer with, operation op = operation::act);
  // Answers, and commits everything that follows.
  void succeed(saga_id saga, std::string_view step, operation op = operation::act);
  void refuse(saga_id saga, std::string_view step);

  // ---- time ----
  std::optional<timestamp> alarm() const { return alarm_; }
  void take_time(duration time) { now_ += time; }
  void wake();               // the alarm rings once
  void pass(duration time);  // and wakes the engine while its alarm is due

  // ---- the store, and what was noted ----
  saga_row stored(saga_id saga);
  std::size_t stored_sagas();
  std::vector<event_kind> history(saga_id saga);
  std::vector<alert_row> alerts_of(saga_id saga);
  journal_reader& reader() { return *reader_; }
  std::size_t stops() const { return stops_; }
  std::size_t late() const { return late_; }

  // ---- the ports ----
  timestamp now() override { return now_; }
  std::uint64_t next() override { return ++random_; }
  saga_id next_saga(timestamp at) override;
  void send(runtime::outgoing_call what, runtime::caller::completion done) override;
  runtime::given_up abandon(saga_id saga, step_path const& step, operation op) override;
  runtime::given_up take_back(saga_id saga, step_path const& step, operation op) override;
  bool serves(std::string const&) const override { return serves_; }
  void with_handlers(bool bound) { serves_ = bound; }
  void halt() override;
  bool holds() const override { return lease_stands_; }
  void holder_of(std::string saga_name, business_key key, std::function<void(result<std::optional<key_holder>>)> then) override;
  void commit(journal_batch batch, runtime::batch_writer::completion done) override;
  void commit_sql(sql_statement statement, journal::answer_to_batch on_success, sql_completion done) override;
  void last_output(std::string saga_name, step_path step, std::string key,
                   std::function<void(result<std::optional<last_output_row>>)> then) override;
  void reload(saga_id saga, std::function<void(result<std::optional<open_saga>>)> then) override;
  void load(std::vector<saga_place> which, std::function<void(result<std::vector<open_saga>>)> then) override;
  void defer(std::function<void()> work) override { turns_.push_back(std::move(work)); }
  void wake_at(std::optional<timestamp> due) override { alarm_ = due; }
  void stopped_driving(error const&) override { ++stops_; }
  void answer_late(saga_id, step_path const&, operation, attempt) override { ++late_; }

 private:
  struct write {
    journal_batch batch;
    runtime::batch_writer::completion done;
    std::optional<sql_statement> sql;
    journal::answer_to_batch on_success;
    sql_completion sql_done;
    bool durable = false;
    isolating_report outcome;

    write() = default;
  };

  void boot(tampering const& tamper);
  write take_write();
  result<isolating_report> store(journal_batch const& batch);

  runtime::engine_settings settings_;
  timestamp now_{std::chrono::seconds{1'700'000'000}};
  std::unique_ptr<atone::store> store_;
  std::unique_ptr<journal> journal_;
  std::unique_ptr<journal_reader> reader_;
  std::vector<definition_ptr> definitions_;
  std::unique_ptr<runtime::engine> engine_;
  std::deque<std::function<void()>> turns_;
  std::deque<write> writes_;
  std::deque<std::function<void()>> reads_;
  std::vector<sent_call> calls_;
  std::optional<timestamp> alarm_;
  saga_id refused_;
  std::uint64_t number_ = 0;
  std::uint64_t random_ = 0;
  std::uint64_t ids_ = 0;
  std::size_t stops_ = 0;
  std::size_t late_ = 0;
  saga_id unreadable_;
  bool reads_fail_ = false;
  bool hold_ = false;
  bool serves_ = true;
  bool lease_stands_ = true;
};

}  // namespace atone::test
