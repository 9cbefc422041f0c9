#include <algorithm>
#include <array>
#include <cstdio>

#include "drill/report.hpp"

namespace atone::drill {
namespace {

std::string counted(std::uint64_t count, std::string const& word) {
  return std::to_string(count) + ' ' + word + (count == 1 ? "" : "s");
}

standing broken_if(bool broken) {
  return broken ? standing::broken : standing::kept;
}

judgement judge_recovery(drill_report const& of, demands const& must) {
  duration worst{};
  duration gap{};
  std::string where;
  std::uint64_t unrecovered = 0;
  std::uint64_t measured = 0;
  for (auto const& each : of.faults) {
    unrecovered += each.unrecovered;
    measured += each.recoveries.size();
    gap = std::max(gap, longest(each.gaps));
    if (longest(each.recoveries) <= worst) continue;
    worst = longest(each.recoveries);
    where = each.text;
  }
  auto const wanted = "at most " + format_duration(must.recover_within);
  auto const gaps = "; longest time without a saga that ended " + seconds_text(gap);
  if (unrecovered > 0) {
    return {"recovery", standing::broken,
            counted(unrecovered, "fault") + " without recovery within " + format_duration(must.give_up) + gaps + "; wanted: " + wanted};
  }
  if (measured == 0) return {"recovery", standing::unknown, "nothing was measured"};
  return {"recovery", broken_if(worst > must.recover_within),
          "longest " + seconds_text(worst) + " (" + where + "), of " + counted(measured, "fault") + gaps + "; wanted: " + wanted};
}

judgement judge_loss(drill_report const& of) {
  auto const& sagas = of.sagas;
  if (of.interrupted) return {"lost", standing::unknown, counted(sagas.accepted, "accepted saga") + ", not asked for"};
  auto text = std::to_string(sagas.missing) + " of " + counted(sagas.accepted, "accepted saga") + " lost, " + std::to_string(sagas.open) +
              " not ended, " + std::to_string(sagas.doubled) + " doubled, " + counted(sagas.unanswered, "start") +
              " never answered; effects: ";
  bool const broken = sagas.missing + sagas.open + sagas.doubled > 0;
  if (!of.audit) return {"lost", broken ? standing::broken : standing::unknown, text + "not audited"};
  auto const& found = *of.audit;
  text += std::to_string(found.violated) + " violated, " + std::to_string(found.proven) + " proven, " +
          std::to_string(found.not_checkable) + " not checkable";
  if (broken || found.verdict() == audit::verdict::violated) return {"lost", standing::broken, text};
  // A start that nobody answered may have been accepted or not: nobody can say that it was not lost.
  bool const all_seen = sagas.unanswered == 0 && found.verdict() == audit::verdict::proven;
  return {"lost", all_seen ? standing::kept : standing::unknown, text};
}

judgement judge_degradation(drill_report const& of) {
  std::string text;
  std::uint64_t missed = 0;
  bool untried = false;
  for (auto const& each : of.faults) {
    missed += each.fallback_missed + each.alert_missed;
    if (each.expect.fallback.empty() && each.expect.alert.empty()) continue;
    text += (text.empty() ? "" : "; ") + each.text + ":";
    untried = untried || each.times == 0;
    if (each.times == 0) text += " never applied;";
    if (auto const& step = each.expect.fallback; !step.empty()) {
      auto const found = each.fell_back.find(step);
      text += " fallback of " + step + " " + std::to_string(found == each.fell_back.end() ? 0 : found->second);
    }
    if (auto const& kind = each.expect.alert; !kind.empty()) {
      auto const found = each.alerts.find(kind);
      text += " alert `" + kind + "` " + std::to_string(found == each.alerts.end() ? 0 : found->second);
    }
  }
  if (text.empty()) return {"degradation", standing::kept, "none was expected; fallbacks served " + std::to_string(of.sagas.fell_back)};
  if (missed > 0) text += "; missed " + counted(missed, "time");
  return {"degradation", missed == 0 && untried ? standing::unknown : broken_if(missed > 0), text};
}

// " (atoned 2, orders 1)"
std::string ends_text(drill_report const& of) {
  std::string text;
  for (auto const& [name, count] : of.ended) text += (text.empty() ? " (" : ", ") + name + ' ' + std::to_string(count);
  return text.empty() ? text : text + ')';
}

// A fault that met nobody shows nothing.
judgement judge_hits(drill_report const& of) {
  std::string text;
  std::uint64_t hits = 0;
  for (auto const& each : of.faults) {
    hits += each.hits;
    if (each.hit_nothing == 0) continue;
    auto const why = each.proxy.empty() ? "the process kept its clock: libfaketime was not in it at the end"
                                        : "met no connection, or nothing went through proxy " + each.proxy;
    text += (text.empty() ? "" : "; ") + each.text + ": " + why + ", " + std::to_string(each.hit_nothing) + " of " +
            counted(each.times, "time");
  }
  if (!text.empty()) return {"hits", standing::unknown, text};
  return {"hits", standing::kept, "the proxies' faults met " + counted(hits, "connection")};
}

// Not every machine can do everything; where all of it is asked for, that is not enough.
judgement judge_left_out(drill_report const& of) {
  std::string text;
  for (auto const& each : of.faults) {
    if (!each.left_out.empty()) text += (text.empty() ? "" : "; ") + each.text + ": " + each.left_out;
  }
  if (text.empty()) return {"left out", standing::kept, "no fault"};
  return {"left out", of.must_be_whole ? standing::unknown : standing::kept, text};
}

}  // namespace

std::uint64_t drill_report::kills() const noexcept {
  std::uint64_t sum = 0;
  for (auto const& each : faults) sum += each.kills ? each.times : 0;
  return sum;
}

std::uint64_t drill_report::ends() const noexcept {
  std::uint64_t sum = 0;
  for (auto const& [process, count] : ended) sum += count;
  return sum;
}

std::uint64_t drill_report::applied() const noexcept {
  std::uint64_t sum = 0;
  for (auto const& each : faults) sum += each.times;
  return sum;
}

std::uint64_t drill_report::left_out() const noexcept {
  return static_cast<std::uint64_t>(std::count_if(faults.begin(), faults.end(), [](auto const& each) { return !each.left_out.empty(); }));
}

duration longest(std::vector<duration> const& all) {
  return all.empty() ? duration::zero() : *std::max_element(all.begin(), all.end());
}

duration median(std::vector<duration> all) {
  if (all.empty()) return duration::zero();
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

std::string seconds_text(duration time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", std::chrono::duration<double>(time).count());
  return text.data();
}

std::string_view name(standing of) noexcept {
  switch (of) {
    case standing::kept: return "kept";
    case standing::broken: return "BROKEN";
    case standing::unknown: break;
  }
  return "not checkable";
}

std::vector<judgement> judge(drill_report const& of, demands const& must) {
  std::vector<judgement> all{judge_recovery(of, must), judge_loss(of), judge_degradation(of), judge_hits(of), judge_left_out(of)};
  all.emplace_back("parked", broken_if(of.sagas.parked > must.parked),
                   counted(of.sagas.parked, "saga") + "; wanted: at most " + std::to_string(must.parked));
  all.emplace_back(
      "processes", broken_if(of.ends() > must.ended_by_themselves),
      std::to_string(of.ends()) + " ended by themselves" + ends_text(of) + "; wanted: at most " + std::to_string(must.ended_by_themselves));
  if (of.interrupted) all.emplace_back("carried out", standing::unknown, "interrupted");
  if (!of.trouble.empty()) all.emplace_back("carried out", standing::unknown, of.trouble);
  return all;
}

standing verdict(std::vector<judgement> const& all) noexcept {
  auto found = standing::kept;
  for (auto const& each : all) {
    if (each.stands == standing::broken) return standing::broken;
    if (each.stands == standing::unknown) found = standing::unknown;
  }
  return found;
}

int exit_code(standing of) noexcept {
  switch (of) {
    case standing::kept: return 0;
    case standing::broken: return 1;
    case standing::unknown: break;
  }
  return 2;
}

}  // namespace atone::drill
