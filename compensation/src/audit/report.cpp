#include <array>
#include <string>
#include <utility>

#include <atone/audit.hpp>
#include <atone/json.hpp>

namespace atone::audit {
namespace {

constexpr std::array verdict_words{"proven", "violated", "not checkable"};

constexpr std::array finding_words{
    std::pair{finding_kind::effect_missing, "effect_missing"},
    std::pair{finding_kind::effect_unexpected, "effect_unexpected"},
    std::pair{finding_kind::effect_twice, "effect_twice"},
    std::pair{finding_kind::effect_left, "effect_left"},
    std::pair{finding_kind::undone_without_doing, "undone_without_doing"},
    std::pair{finding_kind::undone_when_completed, "undone_when_completed"},
    std::pair{finding_kind::step_unknown, "step_unknown"},
    std::pair{finding_kind::orphan, "orphan"},
    std::pair{finding_kind::journal_contradicts, "journal_contradicts"},
    std::pair{finding_kind::cause_missing, "cause_missing"},
    std::pair{finding_kind::lock_broken, "lock_broken"},
    std::pair{finding_kind::definition_missing, "definition_missing"},
    std::pair{finding_kind::history_incomplete, "history_incomplete"},
    std::pair{finding_kind::source_missing, "source_missing"},
    std::pair{finding_kind::operator_decided, "operator_decided"},
};

// "5,000"
std::string grouped(std::uint64_t value) {
  auto digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

void append_line(std::string& out, finding const& of) {
  out += std::string{is_violation(of.kind) ? "  VIOLATED       " : "  not checkable  "} + of.saga.text();
  if (!of.step.empty()) out += "  " + of.step.text() + ' ' + std::string{name(of.op)};
  if (!of.service.empty()) out += " at " + of.service;
  out += "  " + of.text + '\n';
}

void write_finding(json::writer& to, finding const& of) {
  to.begin_object();
  to.key("saga").string(of.saga.text());
  to.key("kind").string(name(of.kind));
  to.key("verdict").string(name(is_violation(of.kind) ? verdict::violated : verdict::not_checkable));
  if (!of.step.empty()) to.key("step").string(of.step.text()).key("op").string(name(of.op));
  if (!of.service.empty()) to.key("service").string(of.service);
  to.key("text").string(of.text);
  to.end_object();
}

void write_counts(json::writer& to, report const& of) {
  std::array const counts{
      std::pair{"proven", of.proven},
      std::pair{"violated", of.violated},
      std::pair{"not_checkable", of.not_checkable},
      std::pair{"completed", of.completed},
      std::pair{"compensated", of.compensated},
      std::pair{"unfinished", of.unfinished},
      std::pair{"parked", of.parked},
      std::pair{"effects", of.effects},
      std::pair{"effects_twice", of.effects_twice},
      std::pair{"compensations_twice", of.compensations_twice},
      std::pair{"orphans", of.orphans},
      std::pair{"deleted", of.deleted},
      std::pair{"began_later", of.began_later},
      std::pair{"probes", of.probes},
      std::pair{"findings_left_out", of.findings_left_out},
  };
  for (auto const& [key, value] : counts) to.key(key).number(value);
}

void write_isolation(json::writer& to, isolation const& of) {
  to.key("isolation").begin_object().key("keys").number(of.keys).key("sagas").number(of.sagas);
  to.key("beside").number(of.beside).key("beside_undone").number(of.beside_undone).key("examples").begin_array();
  for (auto const& one : of.examples) {
    to.begin_object().key("key").string(one.key).key("saga").string(one.saga.text()).key("beside").string(one.beside.text());
    to.key("undone").boolean(one.undone).end_object();
  }
  to.end_array().end_object();
}

std::string isolation_text(isolation const& of) {
  if (of.keys == 0) return {};
  auto out = "        isolation: " + grouped(of.sagas) + " sagas of " + grouped(of.keys) + " keys, at work beside another of their key " +
             grouped(of.beside) + ", of them beside one that was undone " + grouped(of.beside_undone) + '\n';
  if (of.examples.empty()) return out;
  auto const& one = of.examples.front();
  return out + "        as " + one.saga.text() + " beside " + one.beside.text() + (one.undone ? ", undone" : "") + " (key " + one.key +
         "); `lock` in a definition keeps them apart\n";
}

}  // namespace

std::string_view name(verdict of) noexcept {
  return verdict_words[static_cast<std::size_t>(of)];
}

std::string_view name(finding_kind of) noexcept {
  for (auto const& [kind, word] : finding_words) {
    if (kind == of) return word;
  }
  return "unknown";
}

verdict report::verdict() const noexcept {
  if (violated > 0) return verdict::violated;
  bool const saw_nothing = judged() == 0 && !continues;
  return not_checkable > 0 || saw_nothing ? verdict::not_checkable : verdict::proven;
}

int exit_code(report const& of) noexcept {
  return static_cast<int>(of.verdict());
}

std::string to_json(report const& of) {
  json::writer to;
  to.begin_object().key("verdict").string(name(of.verdict()));
  to.key("services").begin_array();
  for (auto const& each : of.services) to.string(each);
  to.end_array();
  write_counts(to, of);
  to.key("continues").boolean(of.continues);
  write_isolation(to, of.isolation);
  to.key("findings").begin_array();
  for (auto const& each : of.findings) write_finding(to, each);
  to.end_array().end_object();
  return to.take();
}

std::string to_text(report const& of) {
  std::string out = "audit   " + grouped(of.judged()) + " sagas against " + grouped(of.services.size()) + " services: proven " +
                    grouped(of.proven) + "   violated " + grouped(of.violated) + "   not checkable " + grouped(of.not_checkable) + '\n';
  out += "        effects applied twice " + grouped(of.effects_twice) + "   compensations run twice " + grouped(of.compensations_twice) +
         "   effects of unknown sagas " + grouped(of.orphans) + '\n';
  if (of.unfinished + of.parked > 0) {
    out += "        not judged: under way " + grouped(of.unfinished) + "   parked " + grouped(of.parked) + '\n';
  }
  if (of.deleted > 0) out += "        may have been deleted after their retention " + grouped(of.deleted) + '\n';
  if (of.began_later > 0) out += "        may have begun after the journal was copied " + grouped(of.began_later) + '\n';
  out += isolation_text(of.isolation);
  if (of.judged() == 0)
    out += of.continues ? "        nothing new since the last audit\n" : "        nothing was checked, so nothing is proven\n";
  for (auto const& each : of.findings) append_line(out, each);
  if (of.findings_left_out > 0) out += "  … and " + grouped(of.findings_left_out) + " more\n";
  return out;
}

}  // namespace atone::audit
