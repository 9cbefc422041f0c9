#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cli/timeline.hpp"

namespace atone::cli {
namespace {

using row_key = std::pair<step_path, operation>;

// What one operation of one step went through.
struct course {
  std::vector<timeline_bar> bars;
  std::uint32_t attempts = 0;
  std::uint32_t transient = 0;      // attempts that failed and were repeated
  std::string last_transient;       // what the last of them said
  std::optional<event_kind> ended;  // succeeded, refused, or nothing yet
  std::int32_t status = 0;

  course() = default;
};

bool is_attempt_end(event_kind kind) noexcept {
  return kind == event_kind::step_succeeded || kind == event_kind::step_refused || kind == event_kind::attempt_failed;
}

bool undoes(operation op) noexcept {
  return op == operation::compensate || op == operation::cancel || op == operation::abort;
}

// Reads a history into courses, in the order in which they were first heard of.
class courses_reader {
 public:
  explicit courses_reader(std::vector<event> const& events) : events_(events) {
    for (auto const& one : events_) take(one);
  }

  std::vector<row_key> const& order() const noexcept { return order_; }
  course const* find(row_key const& key) const {
    auto const found = courses_.find(key);
    return found == courses_.end() ? nullptr : &found->second;
  }

 private:
  void take(event const& one) {
    if (!is_attempt_end(one.kind)) return;
    row_key const key{one.step, one.op};
    if (!courses_.contains(key)) order_.push_back(key);
    auto& into = courses_[key];
    add_bars(into, began(one), since_start(one));
    into.attempts = std::max(into.attempts, one.n.value());
    into.status = one.status;
    if (one.kind == event_kind::attempt_failed) {
      ++into.transient;
      into.last_transient = one.status == 0 ? one.text : std::to_string(one.status);
    } else {
      into.ended = one.kind;
    }
  }

  static void add_bars(course& into, duration begin, duration end) {
    if (!into.bars.empty() && into.bars.back().end < begin) into.bars.emplace_back(into.bars.back().end, begin, true);
    into.bars.emplace_back(std::min(begin, end), end, false);
  }

  duration since_start(event const& one) const { return one.at - events_.front().at; }

  // An attempt leaves when the event that caused it is durable.
  duration began(event const& one) const {
    auto const cause = one.cause.value();
    return cause == 0 || cause > events_.size() ? since_start(one) : since_start(events_[cause - 1]);
  }

  std::vector<event> const& events_;
  std::vector<row_key> order_;
  std::map<row_key, course> courses_;
};

step_view const* find_view(saga_story const& story, step_path const& step) {
  for (auto const& view : story.steps) {
    if (view.path == step) return &view;
  }
  return nullptr;
}

std::string transient_note(course const& of) {
  if (of.transient == 0) return "";
  std::string note = " (" + std::to_string(of.transient) + (of.transient == 1 ? " transient failure" : " transient failures");
  if (!of.last_transient.empty()) note += ": " + printable(of.last_transient);
  return note + ")";
}

std::pair<std::string, style> forward_words(course const* went, step_view const* view) {
  if (view != nullptr && view->fell_back) return {"fell back", style::warn};
  if (went != nullptr && went->ended == event_kind::step_succeeded) return {"done", style::good};
  if (went != nullptr && went->ended == event_kind::step_refused) {
    return {went->status == 0 ? "refused" : "refused: " + std::to_string(went->status), style::bad};
  }
  if (view == nullptr) return went == nullptr ? std::pair{"not reached", style::dim} : std::pair{"not done", style::warn};
  switch (view->phase) {
    case run_phase::pending: return {"not reached", style::dim};
    case run_phase::skipped: return {"skipped", style::dim};
    case run_phase::maybe_done: return {"unknown: may have been done", style::bad};
    case run_phase::not_done: return {"not done", style::bad};
    case run_phase::parked: return {"parked", style::bad};
    case run_phase::done: return {"done", style::good};
    default: return {"under way", style::warn};
  }
}

std::pair<std::string, style> undo_words(course const* went, step_view const* view) {
  if (went != nullptr && went->ended == event_kind::step_succeeded) return {"compensated", style::good};
  if (view != nullptr && view->undo == undo_phase::parked) return {"parked", style::bad};
  if (view != nullptr && view->undo == undo_phase::skipped) return {"skipped by an operator", style::warn};
  if (went != nullptr && went->ended == event_kind::step_refused) return {"refused: " + std::to_string(went->status), style::bad};
  return {"under way", style::warn};
}

timeline_row make_row(saga_story const& story, courses_reader const& courses, row_key const& key) {
  timeline_row row;
  row.step = key.first;
  row.op = key.second;
  auto const* went = courses.find(key);
  auto const* view = find_view(story, row.step);
  auto const [words, tone] = undoes(row.op) ? undo_words(went, view) : forward_words(went, view);
  row.outcome = words;
  row.tone = tone;
  if (went != nullptr) {
    row.bars = went->bars;
    row.attempts = went->attempts;
    row.outcome += transient_note(*went);
  }
  return row;
}

// What is under way now has no event yet: its bar runs from its last end, or from where its cause left it, to now.
void extend_open(saga_story const& story, timeline_row& row) {
  bool const is_open = row.outcome.starts_with("under way");
  if (!is_open || is_final(story.row.status) || story.events.empty()) return;
  auto const now = timeline_span(story);
  auto const begin = row.bars.empty() ? now : row.bars.back().end;
  row.bars.emplace_back(begin, std::max(begin, now), !row.bars.empty());
}

// Steps forward: the definition's order where it is known, then views, then whatever else the history names.
std::vector<step_path> forward_order(saga_story const& story, courses_reader const& courses) {
  std::vector<step_path> order;
  std::set<step_path> seen;
  auto const add = [&](step_path const& step) {
    if (!step.empty() && seen.insert(step).second) order.push_back(step);
  };
  for (auto const& step : story.all_steps) add(step);
  for (auto const& view : story.steps) add(view.path);
  for (auto const& key : courses.order()) {
    if (!undoes(key.second)) add(key.first);
  }
  return order;
}

bool is_composite(saga_story const& story, step_path const& step) {
  auto const* view = find_view(story, step);
  if (view != nullptr && view->phase == run_phase::in_branches) return true;
  auto const prefix = step.text() + "/";
  return std::any_of(story.all_steps.begin(), story.all_steps.end(),
                     [&](step_path const& other) { return other.text().starts_with(prefix); });
}

}  // namespace

std::string timeline_row::label() const {
  auto const path = printable(step.text());
  if (undoes(op)) return "~" + path;
  return op == operation::fallback ? path + " (fallback)" : path;
}

std::vector<timeline_row> timeline_rows(saga_story const& of) {
  courses_reader const courses{of.events};
  std::vector<timeline_row> rows;
  for (auto const& step : forward_order(of, courses)) {
    if (is_composite(of, step)) continue;
    rows.push_back(make_row(of, courses, {step, operation::act}));
    if (courses.find({step, operation::fallback}) != nullptr) rows.push_back(make_row(of, courses, {step, operation::fallback}));
  }
  for (auto const& key : courses.order()) {
    if (!undoes(key.second)) continue;
    rows.push_back(make_row(of, courses, key));
    if (rows.back().outcome.starts_with("compensated")) {
      for (auto& row : rows) {
        if (row.step == key.first && row.op == operation::act) row.outcome += ", compensated";
      }
    }
  }
  for (auto const& view : of.steps) {  // an undo whose first attempt has not ended
    bool const begun = view.undo == undo_phase::active && courses.find({view.path, operation::compensate}) == nullptr;
    if (begun) rows.push_back(make_row(of, courses, {view.path, operation::compensate}));
  }
  for (auto& row : rows) extend_open(of, row);
  return rows;
}

duration timeline_span(saga_story const& of) {
  if (of.events.empty()) return duration::zero();
  auto const start = of.events.front().at;
  auto end = of.events.back().at;
  if (!is_final(of.row.status) && of.row.status != saga_status::parked) end = std::max(end, of.now);
  return std::max(duration{1}, std::chrono::duration_cast<duration>(end - start));
}

}  // namespace atone::cli
