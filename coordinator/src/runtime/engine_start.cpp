// How sagas begin: checked before anything is written, claimed by their key, or asked for inside another program's transaction.
#include <utility>

#include <atone/utf8.hpp>

#include "instance.hpp"
#include "planted.hpp"

namespace atone::runtime {
namespace {

constexpr std::size_t refused_input_max = 2000;  // bytes of a refused start's input in its alert

}  // namespace

void engine::start(start_request what, callback<started> then) {
  begin(std::move(what), std::move(then));
}

// A saga that is not under way yet: everything that can be wrong with a start is found here, before anything is written.
result<std::unique_ptr<engine::instance>> engine::prepare(start_request const& what) {
  if (!driving_ || stopping_) return not_driving();
  if (open_.size() >= settings_.open_max) {
    return error{errc::exhausted,
                 std::to_string(open_.size()) + " sagas are under way, which is this coordinator's limit; try again later"};
  }
  if (queued() >= settings_.queue_max) {
    return error{errc::exhausted,
                 std::to_string(queued()) + " records wait for the store, which is this coordinator's limit; try again later"};
  }
  auto const definition = find_definition(what.saga, what.version);
  if (definition == nullptr) {
    auto const version = what.version ? "@" + std::to_string(what.version->value()) : std::string{};
    return error{errc::not_found, "no definition '" + what.saga + version + "' is published"};
  }
  if (what.key.value().size() > saga_start::key_bytes_max || clean_text(what.key.value()) != what.key.value()) {
    return error{errc::invalid_argument,
                 "the key must be UTF-8 without NUL, of at most " + std::to_string(saga_start::key_bytes_max) + " bytes"};
  }
  json::value input;
  if (!what.key.value().empty() || definition->shard_key || definition->lock) {  // else the machine is the first that has to know
    auto parsed = json::parse(what.input);
    if (!parsed) return error{errc::invalid_argument, "input: " + parsed.error().message};
    input = std::move(*parsed);
  }
  auto const id = ports_.ids.next_saga(ports_.clock.now());
  auto made = std::make_unique<instance>(definition, id, what.key);
  if (!what.key.value().empty()) made->body = content_hash::of(json::canonical(input));
  made->row.id = id;
  made->row.definition = definition->ref;
  made->row.key = what.key;
  if (auto placed = place(*made, *definition, input); !placed) return placed.error();
  return made;
}

// Which shard a new saga lives in, and whether that is another's to drive.
result<void> engine::place(instance& of, definition const& bound_to, json::value const& input) const {
  auto home = std::hash<saga_id>{}(of.row.id);
  auto const& tie = bound_to.lock ? bound_to.lock : bound_to.shard_key;
  if (tie) {
    expr::bindings values;
    values.emplace("input", input);
    auto const named = tie->evaluate(values);
    if (!named) return error{errc::invalid_argument, (bound_to.lock ? "lock: " : "shard_key: ") + named.error().message};
    auto const hash = content_hash::of(json::canonical(*named)).value();
    home = static_cast<std::size_t>(hash[0]) << 8 | hash[1];
  }
  of.row.home = shard{static_cast<std::uint16_t>(home % settings_.shards)};
  if (holds(of.row.home)) return {};
  // Nothing ties it to its shard but its id: one of our own is as good.
  if (!tie && !held_.empty()) {
    of.row.home = *std::next(held_.begin(), static_cast<std::ptrdiff_t>(home % held_.size()));
  } else {
    of.foreign = true;
  }
  return {};
}

// True: the saga is in the batch that gathers. False: `then` will be told why not.
bool engine::begin(start_request what, callback<started> then) {
  auto made = prepare(what);
  if (!made) {
    refuse_start(what, std::move(then), made.error());
    return false;
  }
  event first;
  first.kind = event_kind::started;
  first.payload = std::move(what.input);
  first.text = what.key.value();
  stamp(**made, first);
  auto commands = (*made)->machine.apply(first);
  if (!commands) {
    what.input = std::move(first.payload);
    refuse_start(what, std::move(then), commands.error());
    return false;
  }
  cap_gathering();
  auto const id = (*made)->row.id;
  auto& placed = *open_.emplace(id, std::move(*made)).first->second;
  placed.row.started_at = first.at;
  placed.starting = true;
  placed.life = ++lives_;
  placed.on_started = std::move(then);
  saga_start claim;
  placed.row = row_of(placed);
  claim.row = placed.row;
  claim.body = placed.body;
  if (placed.foreign) gathering_->rows.foreign.push_back(placed.row.home);
  gathering_->starts.push_back(id);
  gathering_->rows.starts.push_back(std::move(claim));
  if (planted(planted_bug::acknowledge_early) && placed.on_started) {
    started early;
    early.id = id;
    std::exchange(placed.on_started, nullptr)(early);
  }
  gather(placed, std::move(first), std::move(*commands));
  return true;
}

// A repeat of a start is answered by the saga it made, whatever has become of the definition since.
void engine::refuse_start(start_request const& what, callback<started> then, error why) {
  bool const by_definition = why.code == errc::invalid_argument || why.code == errc::not_found;
  auto const input = json::parse(what.input);
  if (what.key.value().empty() || !by_definition || !input) {
    return ports_.turns.defer([then = std::move(then), why = std::move(why)] { then(why); });
  }
  auto const body = content_hash::of(json::canonical(*input));
  ports_.lookup.holder_of(what.saga, what.key,
                          [then = std::move(then), why = std::move(why), body](result<std::optional<store_lookup::key_holder>> found) {
                            if (!found || !*found || (*found)->body != body) return then(why);
                            started answer;
                            answer.id = (*found)->saga;
                            answer.replayed = true;
                            then(answer);
                          });
}

void engine::start_from_inbox(inbox_start const& one) {
  if (!inbox_.insert(one.number).second) return;
  if (one.arrived) return arrive(one.number, *one.arrived);
  if (planted(planted_bug::take_request_early)) gathering_->rows.taken.push_back(one.number);
  start_request what;
  what.saga = one.saga_name;
  what.key = one.key;
  what.input = one.input;
  bool const begun = begin(std::move(what), [this, one](result<started> outcome) {
    bool const undefined = !outcome && outcome.error().code == errc::not_found;
    // Published while this answer was on its way: the next look starts it.
    if (undefined && find_definition(one.saga_name, std::nullopt) != nullptr) return static_cast<void>(inbox_.erase(one.number));
    if (!undefined) inbox_.erase(one.number);
    if (outcome && outcome->replayed) {
      gathering_->rows.taken.push_back(one.number);
      return schedule_flush();
    }
    if (outcome || outcome.error().retryable() || outcome.error().code == errc::exhausted) return;
    if (outcome.error().code == errc::fenced) return;
    alert_row told;
    told.kind = undefined ? "start waits: " + one.saga_name : "start refused: " + std::to_string(one.number);
    told.level = alert_level::page;
    told.text = "a start asked for by SQL " + std::string{undefined ? "waits for its definition" : "was refused"} + ": " + one.saga_name +
                ", key '" + one.key.value() + "': " + outcome.error().message;
    told.raised_at = ports_.clock.now();
    if (undefined) {
      auto& waiting = undefined_[one.saga_name];
      waiting.push_back(one.number);
      if (waiting.size() > 1) return;  // said already
    } else {
      told.text += "; its input: " + clean_text(one.input.substr(0, refused_input_max));
      gathering_->rows.taken.push_back(one.number);
    }
    raise(std::move(told));
  });
  if (begun) gathering_->rows.taken.push_back(one.number);
}

void engine::raise(alert_row what) {
  ports_.probe.alerted(what);
  gathering_->rows.alerts.push_back(std::move(what));
  schedule_flush();
}

}  // namespace atone::runtime
