#include "cli/poke_command.hpp"

#include <array>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include <atone/audit.hpp>
#include <atone/participant_protocol.hpp>

#include "cli/url.hpp"

#include "cli/daemon_client.hpp"

namespace atone::cli {
namespace {

constexpr int tries_max = 20;  // of one request that meets a transient answer
constexpr duration try_pause = std::chrono::milliseconds{100};
constexpr duration impatience = std::chrono::milliseconds{20};  // gives up so soon that the reply is lost
constexpr std::size_t effect_pages_max = 10'000;
constexpr std::size_t shown_max = 200;  // bytes of a foreign answer

constexpr std::array sequences{"twice", "compensation first", "late action", "lost reply", "concurrent pair"};

// The saga of one sequence: no time, the run, the sequence.
saga_id probe_id(std::uint64_t run, std::size_t number) {
  saga_id::bytes bytes{};
  for (std::size_t at = 0; at < 8; ++at) bytes[6 + at] = static_cast<std::uint8_t>(run >> (56 - 8 * at));
  bytes[15] = static_cast<std::uint8_t>(number + 1);
  return saga_id{bytes};
}

std::string with_number(std::string text, std::string const& number) {
  for (auto at = text.find("{n}"); at != std::string::npos; at = text.find("{n}", at)) text.replace(at, 3, number);
  return text;
}

bool is_done(api_answer const& came) {
  return came.ok() && classify_status(came.status) == answer_class::done;
}
bool is_refused(api_answer const& came) {
  return came.ok() && classify_status(came.status) == answer_class::refused;
}
bool is_transient(api_answer const& came) {
  if (!came.ok()) return true;
  auto const kind = classify_status(came.status);
  return kind == answer_class::transient_not_done || kind == answer_class::transient_unknown;
}

std::string shown(api_answer const& came) {
  if (!came.ok()) return "no answer (" + std::string{name(came.failure)} + ": " + came.detail + ")";
  return std::to_string(came.status) + " " + came.body.substr(0, shown_max);
}

poke_finding holds(std::size_t sequence, std::string text) {
  poke_finding made;
  made.sequence = sequences[sequence];
  made.holds = true;
  made.text = std::move(text);
  return made;
}

poke_finding breaks(std::size_t sequence, std::string text) {
  auto made = holds(sequence, std::move(text));
  made.holds = false;
  return made;
}

// One sequence's saga against the participant.
class probe {
 public:
  probe(poke_plan const& plan, surroundings const& with, std::size_t sequence)
      : plan_(plan), with_(with), sequence_(sequence), saga_(probe_id(plan.run, sequence)) {}

  // Sends once.
  api_answer send(operation op, duration timeout) {
    auto const& call = op == operation::act ? plan_.act : plan_.undo;
    auto const number = std::to_string(plan_.run % 100'000'000 * 10 + sequence_);
    step_path const step{plan_.step};
    api_request what;
    what.method = call.method;
    what.url = plan_.url + with_number(call.target, number);
    what.headers = {{std::string{headers::saga}, saga_.text()},
                    {std::string{headers::step}, plan_.step},
                    {std::string{headers::op}, std::string{name(op)}},
                    {std::string{headers::attempt}, std::to_string(++attempts_[op])},
                    {std::string{headers::idempotency_key}, trace_id::of(saga_, step, op).text()}};
    if (!call.body.empty()) what.headers.emplace_back("Content-Type", "application/json");
    what.body = with_number(call.body, number);
    what.timeout = timeout;
    return with_.fetch(std::move(what));
  }

  // Sends until the answer is final.
  api_answer settle(operation op) {
    auto came = send(op, plan_.timeout);
    for (int tries = 1; tries < tries_max && is_transient(came); ++tries) {
      with_.pause(try_pause);
      came = send(op, plan_.timeout);
    }
    return came;
  }

  saga_id saga() const noexcept { return saga_; }

 private:
  poke_plan const& plan_;
  surroundings const& with_;
  std::size_t sequence_;
  saga_id saga_;
  std::map<operation, std::uint32_t> attempts_;
};

// Undoes what the sequence did; what stands in the way of that outweighs what was found.
poke_finding undone(probe& by, std::size_t sequence, poke_finding found) {
  auto const undo = by.settle(operation::compensate);
  if (is_done(undo) || !found.holds) return found;
  return breaks(sequence, "the compensation afterwards was answered " + shown(undo) + "; expected 2xx");
}

std::string refused_action(api_answer const& came) {
  return "the action was answered " + shown(came) + "; expected 2xx: name an action that this participant accepts";
}

poke_finding poke_twice(probe& by, std::size_t sequence) {
  auto const first = by.settle(operation::act);
  if (!is_done(first)) return breaks(sequence, refused_action(first));
  auto const second = by.settle(operation::act);
  if (!is_done(second) || second.body != first.body) {
    return undone(
        by, sequence,
        breaks(sequence, "the second delivery was answered " + shown(second) + "; expected the first answer again: " + shown(first)));
  }
  return undone(by, sequence, holds(sequence, "the second delivery got the first answer"));
}

poke_finding poke_compensation_first(probe& by, std::size_t sequence) {
  auto const undo = by.settle(operation::compensate);
  if (!is_done(undo))
    return breaks(sequence, "a compensation without its action was answered " + shown(undo) + "; expected 2xx, nothing to undo");
  auto const again = by.settle(operation::compensate);
  if (!is_done(again)) return breaks(sequence, "the same compensation again was answered " + shown(again) + "; expected 2xx");
  return holds(sequence, "answered as done, with nothing to undo");
}

poke_finding poke_late_action(probe& by, std::size_t sequence) {
  if (auto const undo = by.settle(operation::compensate); !is_done(undo)) {
    return breaks(sequence, "a compensation without its action was answered " + shown(undo) + "; expected 2xx, nothing to undo");
  }
  auto const late = by.settle(operation::act);
  if (is_refused(late)) return holds(sequence, "the action after its compensation was refused (" + std::to_string(late.status) + ")");
  return breaks(sequence, "the action after its compensation was answered " + shown(late) + "; expected a final no, as 409");
}

poke_finding poke_lost_reply(probe& by, std::size_t sequence) {
  static_cast<void>(by.send(operation::act, impatience));  // whatever it was, the coordinator never heard of it
  auto const again = by.settle(operation::act);
  if (is_done(again)) return undone(by, sequence, holds(sequence, "the repetition was answered as done"));
  return undone(by, sequence, breaks(sequence, "the repetition after a lost reply was answered " + shown(again) + "; expected 2xx"));
}

poke_finding poke_pair(probe& by, poke_plan const& plan, surroundings const& with, std::size_t sequence) {
  probe other{plan, with, sequence};  // the same saga, step and operation
  api_answer left;
  std::thread beside{[&] { left = other.settle(operation::act); }};
  auto const right = by.settle(operation::act);
  beside.join();
  if (is_done(left) && is_done(right) && left.body == right.body) {
    return undone(by, sequence, holds(sequence, "both got the same answer"));
  }
  return undone(
      by, sequence,
      breaks(sequence, "two deliveries at once were answered " + shown(left) + " and " + shown(right) + "; expected the same 2xx twice"));
}

poke_finding run_sequence(probe& by, poke_plan const& plan, surroundings const& with, std::size_t sequence) {
  switch (sequence) {
    case 0: return poke_twice(by, sequence);
    case 1: return poke_compensation_first(by, sequence);
    case 2: return poke_late_action(by, sequence);
    case 3: return poke_lost_reply(by, sequence);
    default: return poke_pair(by, plan, with, sequence);
  }
}

struct counted {
  std::uint64_t acts = 0;
  std::uint64_t undos = 0;
};

api_answer get(poke_plan const& plan, std::string const& path, surroundings const& with) {
  api_request what;
  what.url = plan.url + path;
  what.timeout = plan.timeout;
  return with.fetch(std::move(what));
}

// What the participant's own tables say of the sequences; nothing when it does not say.
std::optional<std::map<saga_id, counted>> read_counts(poke_plan const& plan, surroundings const& with) {
  std::map<saga_id, counted> found;
  std::string after;
  for (std::size_t page = 0; page < effect_pages_max; ++page) {
    auto const came = get(plan, target{"/atone/effects"}.query("after", after).text(), with);
    auto const read = is_done(came) ? audit::read_effect_page("participant", came.body)
                                    : result<audit::effect_page>{error{errc::unavailable, "no listing"}};
    if (!read) return std::nullopt;
    for (auto const& each : read->effects) {
      if (each.op == operation::act) found[each.saga].acts += each.applied;
      if (each.op == operation::compensate) found[each.saga].undos += each.applied;
    }
    if (read->next.empty() || read->next == after) return found;
    after = read->next;
  }
  return std::nullopt;
}

// An answer may be right and the tables wrong: then the sequence does not hold.
void compare(std::vector<poke_finding>& findings, poke_plan const& plan, std::map<saga_id, counted> const& counts) {
  for (std::size_t sequence = 0; sequence < findings.size(); ++sequence) {
    auto const found = counts.find(probe_id(plan.run, sequence));
    auto const counted_here = found == counts.end() ? counted{} : found->second;
    bool const did_nothing = sequence == 1 || sequence == 2;
    std::uint64_t const wanted = did_nothing ? 0 : 1;
    if (!findings[sequence].holds || (counted_here.acts == wanted && counted_here.undos == wanted)) continue;
    findings[sequence] =
        breaks(sequence, "its tables show the action " + std::to_string(counted_here.acts) + " times and the compensation " +
                             std::to_string(counted_here.undos) + " times; expected " + std::to_string(wanted) + " each");
  }
}

}  // namespace

result<poke_call> parse_poke_call(std::string_view option, std::string_view text, std::string body) {
  auto const space = text.find(' ');
  poke_call made;
  made.method = text.substr(0, space);
  made.target = space == std::string_view::npos ? std::string{} : std::string{text.substr(space + 1)};
  made.body = std::move(body);
  if (!made.method.empty() && made.target.starts_with('/')) return made;
  return error{errc::invalid_argument,
               "--" + std::string{option} + ": found '" + std::string{text} + "', expected a method and a path, as in \"POST /orders\""};
}

result<std::vector<poke_finding>> poke(poke_plan const& plan, surroundings const& with) {
  auto const reached = get(plan, "/", with);
  if (reached.failure == transport_failure::connect)
    return error{errc::unavailable, "no participant at " + plan.url + ": " + reached.detail};
  std::vector<poke_finding> findings;
  for (std::size_t sequence = 0; sequence < sequences.size(); ++sequence) {
    probe by{plan, with, sequence};
    findings.push_back(run_sequence(by, plan, with, sequence));
  }
  if (auto const counts = read_counts(plan, with)) compare(findings, plan, *counts);
  return findings;
}

exit_code run_poke(arguments const& typed, surroundings const& with) {
  poke_plan plan;
  plan.url = typed.get("URL");
  while (plan.url.ends_with('/')) plan.url.pop_back();
  if (!plan.url.starts_with("http")) {
    return report(error{errc::invalid_argument, "found '" + plan.url + "', expected the participant's URL, as in http://127.0.0.1:7001"},
                  with);
  }
  auto act = parse_poke_call("do", typed.get("do"), typed.get("body"));
  if (!act) return report(act.error(), with);
  auto undo = parse_poke_call("compensate", typed.get("compensate"), typed.get("compensate-body"));
  if (!undo) return report(undo.error(), with);
  plan.act = std::move(*act);
  plan.undo = std::move(*undo);
  plan.run = static_cast<std::uint64_t>(with.now().time_since_epoch().count());
  auto const findings = poke(plan, with);
  if (!findings) return report(findings.error(), with);
  bool all_hold = true;
  for (auto const& each : *findings) {
    all_hold = all_hold && each.holds;
    auto const word = each.holds ? with.screen.paint(style::good, "holds ") : with.screen.paint(style::bad, "BREAKS");
    with.screen.out() << word << "  " << padded(each.sequence, 20) << printable(each.text) << '\n';
  }
  return all_hold ? exit_code::done : exit_code::negative;
}

}  // namespace atone::cli
