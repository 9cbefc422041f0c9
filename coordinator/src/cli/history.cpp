#include "cli/history.hpp"

#include <string>

#include "cli/figures.hpp"

namespace atone::cli {
namespace {

constexpr std::size_t sequence_columns = 4;
constexpr std::size_t time_columns = 11;
constexpr std::size_t kind_columns = 20;
constexpr std::size_t place_columns = 34;

std::string place_of(event const& one) {
  auto text = printable(one.step.text());
  if (one.op != operation::none && one.op != operation::act) text += ' ' + std::string{name(one.op)};
  if (one.n.value() > 1) text += " #" + std::to_string(one.n.value());
  if (one.timer != timer_kind::none) text += (text.empty() ? "" : " ") + std::string{name(one.timer)};
  return text;
}

std::string words_of(event const& one) {
  std::string words;
  auto const add = [&](std::string const& more) { words += (words.empty() || more.empty() ? "" : ", ") + more; };
  if (one.status != 0) add(std::to_string(one.status));
  if (one.sureness == certainty::unknown) add("may have been done");
  add(printable(one.text));
  if (!one.actor.empty()) add("by " + printable(one.actor));
  return words;
}

style tone_of(event_kind kind) noexcept {
  switch (kind) {
    case event_kind::step_succeeded: return style::good;
    case event_kind::step_refused:
    case event_kind::parked: return style::bad;
    case event_kind::attempt_failed: return style::warn;
    default: return style::plain;
  }
}

std::string line_of(event const& one, timestamp start, terminal const& to) {
  auto const since = readable(std::chrono::duration_cast<duration>(one.at - start));
  auto const cause = one.cause.value() == 0 ? std::string{} : "<- " + std::to_string(one.cause.value());
  std::string line = padded(std::to_string(one.seq.value()), sequence_columns) + padded(cause, sequence_columns + 3) +
                     padded(since, time_columns) + to.paint(tone_of(one.kind), padded(name(one.kind), kind_columns)) +
                     padded(place_of(one), place_columns) + words_of(one);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void print_events(std::vector<event> const& events, std::size_t from, bool verbose, terminal const& to) {
  if (from == 0) {
    to.out() << to.paint(style::dim, padded("#", sequence_columns) + padded("cause", sequence_columns + 3) + padded("after", time_columns) +
                                         padded("what", kind_columns) + padded("where", place_columns) + "words")
             << '\n';
  }
  for (auto at = from; at < events.size(); ++at) {
    to.out() << line_of(events[at], events.front().at, to) << '\n';
    if (verbose && !events[at].payload.empty()) to.out() << "    " << printable(events[at].payload) << '\n';
  }
}

}  // namespace atone::cli
