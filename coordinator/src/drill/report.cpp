#include "drill/report.hpp"

#include <array>
#include <cstdio>

#include <atone/json.hpp>

namespace atone::drill {
namespace {

// As many columns as the text has characters, not bytes.
std::string padded(std::string text, std::size_t columns, bool right = false) {
  std::size_t width = 0;
  for (char const each : text) width += (static_cast<unsigned char>(each) & 0xC0U) != 0x80U ? 1 : 0;
  auto const room = width < columns ? std::string(columns - width, ' ') : std::string{};
  return right ? room + text : text + room;
}

std::uint64_t sum_of(std::map<std::string, std::uint64_t> const& counts) {
  std::uint64_t sum = 0;
  for (auto const& [name, count] : counts) sum += count;
  return sum;
}

std::string fault_table(drill_report const& of) {
  constexpr std::size_t narrow = 10;
  std::size_t widest = 5;
  for (auto const& each : of.faults) widest = std::max(widest, each.text.size());
  auto const line = [&](std::string const& text, std::array<std::string, 8> const& cells) {
    auto made = "  " + padded(text, widest);
    for (auto const& cell : cells) made += padded(cell, narrow, true);
    return made + '\n';
  };
  auto made = line("fault", {"times", "hits", "median", "longest", "gap", "ended", "fallback", "alerts"});
  for (auto const& each : of.faults) {
    made += line(each.text,
                 {std::to_string(each.times), each.proxy.empty() ? "-" : std::to_string(each.hits), seconds_text(median(each.recoveries)),
                  seconds_text(longest(each.recoveries)), seconds_text(longest(each.gaps)), std::to_string(each.settled),
                  std::to_string(sum_of(each.fell_back)), each.expect.alert.empty() ? "-" : std::to_string(sum_of(each.alerts))});
  }
  return made;
}

std::string rate_text(drill_report const& of) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f sagas a second in the warm-up", of.usual.per_second());
  return text.data();
}

void write_counts(json::writer& to, std::string_view key, std::map<std::string, std::uint64_t> const& counts) {
  to.key(key).begin_object();
  for (auto const& [word, count] : counts) to.key(word).number(count);
  to.end_object();
}

std::int64_t milliseconds_text(duration time) {
  return time / std::chrono::milliseconds{1};
}

void write_fault(json::writer& to, fault_record const& of) {
  to.begin_object().key("fault").string(of.text).key("times").number(of.times).key("unrecovered").number(of.unrecovered);
  to.key("recovery_median_ms")
      .number(milliseconds_text(median(of.recoveries)))
      .key("recovery_longest_ms")
      .number(milliseconds_text(longest(of.recoveries)))
      .key("gap_median_ms")
      .number(milliseconds_text(median(of.gaps)))
      .key("gap_longest_ms")
      .number(milliseconds_text(longest(of.gaps)));
  to.key("settled").number(of.settled);
  write_counts(to, "fell_back", of.fell_back);
  write_counts(to, "alerts", of.alerts);
  to.key("fallback_missed").number(of.fallback_missed).key("alert_missed").number(of.alert_missed);
  to.key("hits").number(of.hits).key("hit_nothing").number(of.hit_nothing).key("left_out").string(of.left_out).end_object();
}

void write_sagas(json::writer& to, ledger_sums const& of) {
  to.key("sagas").begin_object().key("accepted").number(of.accepted).key("unanswered").number(of.unanswered);
  to.key("completed").number(of.completed).key("compensated").number(of.compensated).key("parked").number(of.parked);
  to.key("open").number(of.open).key("missing").number(of.missing).key("fell_back").number(of.fell_back);
  to.key("missing_ids").begin_array();
  for (auto const& id : of.missing_ids) to.string(id);
  to.end_array().key("doubled").number(of.doubled).key("doubled_keys").begin_array();
  for (auto const& each : of.doubled_keys) to.string(each);
  to.end_array().end_object();
}

void write_judgements(json::writer& to, std::vector<judgement> const& all) {
  to.key("judgements").begin_array();
  for (auto const& each : all) {
    to.begin_object().key("about").string(each.about).key("stands").string(name(each.stands)).key("text").string(each.text).end_object();
  }
  to.end_array();
}

std::string_view verdict_word(standing of) {
  if (of == standing::kept) return "passed";
  return of == standing::broken ? "violated" : "not checkable";
}

}  // namespace

std::string to_text(drill_report const& of, demands const& must) {
  auto const all = judge(of, must);
  auto text = "drill " + of.name + "   seed " + std::to_string(of.seed) + "   " + seconds_text(of.took) + "   " + rate_text(of) + '\n';
  text += fault_table(of);
  auto const& sagas = of.sagas;
  text += "  sagas: accepted " + std::to_string(sagas.accepted) + "   unanswered " + std::to_string(sagas.unanswered) + "   completed " +
          std::to_string(sagas.completed) + "   compensated " + std::to_string(sagas.compensated) + "   parked " +
          std::to_string(sagas.parked) + "   with a fallback " + std::to_string(sagas.fell_back) + '\n';
  text += "  faults " + std::to_string(of.applied()) + ", kills among them " + std::to_string(of.kills()) + "; requests sent again " +
          std::to_string(of.repeats) + "; processes that ended by themselves " + std::to_string(of.ends()) + '\n';
  for (auto const& each : of.faults) text += each.times == 0 && each.left_out.empty() ? "  never applied: " + each.text + '\n' : "";
  for (auto const& id : sagas.missing_ids) text += "  lost: " + id + '\n';
  for (auto const& each : sagas.doubled_keys) text += "  doubled: " + each + '\n';
  for (auto const& each : all) text += padded(std::string{each.about}, 13) + padded(std::string{name(each.stands)}, 15) + each.text + '\n';
  text += std::string{verdict_word(verdict(all))};
  if (auto const count = of.left_out(); count > 0) text += ", " + std::to_string(count) + (count == 1 ? " fault" : " faults") + " left out";
  text += '\n';
  return text;
}

std::string to_json(drill_report const& of, demands const& must) {
  auto const all = judge(of, must);
  json::writer out;
  out.begin_object().key("drill").string(of.name).key("verdict").string(verdict_word(verdict(all))).key("seed").number(of.seed);
  out.key("took_ms").number(milliseconds_text(of.took)).key("usual_per_second_thousandths");
  out.number(static_cast<std::int64_t>(of.usual.per_second() * 1000));
  out.key("faults").begin_array();
  for (auto const& each : of.faults) write_fault(out, each);
  out.end_array().key("left_out").number(of.left_out()).key("applied").number(of.applied()).key("kills").number(of.kills());
  out.key("repeats").number(of.repeats).key("restarts").number(of.ends());
  write_counts(out, "ended_by_themselves", of.ended);
  write_sagas(out, of.sagas);
  write_judgements(out, all);
  out.key("audit");
  of.audit ? out.raw(audit::to_json(*of.audit)) : out.null();
  return out.end_object().take();
}

}  // namespace atone::drill
