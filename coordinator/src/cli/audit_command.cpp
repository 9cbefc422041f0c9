#include "cli/audit_command.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <atone/load.hpp>

#include "cli/audit_journal.hpp"
#include "cli/audit_state.hpp"
#include "cli/daemon_client.hpp"
#include "cli/url.hpp"

namespace atone::cli {
namespace {

constexpr duration answer_max = std::chrono::seconds{30};
constexpr std::uint32_t page_size = 1000;
constexpr duration ids_differ = std::chrono::minutes{1};  // the clocks of nodes, and a start on its way to the store
std::vector<saga_status> const open_statuses{saga_status::running, saga_status::compensating, saga_status::waiting, saga_status::paused,
                                             saga_status::parked};
constexpr std::size_t pages_max = 100'000;  // of one participant: whoever answers more goes round in circles

class audit_run {
 public:
  audit_run(std::vector<audit_source> const& sources, std::unique_ptr<audit_journal> journal, std::optional<audit_state> before,
            surroundings const& with)
      : sources_(sources), journal_(std::move(journal)), before_(std::move(before)), with_(with) {
    if (before_) from_ = before_->open.empty() ? before_->judged_up_to : std::min(*before_->open.begin(), before_->judged_up_to);
  }

  // The order matters. Ended sagas are listed first, so that every effect of theirs is older than the reading of the participants;
  // what ended later, or began later, is set aside and never judged by what was read too early.
  result<audit::report> run() {
    if (auto newest = find_newest(); !newest) return newest.error();
    std::vector<saga_row> ended;
    auto const not_judged = [&](saga_row const& row) { unjudged_.insert(row.id); };
    if (auto listed = list(open_statuses, not_judged); !listed) return listed.error();  // whoever ends from here on is known to be left
    auto const first_time = [&](saga_row& row) {
      if (seen_.insert(row.id).second) ended.push_back(std::move(row));
    };
    if (auto listed = list({saga_status::completed, saga_status::compensated}, first_time); !listed) return listed.error();
    if (auto known = complete_sources(ended); !known) return known.error();
    audit::auditor by{names_of(sources_)};
    if (before_) by.judged_before(before_->judged_up_to, before_->open);
    for (auto const& each : sources_) {
      if (auto read = read_effects(each, by); !read) return read.error();
    }
    for (auto const& row : ended) {
      if (auto judged = judge(row, by); !judged) return judged.error();
    }
    if (auto aside = set_aside_open(by); !aside) return aside.error();
    if (auto claimed = claim_rest(by); !claimed) return claimed.error();
    if (auto told = ask_deletions(by); !told) return told.error();
    return by.finish();
  }

  // Where the next audit goes on. Ids begin with the time of their start, by the clock of the node that made them: what is so young that
  // an older id may still turn up is judged once more.
  std::optional<audit_state> state() const {
    if (!newest_) return before_;
    audit_state made;
    made.judged_up_to = older_by(*newest_, ids_differ);  // of what was there before anything was listed
    if (before_) made.judged_up_to = std::max(made.judged_up_to, before_->judged_up_to);
    std::copy_if(unjudged_.begin(), unjudged_.end(), std::inserter(made.open, made.open.end()),
                 [&](saga_id one) { return one <= made.judged_up_to; });
    return made;
  }

 private:
  bool was_judged(saga_id saga) const { return before_ && saga <= before_->judged_up_to && !before_->open.contains(saga); }

  static std::vector<std::string> names_of(std::vector<audit_source> const& sources) {
    std::vector<std::string> names;
    for (auto const& each : sources) names.push_back(each.service);
    return names;
  }

  result<void> find_newest() {
    auto const found = journal_->newest();
    if (!found) return found.error();
    newest_ = *found;
    return {};
  }

  result<void> list(std::vector<saga_status> const& statuses, std::function<void(saga_row&)> const& visit) {
    auto const visit_new = [&](saga_row& row) {
      if (!was_judged(row.id)) visit(row);
    };
    for (auto const status : statuses) {
      if (auto listed = journal_->list(status, from_, visit_new); !listed) return listed;
    }
    return {};
  }

  // Nothing typed: the services of the definitions, at the addresses written there.
  result<void> complete_sources(std::vector<saga_row> const& ended) {
    if (!sources_.empty()) return {};
    std::map<std::string, std::string> found;
    for (auto const& row : ended) {
      auto const definition = definition_of(row.definition);
      if (!definition) return definition.error();
      if (!*definition) continue;
      for (auto const& each : (*definition)->services) {
        if (each.kind == service::kind_of::http) found.emplace(each.name, each.address);
      }
    }
    for (auto const& [service, url] : found) {
      audit_source source;
      source.service = service;
      source.url = url;
      sources_.push_back(std::move(source));
    }
    return {};
  }

  api_answer fetch_page(audit_source const& from, std::string const& after) {
    target page{"/atone/effects"};
    page.query("limit", std::to_string(page_size));
    if (!after.empty()) page.query("after", after);
    if (from_) page.query("from", from_->text());
    api_request what;
    what.url = from.url + page.text();
    what.timeout = answer_max;
    return with_.fetch(std::move(what));
  }

  result<void> read_effects(audit_source const& from, audit::auditor& by) {
    std::string after;
    for (std::size_t page = 0; page < pages_max; ++page) {
      auto const came = fetch_page(from, after);
      if (!came.ok()) return error{errc::unavailable, "service '" + from.service + "' at " + from.url + " did not answer: " + came.detail};
      if (came.status != 200) {
        return error{errc::unavailable, "service '" + from.service + "' at " + from.url + " answered " + std::to_string(came.status) +
                                            " to GET /atone/effects: its effects can't be read (docs/audit.md)"};
      }
      auto const read = audit::read_effect_page(from.service, came.body);
      if (!read) return read.error();
      for (auto const& each : read->effects) {
        if (auto added = by.add(each); !added) return added;
      }
      if (read->next.empty()) return {};
      if (read->next == after) break;
      after = read->next;
    }
    return error{errc::internal, "service '" + from.service + "': the listing of its effects has no end"};
  }

  // Null when the journal has it no more, it can't be read, or it is not what the saga was started with: such sagas are not checkable.
  result<definition_ptr> definition_of(definition_ref const& which) {
    auto const key = which.name + '@' + std::to_string(which.version.value()) + ' ' + which.hash.text();
    if (auto const known = definitions_.find(key); known != definitions_.end()) return known->second;
    auto const text = journal_->definition_text(which);
    if (!text) return text.error();
    auto loaded = *text ? load_definition(**text).definition : definition_ptr{};
    if (loaded && loaded->ref != which) loaded = nullptr;
    return definitions_.emplace(key, std::move(loaded)).first->second;
  }

  result<void> judge(saga_row const& row, audit::auditor& by) {
    auto const definition = definition_of(row.definition);
    if (!definition) return definition.error();
    auto history = journal_->history(row.id);
    if (!history) return history.error();
    if (!*history) return {};  // deleted since it was listed: its effects stay unclaimed
    audit::saga_facts facts;
    facts.row = row;
    facts.definition = *definition;
    facts.events = std::move(**history);
    auto const found = by.judge(facts);
    auto const by_person = [](event const& one) {
      return one.kind == event_kind::operator_skip || one.kind == event_kind::operator_complete;
    };
    bool const may_be_later = found == audit::verdict::not_checkable && std::none_of(facts.events.begin(), facts.events.end(), by_person);
    unjudged_.erase(row.id);
    if (may_be_later) unjudged_.insert(row.id);  // a service was not read, say
    return {};
  }

  result<void> set_aside_open(audit::auditor& by) {
    return list(open_statuses, [&](saga_row const& row) {
      if (!seen_.insert(row.id).second) return;
      by.set_aside(row);
      unjudged_.insert(row.id);
    });
  }

  // Effects of sagas that were in no list: ended in between, or unknown to the journal.
  result<void> claim_rest(audit::auditor& by) {
    for (auto const id : by.unclaimed()) {
      auto const found = journal_->find(id);
      if (!found) return found.error();
      if (!*found) continue;
      by.set_aside(**found);
      unjudged_.insert(id);
    }
    return {};
  }

  // After everything else: whoever was missed by a look was deleted before this one.
  result<void> ask_deletions(audit::auditor& by) {
    auto const newest = journal_->deleted_up_to();
    if (!newest) return newest.error();
    if (*newest) by.deleted_up_to(**newest);
    if (auto const last = journal_->complete_up_to()) by.journal_ends_at(*last);
    return {};
  }

  std::vector<audit_source> sources_;
  std::unique_ptr<audit_journal> journal_;
  std::optional<audit_state> before_;
  std::optional<saga_id> from_;    // older ones were all judged
  std::optional<saga_id> newest_;  // when this one began
  std::set<saga_id> unjudged_;
  surroundings const& with_;
  std::set<saga_id> seen_;
  std::map<std::string, definition_ptr> definitions_;
};

result<std::unique_ptr<audit_journal>> journal_of(arguments const& typed, surroundings const& with) {
  auto const copy = typed.get("dump");
  return copy.empty() ? make_daemon_journal(with) : open_journal_copy(copy, with);
}

bool is_url(std::string_view text) {
  for (std::string_view const scheme : {"http://", "https://"}) {
    if (text.starts_with(scheme) && text.size() > scheme.size()) return true;
  }
  return false;
}

}  // namespace

result<std::vector<audit_source>> parse_sources(std::vector<std::string> const& typed) {
  std::vector<audit_source> sources;
  std::set<std::string> names;
  for (auto const& each : typed) {
    auto const equals = each.find('=');
    audit_source made;
    made.service = each.substr(0, equals);
    made.url = equals == std::string::npos ? std::string{} : each.substr(equals + 1);
    while (made.url.ends_with('/')) made.url.pop_back();
    if (made.service.empty() || !is_url(made.url)) {
      return error{errc::invalid_argument, "--service: found '" + each + "', expected name=URL, as in orders=http://127.0.0.1:7001"};
    }
    if (!names.insert(made.service).second) return error{errc::invalid_argument, "--service: '" + made.service + "' is named twice"};
    sources.push_back(std::move(made));
  }
  return sources;
}

result<audit::report> audit_all(std::vector<audit_source> const& sources, surroundings const& with) {
  return audit_run{sources, make_daemon_journal(with), std::nullopt, with}.run();
}

exit_code run_audit(arguments const& typed, surroundings const& with) {
  auto const sources = parse_sources(typed.all("service"));
  if (!sources) return report(sources.error(), with);
  auto const path = typed.get("state");
  auto before = read_audit_state(path);
  if (!before) return report(before.error(), with);
  auto journal = journal_of(typed, with);
  if (!journal) return report(journal.error(), with);
  audit_run run{*sources, std::move(*journal), std::move(*before), with};
  auto const found = run.run();
  if (!found) return report(found.error(), with);
  if (with.wants_json(typed)) {
    with.screen.out() << audit::to_json(*found) << '\n';
  } else {
    with.screen.out() << printable_lines(audit::to_text(*found));
  }
  if (auto const next = run.state(); next && !path.empty()) {
    if (auto written = write_audit_state(path, *next); !written) return report(written.error(), with);
  }
  return static_cast<exit_code>(audit::exit_code(*found));
}

}  // namespace atone::cli
