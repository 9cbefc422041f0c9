#include "show.hpp"

#include <ostream>
#include <vector>

namespace demo {
namespace {

constexpr std::size_t bar_width = 24;

struct shape {
  std::size_t steps = 0;
  std::size_t compensations = 0;
  std::string pivot = "none";
  std::string fallbacks;

  shape() = default;
};

std::string text_of(atone::fallback const& of) {
  if (auto const* last = std::get_if<atone::fallback::last_output>(&of.use))
    return "last output (" + atone::format_duration(last->max_age) + ")";
  return std::holds_alternative<atone::fallback::call>(of.use) ? "another call" : "a value";
}

void look_at(std::vector<atone::step> const& steps, shape& into) {
  for (auto const& each : steps) {
    ++into.steps;
    if (each.promise == atone::atomicity::pivot) into.pivot = each.id;
    if (auto const* parallel = std::get_if<atone::parallel_verb>(&each.verb)) {
      for (auto const& branch : parallel->branches) look_at(branch.steps, into);
    }
    auto const* action = std::get_if<atone::action_verb>(&each.verb);
    if (action == nullptr) continue;
    if (action->compensate) ++into.compensations;
    if (action->fallback) into.fallbacks += ", fallback: " + each.id + " -> " + text_of(*action->fallback);
  }
}

}  // namespace

std::string describe(atone::definition const& of) {
  shape found;
  look_at(of.steps, found);
  return std::to_string(found.steps) + " steps, " + std::to_string(found.compensations) + " compensations, pivot: " + found.pivot +
         found.fallbacks;
}

void progress_line::draw(tally const& of, std::uint64_t under_way, std::chrono::steady_clock::duration since) {
  auto const tenth = all_ == 0 ? 10 : of.ended() * 10 / all_;
  if (!redraws_ && tenth == tenth_) return;
  tenth_ = tenth;
  auto const milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  auto const rate = milliseconds <= 0 ? 0 : of.ended() * 1000 / static_cast<std::uint64_t>(milliseconds);
  if (redraws_ && open_) out_ << '\r';
  out_ << "      " << grouped(of.ended()) << '/' << grouped(all_) << "  " << bar(of.ended(), all_, bar_width) << "  " << grouped(rate)
       << " sagas/s   completed " << grouped(of.completed()) << "  compensated " << grouped(of.compensated()) << "  running " << under_way;
  out_ << (redraws_ ? "\x1b[K" : "\n") << std::flush;
  open_ = redraws_;
}

void progress_line::say(std::string const& text) {
  if (open_) out_ << '\n';
  open_ = false;
  out_ << "      " << text << '\n' << std::flush;
}

void progress_line::end() {
  if (open_) out_ << '\n' << std::flush;
  open_ = false;
}

}  // namespace demo
