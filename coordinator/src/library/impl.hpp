// The coordinator's parts, and how they hang together: one loop thread with the engine, one writer, two readers, the handlers' pool.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atone/coordinator.hpp>

#include "environment.hpp"
#include "lease_keeper.hpp"
#include "reader_thread.hpp"
#include "retention_driver.hpp"
#include "runtime/engine.hpp"
#include "senders.hpp"
#include "shard_table.hpp"
#include "writer_thread.hpp"

namespace atone {

// The engine's happenings, brought to the user's observer where there is one.
class observing_probe final : public runtime::probe {
 public:
  explicit observing_probe(std::shared_ptr<observer> to) : to_(std::move(to)) {}
  void saga_started(saga_row const& row) override {
    if (to_) to_->saga_started(row);
  }
  void saga_ended(saga_row const& row) override {
    if (to_) to_->saga_ended(row);
  }
  void saga_parked(saga_row const& row) override {
    if (to_) to_->saga_parked(row);
  }
  void alerted(alert_row const& row) override {
    if (to_) to_->alerted(row);
  }
  void answer_late(saga_id saga, step_path const& step, operation op, attempt n) override {
    if (to_) to_->answer_late(saga, step, op, n);
  }
  void stopped_driving(error const& why) override {
    if (to_) to_->stopped_driving(why);
  }

 private:
  std::shared_ptr<observer> to_;
};

struct coordinator::impl final : runtime::scheduler, runtime::store_lookup {
  // What open() has of the store by the time the parts are made.
  struct opened {
    std::unique_ptr<store> from;
    std::unique_ptr<journal> to;
    std::unique_ptr<library::lease_keeper> lease;  // null: one coordinator at a time
    library::lease_news first;
    epoch owner;
    std::uint16_t shards = 1;
    timestamp now;

    opened() = default;
  };
  static result<opened> take_over(std::unique_ptr<store> from, options& with);
  impl(options with, opened what);
  ~impl() override;

  // scheduler
  void defer(std::function<void()> work) override;
  void wake_at(std::optional<timestamp> due) override;
  // store_lookup
  void last_output(std::string saga_name, step_path step, std::string key,
                   std::function<void(result<std::optional<last_output_row>>)> then) override;
  void reload(saga_id saga, std::function<void(result<std::optional<open_saga>>)> then) override;
  void load(std::vector<saga_place> which, std::function<void(result<std::vector<open_saga>>)> then) override;
  void holder_of(std::string saga_name, business_key key, std::function<void(result<std::optional<key_holder>>)> then) override;

  // Reads on a reader's thread and brings the outcome to the loop.
  template <class Value>
  void read_by(library::reader_thread& by, std::function<result<Value>(journal_reader&)> work, std::function<void(result<Value>)> then);
  template <class Value>
  void read_once(std::function<result<Value>(journal_reader&)> work, std::function<void(result<Value>)> then);
  template <class Value>
  void read_through(std::function<result<Value>(journal_reader&)> work, std::function<void(result<Value>)> then, duration pause);
  result<void> load();  // definitions and open sagas, before the loop runs
  void run_loop();
  void stop(duration grace);
  void on_loop(std::function<void()> work);
  void halt_senders();
  runtime::tenure& tenure() { return lease ? static_cast<runtime::tenure&>(*lease) : sole; }
  // The door for callers from outside: `work(then)` runs on the loop; once the coordinator has been stopped, `then` is told so at
  // once, on the caller's thread. Every `then` let in is told before stop() returns.
  template <class Then, class Work>
  void enter(Then then, Work work) {
    {
      std::lock_guard const held{door_lock};
      if (!closed) {
        boost::asio::post(loop, [then = std::move(then), work = std::move(work)]() mutable { work(std::move(then)); });
        return;
      }
    }
    then(library::stopped_error());
  }
  result<published> publish(std::string_view yaml);
  void answer_from_store(saga_id id, std::function<void(result<saga_view>)> then);
  void look_around();  // every tick: handlers that nobody has registered
  void ask_inbox();    // starts that wait in the store
  void heard(library::lease_news news);
  void note_clock(duration offset);
  struct wait_state;
  void wait(saga_id id, duration timeout, std::function<void(result<saga_view>)> then);
  void wait_once(std::shared_ptr<wait_state> const& one);
  void wait_in_store(std::shared_ptr<wait_state> const& one, bool last);
  void wait_again(std::shared_ptr<wait_state> const& one);
  std::set<std::shared_ptr<wait_state>> in_store;  // between two looks
  void start(start_request what, std::function<void(result<started>)> then);
  void tell_started(result<started> outcome, std::function<void(result<started>)> then);
  bool may_be_deleted(saga_id id);
  library::retention_ports retention_ports();
  result<void> with_retention(library::retention_ports::store_work const& work);
  // Asks the loop, from another thread, while it runs.
  template <class Value>
  Value ask_loop(std::function<Value()> question);
  void act(operator_request what, std::function<void(result<saga_view>)> then);
  void report(saga_id id, step_path step, operation op, attempt n, runtime::call_answer answer, std::function<void(result<void>)> then);
  void driver_of(saga_id id, std::function<void(result<driver>)> then);
  std::vector<node_view> nodes() const;
  // Why a saga that has not ended is not under way here.
  error elsewhere(saga_row const& row) const;

  options settings;
  std::unique_ptr<store> from;
  epoch owner;
  boost::asio::io_context loop{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard{loop.get_executor()};
  boost::asio::steady_timer alarm{loop};
  boost::asio::steady_timer tick{loop};
  bool inbox_asked = false;
  bool clock_is_off = false;
  duration clock_offset{};
  std::uint64_t inbox_after = 0;
  std::map<std::string, unsigned> missing_ticks;  // handler -> for how many ticks it has been missed
  runtime::tenure sole;                           // where there are no leases
  std::unique_ptr<library::lease_keeper> lease;
  library::lease_news first_look;
  library::database_clock clock;
  library::system_random random;
  library::time_ordered_ids ids{random};
  library::reader_thread reader;
  library::reader_thread engines_reader;
  library::writer_thread writer;
  library::http_sender remote;
  library::local_sender local;
  library::call_router router{remote, local};
  observing_probe happenings;
  std::unique_ptr<runtime::engine> engine;
  std::unique_ptr<library::shard_table> shards;  // null: all shards are ours
  std::optional<saga_id> newest_deleted;         // as it was found at the start
  std::unique_ptr<retention> deletes_beside;     // of the deleting thread; null: the journal has one
  library::retention_driver deleting;
  std::mutex stop_lock;
  std::mutex door_lock;
  bool closed = false;  // under door_lock
  bool running = false;
  std::atomic<bool> stopped{false};
  std::thread loop_thread;
  std::atomic<std::thread::id> loop_id{};
};

}  // namespace atone
