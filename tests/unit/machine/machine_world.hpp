// A shell in miniature around the pure machine: scripted participants with a barrier, virtual time, and a crash wherever asked.
// After every event it checks that replaying the journal gives the same state, and that what the machine says is outstanding is
// exactly what its commands have put under way.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/load.hpp>
#include <atone/machine.hpp>

namespace atone::test {

// What a participant does when asked; the last one of a script is repeated for ever.
enum class reply : std::uint8_t {
  ok,        // does it, answers
  reject,    // a final no
  err,       // 503 before doing anything: nobody can know
  not_done,  // refused before work (429)
  drop,      // does it, the answer is lost
  hang,      // never answers; only a timeout or an end of the wait gets past it
};

struct sent_call {
  std::string step;
  operation op = operation::act;
  std::uint32_t n = 0;
  std::string target;
  std::string body;
  bool again = false;

  friend bool operator==(sent_call const&, sent_call const&) = default;
};

class machine_world {
 public:
  explicit machine_world(std::string_view yaml, std::string input = "{}");

  void script(std::string const& step, operation op, std::deque<reply> replies) { scripts_[{step, op}] = std::move(replies); }
  // Of a step's action ("order"), or of another of its operations ("order fallback").
  void answer(std::string const& step, std::string json) { answers_[step] = std::move(json); }
  void last_output(std::string const& step, std::string json) { last_outputs_[step] = std::move(json); }
  // Drops machine, timers and calls under way after this event, and goes on from the journal.
  void crash_after(std::uint32_t event) { crash_after_ = event; }
  // The first sending of this step's action reaches the participant; its sender dies before the answer.
  void crash_when_sent(std::string step) { crash_when_sent_ = std::move(step); }
  // For wide sagas: no replay after every event.
  void without_checks() { checks_ = false; }
  std::size_t armed_timers() const { return timers_.size(); }
  // Called after each event; may call inject().
  std::function<void(machine_world&, event const&)> on_event;

  // Starts, and runs until the saga ends, is parked, or nothing can happen any more.
  void run();
  // Applies an event from outside; its failure, if the machine refuses it.
  std::optional<error> inject(event what);
  std::optional<error> operator_action(event_kind kind, std::string step = {}, std::string note = "because", std::string payload = {});
  // Goes on after an operator's action.
  void go_on();

  saga_machine const& machine() const { return *machine_; }
  saga_status status() const { return machine_->status(); }
  std::vector<event> const& journal() const { return journal_; }
  std::vector<sent_call> const& calls() const { return calls_; }
  std::vector<alert_command> const& alerts() const { return alerts_; }
  std::map<std::string, log_compensation_command> const& log() const { return log_; }
  std::vector<record_output_command> const& recorded() const { return recorded_; }
  timestamp now() const { return now_; }

  std::size_t called(std::string const& step, operation op) const;
  // Steps in the order in which their compensations were first sent.
  std::vector<std::string> compensation_order() const;
  // The same, without those that found nothing to undo.
  std::vector<std::string> undone_order() const;
  bool crashed() const noexcept { return crashed_; }
  // Net effect at the participant: applied actions minus applied compensations.
  int effect(std::string const& step) const;
  std::size_t applied(std::string const& step, operation op) const;

 private:
  using call_key = std::pair<std::string, operation>;
  struct timer {
    timer_kind kind;
    std::string step;
    operation op;
    friend auto operator<=>(timer const&, timer const&) = default;
  };

  void start();
  void step();
  void take(std::vector<command> commands);
  void deliver(event what);
  void answer_call(sent_call const& call);
  bool next_timer();
  void crash();
  void check() const;
  bool participant_does(std::string const& step, operation op);
  reply next_reply(std::string const& step, operation op);
  std::set<std::string> under_way() const;

  definition_ptr definition_;
  std::string input_;
  std::optional<saga_machine> machine_;
  timestamp now_{std::chrono::seconds{1'700'000'000}};
  std::uint64_t random_ = 0x9E3779B97F4A7C15;
  std::vector<event> journal_;
  std::deque<sent_call> in_flight_;
  std::set<call_key> hanging_;
  std::map<timer, timestamp> timers_;
  std::optional<last_output_command> lookup_;
  std::map<call_key, std::deque<reply>> scripts_;
  std::map<std::string, std::string> answers_;
  std::map<std::string, std::string> last_outputs_;
  std::vector<sent_call> calls_;
  std::vector<alert_command> alerts_;
  std::map<std::string, log_compensation_command> log_;
  std::vector<record_output_command> recorded_;
  std::map<call_key, std::size_t> applied_;
  std::set<std::string> tombstones_;
  std::optional<std::uint32_t> crash_after_;
  bool crashed_ = false;
  bool checks_ = true;
  std::string crash_when_sent_;
};

// The helper of every scenario: runs `setup` undisturbed, then once more with a crash after each event, and demands the same outcome,
// each effect at most once a key, and no net effect of a compensated saga.
void run_with_every_crash(std::string_view yaml, std::string const& input, std::function<void(machine_world&)> const& setup,
                          std::function<void(machine_world&)> const& expect);

}  // namespace atone::test
