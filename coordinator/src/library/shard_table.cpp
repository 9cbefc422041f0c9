#include "shard_table.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include <atone/load.hpp>

#include "environment.hpp"

namespace atone::library {
namespace {

constexpr std::size_t adopt_slice = 256;                           // sagas adopted before others get their turn
constexpr std::size_t adopt_resting_slice = 4096;                  // the same, of those that stay in the store
constexpr duration quiet_look = std::chrono::milliseconds{10};     // how often leaving shards are asked whether they are quiet, at most
constexpr int quiet_share = 10;                                    // and for at most this part of the loop's time
constexpr duration leave_patience = std::chrono::seconds{5};       // for calls that are out
constexpr duration end_patience = std::chrono::milliseconds{500};  // the same when all shards go, because the process ends
constexpr duration stubborn_first = std::chrono::seconds{30};
constexpr unsigned stubborn_doublings = 5;
constexpr duration unloadable_pause = std::chrono::minutes{1};
constexpr duration load_pause = std::chrono::milliseconds{50};
constexpr duration load_pause_max = std::chrono::seconds{1};

}  // namespace

shard_table::shard_table(boost::asio::io_context& loop, store& from, runtime::engine& drives, writer_thread& writer, clock_source& clock)
    : loop_(loop), store_(from), engine_(drives), writer_(writer), clock_(clock), quiet_timer_(loop) {}

void shard_table::begin(lease_news const& first) {
  seen_ = first.seen;
  definitions_known_ = first.seen.definitions;
  for (auto const& one : seen_.members) {
    if (one.number != seen_.self) continue;
    held_.insert(one.held.begin(), one.held.end());
    engine_.lease_epochs(one.held, one.epochs);
  }
  engine_.hold(held());
}

std::optional<member> shard_table::driver_of(shard which) const {
  for (auto const& one : seen_.members) {
    if (!std::binary_search(one.held.begin(), one.held.end(), which)) continue;
    if (one.number == seen_.self && !held_.contains(which)) return std::nullopt;
    return one;
  }
  return std::nullopt;
}

void shard_table::take(lease_news news) {
  if (stopped_ || giving_all_) return;
  seen_ = std::move(news.seen);
  auto const own = std::find_if(seen_.members.begin(), seen_.members.end(), [&](member const& one) { return one.number == seen_.self; });
  if (own == seen_.members.end()) return;
  if (!std::includes(own->held.begin(), own->held.end(), held_.begin(), held_.end()) ||
      !std::includes(own->held.begin(), own->held.end(), loading_.begin(), loading_.end())) {
    return engine_.lose(error{errc::fenced, "a shard that is driven here has another owner in the store"});
  }
  std::vector<shard> fresh;
  for (auto const which : own->held) {
    auto const gone = gone_at_.find(which);
    bool const old_news = gone != gone_at_.end() && news.asked <= gone->second;
    auto const broken = unloadable_.find(which);
    bool const later = broken != unloadable_.end() && boot_time() < broken->second;
    if (!old_news && !later && !held_.contains(which) && !loading_.contains(which) && !going_.contains(which)) fresh.push_back(which);
  }
  if (!fresh.empty()) engine_.lease_epochs(own->held, own->epochs);
  for (auto const which : fresh) load(which);
  if (seen_.definitions != definitions_known_) {
    definitions_known_ = seen_.definitions;
    refresh_definitions([](result<void>) {});
  }
  if (loading_.empty() && going_.empty() && !news.give.empty()) give(std::move(news.give));
}

// ---- reading ----

result<std::vector<definition_row>> shard_table::read_definitions(store& from, reading& by) {
  if (!by.definitions) {
    auto opened = from.open_reader();
    if (!opened) return opened.error();
    by.definitions = std::move(*opened);
  }
  auto rows = by.definitions->definitions();
  if (!rows) by.definitions.reset();
  return rows;
}

result<journal*> shard_table::open_sagas(store& from, reading& by) {
  if (!by.sagas) {
    auto opened = from.open_journal();
    if (!opened) return opened.error();
    by.sagas = std::move(*opened);
  }
  return by.sagas.get();
}

void shard_table::refresh_definitions(std::function<void(result<void>)> then) {
  auto const told = std::make_shared<std::function<void(result<void>)>>(std::move(then));
  bool const asked = asker_.push([this, told] {
    auto found = read_definitions(store_, by_asker_);
    boost::asio::post(loop_, [this, told, found = std::move(found)] {
      if (found && !stopped_) add_definitions(engine_, *found);
      if (!found) definitions_known_ = 0;  // the next look asks again
      (*told)(found ? result<void>{} : result<void>{found.error()});
    });
  });
  if (!asked) boost::asio::post(loop_, [told] { (*told)(stopped_error()); });
}

void add_definitions(runtime::engine& to, std::vector<definition_row> const& rows) {
  for (auto const& row : rows) {
    if (to.find_definition(row.ref.name, row.ref.version) != nullptr) continue;
    auto made = load_definition(row.text);
    if (made.ok()) to.add_definition(made.definition);
  }
}

bool shard_table::look_into_inbox(std::uint64_t after, std::function<void(result<std::vector<inbox_start>>)> then) {
  if (held_.empty()) return false;
  return asker_.push([this, of = held(), after, then = std::move(then)] {
    auto const in = open_sagas(store_, by_asker_);
    auto waiting = in ? (*in)->take_inbox(of, inbox_start::take_max, after) : result<std::vector<inbox_start>>{in.error()};
    boost::asio::post(loop_, [then, waiting = std::move(waiting)] { then(waiting); });
  });
}

// ---- coming ----

// The whole shard before any of it is adopted: a saga that was adopted would have gone on when it is read once more. The definitions last:
// what the sagas are bound to was published before they began.
void shard_table::load(shard which) {
  loading_.insert(which);
  (void)loader_.push([this, which] {
    for (auto pause = load_pause; !reading_over_.load(); pause = std::min(pause * 2, load_pause_max)) {
      auto const sagas = std::make_shared<runtime::loaded_sagas>();
      auto const in = open_sagas(store_, by_loader_);
      auto const read = in ? (*in)->load_open({which}, [&](open_saga&& one) { sagas->add(std::move(one)); }) : result<void>{in.error()};
      auto rows = read ? read_definitions(store_, by_loader_) : result<std::vector<definition_row>>{read.error()};
      if (rows) {
        return boost::asio::post(loop_, [this, which, sagas, rows = std::move(*rows)] { loaded(which, rows, sagas); });
      }
      if (!rows.error().retryable()) {
        return boost::asio::post(loop_, [this, which, why = rows.error()] { unloadable(which, why); });
      }
      if (!loader_.pause(pause)) return;
    }
  });
}

void shard_table::loaded(shard which, std::vector<definition_row> const& definitions, std::shared_ptr<runtime::loaded_sagas> sagas) {
  if (stopped_) return;
  add_definitions(engine_, definitions);
  adopt_resting(which, std::move(sagas));
}

void shard_table::adopt_resting(shard which, std::shared_ptr<runtime::loaded_sagas> sagas) {
  if (stopped_ || giving_all_) return;
  auto& resting = sagas->resting;
  auto const first = resting.end() - static_cast<std::ptrdiff_t>(std::min(resting.size(), adopt_resting_slice));
  engine_.adopt(std::vector<runtime::resting_saga>{first, resting.end()});
  resting.erase(first, resting.end());
  if (resting.empty()) return adopt(which, std::move(sagas), 0);
  boost::asio::post(loop_, [this, which, sagas = std::move(sagas)] { adopt_resting(which, sagas); });
}

void shard_table::adopt(shard which, std::shared_ptr<runtime::loaded_sagas> sagas, std::size_t from) {
  if (stopped_ || giving_all_) return;
  auto& open = sagas->open;
  auto const to = std::min(open.size(), from + adopt_slice);
  std::vector<open_saga> slice{std::make_move_iterator(open.begin() + static_cast<std::ptrdiff_t>(from)),
                               std::make_move_iterator(open.begin() + static_cast<std::ptrdiff_t>(to))};
  engine_.adopt(std::move(slice));
  if (to < open.size()) {
    return boost::asio::post(loop_, [this, which, sagas = std::move(sagas), to] { adopt(which, sagas, to); });
  }
  loading_.erase(which);
  unloadable_.erase(which);
  held_.insert(which);
  engine_.hold({which});
}

// The lease is ours and stays so: whoever had it next would fare no better.
void shard_table::unloadable(shard which, error const& why) {
  if (stopped_) return;
  loading_.erase(which);
  bool const told = unloadable_.contains(which);
  unloadable_[which] = boot_time() + unloadable_pause;
  if (told || !engine_.driving()) return;
  alert_row alert;
  alert.kind = "shard " + std::to_string(which.value()) + " can't be read";
  alert.level = alert_level::page;
  alert.text =
      "the open sagas of shard " + std::to_string(which.value()) + " stand still, because one of them can't be read: " + why.message;
  alert.raised_at = clock_.now();
  engine_.raise(std::move(alert));
}

// ---- going ----

// A shard that would not become quiet is left alone for a while: others go in its place.
void shard_table::give(std::vector<shard_move> moves) {
  auto const now = boot_time();
  std::vector<shard> movable;
  for (auto const which : held_) {
    auto const known = stubborn_.find(which);
    if (known == stubborn_.end() || now >= known->second.not_before) movable.push_back(which);
  }
  std::vector<shard> shards;
  for (auto& one : moves) {
    if (movable.empty()) break;
    one.shard = movable.back();
    movable.pop_back();
    shards.push_back(one.shard);
    leaving_.insert_or_assign(one.shard, one);
    held_.erase(one.shard);
    going_.insert(one.shard);
  }
  engine_.leave(shards);
  leave_until_ = now + leave_patience;
  try_to_let_go();
}

void shard_table::try_to_let_go() {
  if (stopped_ || leaving_.empty()) return;
  auto const began = boot_time();
  hand_over_quiet(false);
  if (leaving_.empty()) return;
  auto const now = boot_time();
  if (now >= leave_until_) {
    hand_over_quiet(true);
    if (!giving_all_) return stay();
    if (leaving_.empty()) return;
  }
  quiet_timer_.expires_after(std::max(quiet_look, (now - began) * quiet_share));
  quiet_timer_.async_wait([this](boost::system::error_code cancelled) {
    if (!cancelled) try_to_let_go();
  });
}

// Requests that take longer don't hold a shard, and with it its other sagas, for ever (`insist`): whoever drives it next asks again with
// the same key. What is left then are handlers of this process at work: those shards stay for a while, or, in a process that ends, until
// they are done.
void shard_table::hand_over_quiet(bool insist) {
  std::vector<shard> shards;
  for (auto const& [which, move] : leaving_) shards.push_back(which);
  if (insist) engine_.give_up_requests(shards);
  std::vector<shard_move> moves;
  for (auto const which : engine_.let_go(shards)) {
    moves.push_back(leaving_.at(which));
    leaving_.erase(which);
    stubborn_.erase(which);
  }
  if (!moves.empty()) hand_over(std::move(moves));
}

void shard_table::give_all() {
  std::vector<std::pair<std::size_t, writer_number>> others;
  for (auto const& one : seen_.members) {
    if (one.alive && one.number != seen_.self) others.emplace_back(one.held.size(), one.number);
  }
  giving_all_ = true;
  reading_over_.store(true);
  if (others.empty()) return;  // they become free with the end
  for (auto const which : std::exchange(held_, {})) {
    auto const least = std::min_element(others.begin(), others.end());
    ++least->first;
    leaving_.insert_or_assign(which, shard_move{which, least->second});
    going_.insert(which);
  }
  std::vector<shard> shards;
  for (auto const& [which, move] : leaving_) shards.push_back(which);
  engine_.leave(shards);
  leave_until_ = boot_time() + end_patience;
  try_to_let_go();
}

void shard_table::stay() {
  if (leaving_.empty()) return;
  std::vector<shard> shards;
  for (auto const& [which, move] : std::exchange(leaving_, {})) {
    shards.push_back(which);
    going_.erase(which);
    held_.insert(which);
    auto& known = stubborn_[which];
    known.not_before = boot_time() + stubborn_first * (1U << std::min(known.tries++, stubborn_doublings));
  }
  engine_.keep(shards);
}

void shard_table::hand_over(std::vector<shard_move> moves) {
  auto const kept = std::make_shared<std::vector<shard_move>>(std::move(moves));
  writer_.hand_over(*kept, [this, kept](result<void> outcome) { handed_over(*kept, outcome); });
}

void shard_table::handed_over(std::vector<shard_move> const& moves, result<void> const& outcome) {
  if (stopped_) return;
  if (!outcome) return engine_.lose(outcome.error());  // fenced, or stopped: whose they are is not ours to say any more
  auto const now = boot_time();
  for (auto const& one : moves) {
    going_.erase(one.shard);
    gone_at_.insert_or_assign(one.shard, now);
  }
}

void shard_table::stop() {
  if (std::exchange(stopped_, true)) return;
  reading_over_.store(true);
  quiet_timer_.cancel();
  loader_.stop();
  asker_.stop();
}

}  // namespace atone::library
