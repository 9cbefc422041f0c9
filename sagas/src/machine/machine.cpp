#include <algorithm>
#include <array>

#include "state.hpp"

namespace atone {

saga_machine::saga_machine(definition_ptr definition, saga_id id, business_key key) : state_(std::make_unique<machine::saga_state>()) {
  ATONE_ASSERT(definition != nullptr);
  state_->definition = std::move(definition);
  state_->id = id;
  state_->key = std::move(key);
  state_->root.steps = &state_->definition->steps;
}

saga_machine::~saga_machine() = default;
saga_machine::saga_machine(saga_machine const& other) : state_(std::make_unique<machine::saga_state>(*other.state_)) {}
saga_machine& saga_machine::operator=(saga_machine const& other) {
  if (this != &other) state_ = std::make_unique<machine::saga_state>(*other.state_);
  return *this;
}
saga_machine::saga_machine(saga_machine&&) noexcept = default;
saga_machine& saga_machine::operator=(saga_machine&&) noexcept = default;

result<std::vector<command>> saga_machine::apply(event const& next) {
  ATONE_ASSERT(next.seq.value() == state_->last.value() + 1);
  ATONE_ASSERT(next.kind == event_kind::started || state_->last.value() > 0);
  if (auto refused = machine::refuse(*state_, next)) return std::move(*refused);
  std::vector<command> commands;
  machine::turn{*state_, next, commands}.run();
  state_->last = next.seq;
  ATONE_ASSERT(!(state_->committed && state_->failing));
  ATONE_ASSERT(state_->end != machine::ending::compensated || state_->failing);
  ATONE_ASSERT(state_->end == machine::ending::none || state_->parked_steps == 0);
  return commands;
}

std::optional<timestamp> saga_machine::rests_until() const {
  return machine::rests_until_of(*state_);
}
std::vector<command> saga_machine::outstanding() const {
  return machine::outstanding_of(*state_);
}

saga_status saga_machine::status() const noexcept {
  if (state_->end == machine::ending::completed) return saga_status::completed;
  if (state_->end == machine::ending::compensated) return saga_status::compensated;
  if (state_->parked || state_->parked_steps > 0) return saga_status::parked;
  if (state_->paused) return saga_status::paused;
  if (state_->failing) return saga_status::compensating;
  return state_->waits_for_lock ? saga_status::waiting : saga_status::running;
}

saga_id saga_machine::id() const noexcept {
  return state_->id;
}
sequence saga_machine::last() const noexcept {
  return state_->last;
}
std::string const& saga_machine::cause() const noexcept {
  return state_->cause;
}
std::string const& saga_machine::output() const noexcept {
  return state_->output;
}
bool saga_machine::paused() const noexcept {
  return state_->paused;
}
bool saga_machine::parked_itself() const noexcept {
  return state_->parked;
}

bool saga_machine::expects(step_path const& step, operation op, attempt n) const {
  if (state_->end != machine::ending::none) return false;
  auto const* const run = machine::find_run(state_->root, step);
  return run != nullptr && machine::waits_for(*run, op, n);
}

attempt saga_machine::attempt_out(step_path const& step, operation op) const {
  auto const* const run = machine::find_run(state_->root, step);
  if (run == nullptr) return attempt{};
  if (op == operation::act && run->phase == run_phase::active) return attempt{run->attempts};
  if (op == operation::compensate && run->undo == undo_phase::active) return attempt{run->undo_attempts};
  return attempt{};
}

bool saga_machine::gives_up_at_timeout(step_path const& step) const {
  auto const* const run = machine::find_run(state_->root, step);
  return run != nullptr && run->phase == run_phase::active && run->timeout_due && machine::gives_up_at_timeout(*state_, *run);
}

std::string const& saga_machine::lock() const noexcept {
  return state_->lock;
}
bool saga_machine::has_lock() const noexcept {
  return !state_->lock.empty() && !state_->waits_for_lock;
}
bool saga_machine::can_cancel() const noexcept {
  return state_->end == machine::ending::none && !state_->failing && !state_->pivot_sent;
}
definition const& saga_machine::bound_to() const noexcept {
  return *state_->definition;
}

std::vector<step_view> saga_machine::steps() const {
  std::vector<step_view> views;
  views.reserve(state_->root.runs.size());
  machine::for_each_run(std::as_const(state_->root), [&](machine::step_run const& run) {
    step_view view;
    view.path = run.path;
    view.phase = run.phase;
    view.undo = run.undo;
    view.attempts = run.attempts;
    view.undo_attempts = run.undo_attempts;
    view.fell_back = run.fell_back;
    view.maybe_sent = run.maybe_sent;
    view.last_error = run.last_error;
    views.push_back(std::move(view));
  });
  return views;
}

std::vector<step_path> saga_machine::parked_steps() const {
  std::vector<step_path> parked;
  machine::for_each_run(std::as_const(state_->root), [&](machine::step_run const& run) {
    bool const at_work = state_->parked && (run.phase == run_phase::active || run.undo == undo_phase::active);
    if (at_work || run.phase == run_phase::parked || run.undo == undo_phase::parked) parked.push_back(run.path);
  });
  return parked;
}

std::string_view name(run_phase phase) noexcept {
  static constexpr std::array<std::string_view, 11> words{"pending",     "skipped", "active",   "waiting_retry", "retry_held", "looking_up",
                                                          "in_branches", "done",    "not_done", "maybe_done",    "parked"};
  auto const at = static_cast<std::size_t>(phase);
  return at < words.size() ? words[at] : "unknown";
}

std::string_view name(undo_phase phase) noexcept {
  static constexpr std::array<std::string_view, 8> words{"none",       "pending", "active", "waiting_retry",
                                                         "retry_held", "done",    "parked", "skipped"};
  auto const at = static_cast<std::size_t>(phase);
  return at < words.size() ? words[at] : "unknown";
}

}  // namespace atone
