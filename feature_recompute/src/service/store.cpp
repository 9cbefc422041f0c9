#include "service/store.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <set>

namespace atone::features {
namespace {

// Entries of a frame: kind u8 | size u32 | bytes. Stored: values are never reused.
constexpr std::uint8_t entry_head = 1;    // the first of a log: version of the format, columns
constexpr std::uint8_t entry_row = 2;     // an event
constexpr std::uint8_t entry_record = 3;  // a version or an answer
constexpr std::uint32_t format_version = 1;
constexpr std::size_t frame_bytes_wanted = std::size_t{4} << 20;  // units are added to a frame up to this
constexpr std::size_t unit_bytes = 256;                           // of a unit that waits, beside its own

void put_entry(std::string& out, std::uint8_t kind, std::string_view bytes) {
  put(out, kind);
  put_text(out, bytes);
}

// What rows mean: with other columns the bytes would say something else.
std::string columns_of(feature_set const& of) {
  std::string words;
  for (auto const& one : of.columns) {
    words += (words.empty() ? "" : ", ") + one.name + " " + std::string{name(one.type)};
    if (one.scale > 0) words += "(" + std::to_string(one.scale) + ")";
  }
  words += "; entity " + of.columns[of.entity].name + ", id " + of.columns[of.event_id].name + ", time " + of.columns[of.event_time].name;
  if (of.known_at) words += ", known at " + of.columns[*of.known_at].name;
  return words;
}

std::string head_of(feature_set const& of) {
  std::string bytes;
  put(bytes, format_version);
  put_text(bytes, columns_of(of));
  std::string entry;
  put_entry(entry, entry_head, bytes);
  return entry;
}

result<void> check_head(feature_set const& of, std::string_view bytes) {
  byte_reader from{bytes};
  auto const version = from.number<std::uint32_t>();
  auto const columns = from.text();
  if (version != format_version) {
    return error{errc::unsupported,
                 "found format " + std::to_string(version) + "; this Atone reads format " + std::to_string(format_version)};
  }
  auto const expected = columns_of(of);
  if (columns == expected) return {};
  return error{errc::conflict, "the events that are here have other columns than the set '" + of.name + "': found " + std::string{columns} +
                                   "; expected " + expected + "; give a set of other columns another folder"};
}

error stopped() {
  return error{errc::unavailable, "the feature store has been stopped"};
}

error refused(error const& why) {
  return error{errc::unavailable, "the feature store takes nothing since a write failed, and is to be opened anew: " + why.message};
}

// Memory has what no log will have: nothing may be computed from it, and nobody be told that it is durable.
error half_taken() {
  return error{errc::unavailable, "out of memory"};
}

}  // namespace

feature_store::feature_store(feature_set_ptr set, feature_service_options const& with, std::function<void()> settled)
    : set_(std::move(set)),
      now_(with.now),
      versions_kept_(std::max<std::size_t>(1, with.versions_kept)),
      answers_kept_(with.answers_kept),
      rewrite_above_(with.rewrite_above),
      bytes_waiting_max_(with.bytes_waiting),
      alert_(with.alert),
      settled_(std::move(settled)),
      events_(set_) {}

feature_store::~feature_store() {
  stop();
}

result<std::unique_ptr<feature_store>> feature_store::open(feature_set_ptr set, feature_service_options const& with,
                                                           std::function<void()> settled) {
  std::unique_ptr<feature_store> made{new feature_store{std::move(set), with, std::move(settled)}};
  auto& self = *made;
  std::uint64_t last = 0;
  auto opened = commit_log::open(with.folder, with.sync, [&](std::uint64_t number, std::string_view payload) {
    last = number;
    return self.read_frame(payload);
  });
  if (!opened) return opened.error();
  self.log_.emplace(*std::move(opened));
  self.path_ = self.log_->path();
  self.cut_off_ = self.log_->cut_off();
  if (last == 0) {
    if (auto done = self.log_->append(1, head_of(*self.set_)); !done) return done.error();
    last = 1;
  }
  self.ticket_ = self.durable_ = last;
  self.log_bytes_ = self.rewritten_bytes_ = self.log_->bytes();
  self.writer_ = std::thread{[&self] { self.write(); }};
  return made;
}

result<void> feature_store::read_frame(std::string_view payload) {
  byte_reader from{payload};
  while (!from.at_end()) {
    auto const kind = from.number<std::uint8_t>();
    auto const bytes = from.text();
    if (!from.good()) return error{errc::corrupt, "an entry is longer than its frame"};
    if (auto done = read_entry(kind, bytes); !done) return done;
  }
  return {};
}

result<void> feature_store::read_entry(std::uint8_t kind, std::string_view bytes) {
  if (kind == entry_head) return check_head(*set_, bytes);
  if (kind == entry_row) {
    byte_reader from{bytes};
    auto const entity = events_.read(from);
    if (!entity) return entity.error();
    look_at(*entity);
    return {};
  }
  if (kind != entry_record) return error{errc::unsupported, "found an entry of kind " + std::to_string(kind) + ": it is of a later Atone"};
  auto record = read_record(bytes);
  if (!record) return record.error();
  return apply(std::make_shared<step_record const>(*std::move(record)));
}

// Into memory; a version that no entity is known of makes one known. Errors: corrupt.
result<void> feature_store::apply(record_ptr const& of) {
  if (!of->key.empty()) (of->is_undo() ? steps_[of->key].undo : steps_[of->key].act) = of;
  if (!of->is_version()) return {};
  auto const entity = events_.number_of(of->entity);
  if (!entity) return error{errc::corrupt, entity.error().message};
  auto& kept = versions_[*entity].kept;
  auto const number = of->version.number;
  auto const last = kept.empty() ? 0 : kept.back()->version.number;
  if (number <= last || number == std::numeric_limits<std::uint64_t>::max()) {
    return error{errc::corrupt, "found version " + std::to_string(number) + " of entity '" + of->entity + "' after version " +
                                    std::to_string(last) + ", expected one above it"};
  }
  kept.push_back(of);
  prune(kept);
  if (of->outcome == recompute_outcome::published && of->version.newest_event) {
    // An event of the future is no newer than the version that it stands in: it would pass for fresh until its time has come.
    auto const newest_applied = std::min(*of->version.newest_event, of->version.published_at);
    newest_applied_ = std::max(newest_applied_.value_or(timestamp::min()), newest_applied);
  }
  if (of->next_known) becoming_known_.emplace(*of->next_known, *entity);
  look_at(*entity);
  return {};
}

// Whether the content of a version counts: nobody has undone the step that made it.
bool feature_store::stands(step_record const& version) const {
  auto const step = version.origin.empty() ? steps_.end() : steps_.find(version.origin);
  return step == steps_.end() || step->second.undo == nullptr;
}

// What stays: the newest durable one and all that are on their way, and of the contents that stand the newest few, each once: undos need
// something to go back to, however many of them there were.
void feature_store::prune(std::vector<record_ptr>& kept) const {
  std::vector<record_ptr> stay;
  std::set<std::string_view> origins;
  std::size_t standing = 0;
  bool has_durable = false;
  for (auto one = kept.rbegin(); one != kept.rend(); ++one) {
    auto const& version = **one;
    bool const is_needed = !has_durable;
    has_durable = has_durable || version.ticket <= durable_;
    bool const is_other = stands(version) && (version.origin.empty() || origins.insert(version.origin).second);
    standing += is_other ? 1 : 0;
    if (is_needed || (is_other && standing <= versions_kept_)) stay.push_back(*one);
  }
  std::reverse(stay.begin(), stay.end());
  kept = std::move(stay);
}

// Marked, or made from another set, or without events that are there.
bool feature_store::is_behind(step_record const& version, entity_number entity) const {
  auto const event = events_.newest_of(entity);
  return version.version.tag != version_tag::current || version.version.set != set_->hash || version.rows_seen < events_.rows_of(entity) ||
         (version.next_known && *version.next_known <= now_()) || (event && *event > version.version.as_of);
}

void feature_store::look_at(entity_number entity) {
  auto const found = versions_.find(entity);
  if (found == versions_.end()) return;
  bool const stale = is_behind(*found->second.kept.back(), entity);
  stale ? static_cast<void>(stale_.insert(entity)) : static_cast<void>(stale_.erase(entity));
}

// Events that became known meanwhile make versions stale.
void feature_store::look_at_time() {
  if (becoming_known_.empty()) return;
  auto const end = becoming_known_.upper_bound(now_());
  for (auto one = becoming_known_.begin(); one != end; ++one) look_at(one->second);
  becoming_known_.erase(becoming_known_.begin(), end);
}

// Under the lock; gives the unit's ticket.
std::uint64_t feature_store::hand_over(std::string bytes, told then) {
  bytes_waiting_ += bytes.size() + unit_bytes;
  units_.emplace_back(std::move(bytes), std::move(then));
  wake_.notify_one();
  return ++ticket_;
}

void feature_store::append(event_table const& rows, std::function<void(result<append_outcome>)> then) {
  std::unique_lock guard{guard_};
  auto const refuse = [&](error const& why) {
    guard.unlock();
    then(why);
  };
  if (failed_ || stopping_) return refuse(failed_ ? refused(*failed_) : stopped());
  if (bytes_waiting_ > bytes_waiting_max_) return refuse(error{errc::exhausted, "too many rows wait to be written; append them again"});
  auto const checked = check(rows);
  if (!checked) return refuse(checked.error());
  if (checked->rows() > rows_max - events_.rows()) return refuse(error{errc::exhausted, "at most 4000000000 events are kept"});
  if (events_.bytes_of(*checked) > frame_bytes_max) {
    return refuse(error{errc::exhausted, "the rows are too large to be durable together; append them in parts"});
  }
  try {
    std::string bytes;
    auto const outcome = take(*checked, bytes);
    hand_over(std::move(bytes), [then, outcome](result<void> durable) {
      if (durable) return then(outcome);
      then(durable.error());
    });
  } catch (std::exception const&) {
    failed_ = half_taken();
    return refuse(*failed_);
  }
}

// Under the lock. Words may have come in when memory ends, no rows.
result<event_store> feature_store::check(event_table const& rows) {
  try {
    return events_.check(rows);
  } catch (std::exception const&) {
    return error{errc::exhausted, "out of memory"};
  }
}

// Under the lock: rows into memory, and their bytes.
append_outcome feature_store::take(event_store const& checked, std::string& bytes) {
  append_outcome made;
  made.left_out = checked.left_out;
  made.taken = events_.take(checked, [&](entity_number entity, std::string const& row) {
    put_entry(bytes, entry_row, row);
    look_at(entity);
  });
  made.left_out.duplicates = checked.rows() - made.taken;
  return made;
}

// Waits for room; then why nothing can be handed over.
std::optional<error> feature_store::why_not(std::unique_lock<std::mutex>& guard) {
  room_.wait(guard, [this] { return failed_ || stopping_ || bytes_waiting_ <= bytes_waiting_max_; });
  return failed_ ? std::optional{refused(*failed_)} : std::nullopt;
}

// A unit has no more than a frame takes well: records that need not be durable together are not.
void feature_store::publish(std::vector<record_ptr> const& records, told then) {
  std::unique_lock guard{guard_};
  if (auto const why = why_not(guard)) {
    guard.unlock();
    return then(*why);
  }
  try {
    for (auto first = records.begin(); first != records.end();) {
      std::string bytes;
      auto last = first;
      for (; last != records.end() && bytes.size() < frame_bytes_wanted; ++last) put_entry(bytes, entry_record, bytes_of(**last));
      auto const ticket = hand_over(std::move(bytes), last == records.end() ? then : [](auto const&) {});
      for (; first != last; ++first) {
        auto made = std::make_shared<step_record>(**first);
        made->ticket = ticket;
        ATONE_ASSERT(apply(made));
      }
    }
  } catch (std::exception const&) {
    failed_ = half_taken();
    throw;
  }
}

void feature_store::after_all(told then) {
  std::unique_lock guard{guard_};
  auto const why = why_not(guard);
  if (!why) {
    hand_over({}, std::move(then));
    return;
  }
  guard.unlock();
  then(*why);
}

void feature_store::rewrite(told then) {
  std::unique_lock guard{guard_};
  if (!stopping_) {
    rewrites_.push_back(std::move(then));
    wake_.notify_one();
    return;
  }
  guard.unlock();
  then(stopped());
}

// ---- the writer thread ----

void feature_store::write() {
  std::unique_lock guard{guard_};
  for (;;) {
    wake_.wait(guard, [this] { return stopping_ || !units_.empty() || !rewrites_.empty(); });
    if (units_.empty() && rewrites_.empty()) return;
    std::deque<unit> taken;
    auto const last = take_units(taken);
    bool const due = log_bytes_ > rewrite_above_ && log_bytes_ / 2 > rewritten_bytes_;
    auto asked = std::exchange(rewrites_, {});
    writing_ = true;
    guard.unlock();
    std::string payload;
    for (auto const& one : taken) payload += one.bytes;
    auto const done = commit(payload, last);
    for (auto& one : taken) one.then(done);
    if (due || !asked.empty()) {
      auto const rewritten = rewrite_now();
      if (!rewritten) alert_("the log of features can't be written anew: " + rewritten.error().message);
      for (auto& one : asked) one(rewritten);
    }
    guard.lock();
    writing_ = false;
    guard.unlock();
    settled_();
    guard.lock();
  }
}

// As many as make a frame; the ticket of the last one.
std::uint64_t feature_store::take_units(std::deque<unit>& into) {
  auto const first = ticket_ - units_.size();
  std::size_t bytes = 0;
  while (!units_.empty() && (into.empty() || bytes + units_.front().bytes.size() <= frame_bytes_wanted)) {
    bytes += units_.front().bytes.size();
    into.push_back(std::move(units_.front()));
    units_.pop_front();
  }
  bytes_waiting_ -= bytes + into.size() * unit_bytes;
  room_.notify_all();
  return first + into.size();
}

// What was handed over after a failure was told so by its own unit: nothing of it is written.
result<void> feature_store::commit(std::string const& payload, std::uint64_t number) {
  {
    std::lock_guard const guard{guard_};
    if (failed_) return refused(*failed_);
  }
  auto const done = payload.empty() ? result<void>{} : log_->append(number, payload);
  std::lock_guard const guard{guard_};
  if (!done) {
    failed_ = done.error();
    room_.notify_all();
    return done;
  }
  durable_ = number;
  commits_ += payload.empty() ? 0 : 1;
  log_bytes_ = log_->bytes();
  return {};
}

result<void> feature_store::rewrite_now() {
  auto const oldest = now_() - answers_kept_;
  auto const done = [&]() -> result<void> {
    try {
      return log_->rewrite([&](std::string_view payload) { return kept_of(payload, oldest); });
    } catch (std::exception const& thrown) {
      return error{errc::exhausted, thrown.what()};
    }
  }();
  std::lock_guard const guard{guard_};
  log_bytes_ = rewritten_bytes_ = log_->bytes();
  if (log_->has_failed() && !failed_) failed_ = done.error();
  if (done) forget(oldest);
  return done;
}

result<std::string> feature_store::kept_of(std::string_view payload, timestamp oldest) const {
  std::string kept;
  byte_reader from{payload};
  while (!from.at_end()) {
    auto const kind = from.number<std::uint8_t>();
    auto const bytes = from.text();
    if (kind == entry_record) {
      auto const record = read_record(bytes);
      if (!record) return record.error();
      std::lock_guard const guard{guard_};
      if (!is_kept(*record, oldest)) continue;
    }
    put_entry(kept, kind, bytes);
  }
  return kept;
}

// Young ones, and versions that memory keeps.
bool feature_store::is_kept(step_record const& of, timestamp oldest) const {
  if (of.answered_at >= oldest) return true;
  auto const entity = of.is_version() ? events_.find(of.entity) : std::nullopt;
  auto const found = entity ? versions_.find(*entity) : versions_.end();
  if (found == versions_.end()) return false;
  auto const& kept = found->second.kept;
  return std::any_of(kept.begin(), kept.end(), [&](record_ptr const& one) { return one->version.number == of.version.number; });
}

void feature_store::forget(timestamp oldest) {
  for (auto one = steps_.begin(); one != steps_.end();) {
    auto& state = one->second;
    if (state.act && !is_kept(*state.act, oldest)) state.act.reset();
    if (state.undo && !is_kept(*state.undo, oldest)) state.undo.reset();
    one = state.act || state.undo ? std::next(one) : steps_.erase(one);
  }
}

// ---- questions ----

step_state feature_store::step(std::string const& key) const {
  std::lock_guard const guard{guard_};
  auto const found = steps_.find(key);
  return found == steps_.end() ? step_state{} : found->second;
}

// Under the lock.
record_ptr feature_store::newest_of(std::string_view entity, std::uint64_t durable) const {
  auto const number = events_.find(entity);
  auto const found = number ? versions_.find(*number) : versions_.end();
  if (found == versions_.end()) return nullptr;
  auto const& kept = found->second.kept;
  auto const last = std::find_if(kept.rbegin(), kept.rend(), [&](record_ptr const& one) { return one->ticket <= durable; });
  return last == kept.rend() ? nullptr : *last;
}

record_ptr feature_store::newest(std::string const& entity) const {
  std::lock_guard const guard{guard_};
  return newest_of(entity, std::numeric_limits<std::uint64_t>::max());
}

record_ptr feature_store::served(std::string_view entity) const {
  std::lock_guard const guard{guard_};
  return newest_of(entity, durable_);
}

record_ptr feature_store::standing(std::string const& entity, std::string const& but_of) const {
  std::lock_guard const guard{guard_};
  auto const number = events_.find(entity);
  auto const found = number ? versions_.find(*number) : versions_.end();
  if (found == versions_.end()) return nullptr;
  auto const& kept = found->second.kept;
  auto const last = std::find_if(kept.rbegin(), kept.rend(), [&](record_ptr const& one) { return one->origin != but_of && stands(*one); });
  return last == kept.rend() ? nullptr : *last;
}

bool feature_store::is_stale(step_record const& version) const {
  std::lock_guard const guard{guard_};
  auto const entity = events_.find(version.entity);
  return entity && is_behind(version, *entity);
}

std::vector<record_ptr> feature_store::stale() {
  std::lock_guard const guard{guard_};
  look_at_time();
  std::vector<record_ptr> made;
  for (auto const one : stale_) made.push_back(versions_.at(one).kept.back());
  return made;
}

result<std::string> feature_store::name(std::string const& entity) {
  std::lock_guard const guard{guard_};
  auto const number = events_.number_of(entity);
  if (!number) return number.error();
  return events_.name_of(*number);
}

std::uint64_t feature_store::rows_of(std::string const& entity) const {
  std::lock_guard const guard{guard_};
  auto const number = events_.find(entity);
  return number ? events_.rows_of(*number) : 0;
}

std::optional<timestamp> feature_store::newest_event(std::string const& entity, timestamp until) const {
  std::lock_guard const guard{guard_};
  auto const number = events_.find(entity);
  return number ? events_.newest_of(*number, until) : std::nullopt;
}

result<gathered_events> feature_store::gather(std::span<std::string const> entities) const {
  std::lock_guard const guard{guard_};
  gathered_events made;
  std::vector<entity_number> numbers;
  for (auto const& one : entities) {
    auto const number = events_.find(one);
    ATONE_ASSERT(number.has_value());
    numbers.push_back(*number);
    made.rows.push_back(events_.rows_of(*number));
  }
  auto store = events_.gather(numbers, made.places);
  if (!store) return store.error();
  made.store = *std::move(store);
  return made;
}

bool feature_store::is_idle() const {
  std::lock_guard const guard{guard_};
  return units_.empty() && !writing_;
}

void feature_store::add_figures(feature_figures& to) {
  std::lock_guard const guard{guard_};
  look_at_time();
  to.commits = commits_;
  to.entities = events_.entities();
  to.events = events_.rows();
  to.stale = stale_.size();
  to.log_bytes = log_bytes_;
  to.writable = !failed_ && !stopping_;
}

std::optional<timestamp> feature_store::newest_applied() const {
  std::lock_guard const guard{guard_};
  return newest_applied_;
}

void feature_store::stop() {
  {
    std::lock_guard const guard{guard_};
    stopping_ = true;
    wake_.notify_one();
    room_.notify_all();
  }
  if (writer_.joinable()) writer_.join();
}

}  // namespace atone::features
