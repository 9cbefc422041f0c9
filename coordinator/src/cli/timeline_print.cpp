#include <algorithm>
#include <array>

#include "cli/figures.hpp"
#include "cli/timeline.hpp"

namespace atone::cli {
namespace {

constexpr std::size_t bars_columns_min = 20;
constexpr std::size_t bars_columns_max = 64;
constexpr std::size_t label_columns_max = 32;
constexpr std::size_t attempts_columns = 10;
constexpr std::size_t outcome_columns = 34;
constexpr std::size_t tick_columns_min = 7;  // a tick and its figure

struct marks {
  std::string_view act, undo, wait;
};

marks marks_for(terminal const& to) noexcept {
  if (to.traits().utf8) return {"▇", "▒", "·"};
  return {"#", "=", "."};
}

// Columns [first, last] that a stretch takes: at least one.
struct stretch {
  std::size_t first, last;
};

stretch columns_of(timeline_bar const& bar, duration span, std::size_t columns) {
  auto const at = [&](duration when) {
    return std::min(columns - 1, static_cast<std::size_t>(when * static_cast<long long>(columns) / span));
  };
  return {at(bar.begin), at(bar.end)};
}

std::string bars_text(timeline_row const& row, duration span, std::size_t columns, marks const& with) {
  bool const undone = row.label().starts_with('~');
  std::vector<std::string_view> cells(columns, " ");
  for (bool const waiting : {true, false}) {  // an attempt covers a pause
    for (auto const& bar : row.bars) {
      if (bar.waiting != waiting) continue;
      auto const [first, last] = columns_of(bar, span, columns);
      for (auto at = first; at <= last; ++at) cells[at] = waiting ? with.wait : undone ? with.undo : with.act;
    }
  }
  std::string out;
  for (auto const cell : cells) out += cell;
  return out;
}

// The smallest 1, 2 or 5 times a power of ten that leaves room for the figures.
long long tick_of(long long span, std::size_t columns) {
  auto const ticks_max = std::max<std::size_t>(1, columns / tick_columns_min);
  for (long long power = 1;; power *= 10) {
    for (long long const factor : {1, 2, 5}) {
      if (span / (power * factor) < static_cast<long long>(ticks_max)) return power * factor;
    }
  }
}

std::string axis_text(duration span, std::size_t columns) {
  bool const in_seconds = span >= std::chrono::seconds{10};
  duration const unit = in_seconds ? duration{std::chrono::seconds{1}} : duration{std::chrono::milliseconds{1}};
  auto const whole = std::max<long long>(1, span / unit);
  auto const tick = tick_of(whole, columns);
  std::string out;
  for (long long at = 0; at <= whole; at += tick) {
    auto const column = static_cast<std::size_t>(unit * at * static_cast<long long>(columns) / span);
    auto const figure = at == 0 ? std::string{in_seconds ? "0 s" : "0 ms"} : std::to_string(at);
    if (column + figure.size() > columns) break;
    out.resize(std::max(out.size(), column), ' ');
    out += figure;
  }
  return padded(out, columns);
}

std::string status_words(saga_story const& story) {
  auto const status = story.row.status;
  std::string words{name(status)};
  if (is_final(status)) return words + " in " + readable(timeline_span(story));
  if (status == saga_status::parked) return words + " after " + readable(timeline_span(story));
  return words + " for " + readable(timeline_span(story));
}

std::string lock_words(saga_story const& story) {
  auto const value = printable(story.lock);
  bool const waits = story.row.status == saga_status::waiting;
  if (!waits) return value;
  return value + (story.lock_holder.empty() ? ", which it waits for" : ", which " + printable(story.lock_holder) + " has");
}

style tone_of(saga_status status) noexcept {
  switch (status) {
    case saga_status::completed: return style::good;
    case saga_status::compensated: return style::warn;
    case saga_status::parked: return style::bad;
    default: return style::bold;
  }
}

void print_head(saga_story const& story, terminal const& to) {
  auto const& row = story.row;
  to.out() << to.paint(style::bold, printable(row.definition.name) + "@" + std::to_string(row.definition.version.value())) << "  "
           << row.id.text();
  if (!row.key.value().empty()) to.out() << "  key " << printable(row.key.value());
  to.out() << "  " << to.paint(tone_of(row.status), status_words(story)) << '\n';
  if (!row.cause.empty()) to.out() << to.paint(style::dim, "cause") << "  " << printable(row.cause) << '\n';
  if (!story.lock.empty()) to.out() << to.paint(style::dim, "lock") << "  " << lock_words(story) << '\n';
  to.out() << '\n';
}

std::size_t label_columns(std::vector<timeline_row> const& rows) {
  std::size_t widest = std::string_view{"step"}.size();
  for (auto const& row : rows) widest = std::max(widest, display_width(row.label()));
  return std::min(widest, label_columns_max);
}

}  // namespace

void print_timeline(saga_story const& of, terminal const& to) {
  print_head(of, to);
  auto const rows = timeline_rows(of);
  if (rows.empty()) {
    to.out() << "no step has been reached\n";
    return;
  }
  auto const labels = label_columns(rows);
  auto const taken = labels + attempts_columns + outcome_columns + 5;
  auto const width = to.traits().width;
  auto const columns = std::clamp(width > taken ? width - taken : 0, bars_columns_min, bars_columns_max);
  auto const span = timeline_span(of);
  auto const with = marks_for(to);
  to.out() << to.paint(style::dim, " " + padded("step", labels) + "  " + axis_text(span, columns) + "  attempts  outcome") << '\n';
  for (auto const& row : rows) {
    auto const attempts = row.attempts == 0 ? std::string{"-"} : std::to_string(row.attempts);
    to.out() << ' ' << padded(shortened(row.label(), labels), labels) << "  " << to.paint(row.tone, bars_text(row, span, columns, with))
             << "  " << padded(attempts, attempts_columns) << to.paint(row.tone, row.outcome) << '\n';
  }
}

}  // namespace atone::cli
