#include "shard_table.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include <atone/load.hpp>

#include "environment.hpp"

namespace atone::library {
namespace {

constexpr std::size_t adopt_slice = 256;                      // sagas adopted before others get their turn
constexpr auto quiet_look = std::chrono::milliseconds{10};    // how often leaving shards are asked whether they are quiet
constexpr duration leave_patience = std::chrono::seconds{5};  // for calls that are out
constexpr duration give_pause = std::chrono::seconds{5};      // after a shard would not become quiet
constexpr duration load_pause = std::chrono::milliseconds{50};
constexpr duration load_pause_max = std::chrono::seconds{1};

}  // namespace

shard_table::shard_table(boost::asio::io_context& loop, store& from, runtime::engine& drives, writer_thread& writer)
    : loop_(loop), store_(from), engine_(drives), writer_(writer), quiet_timer_(loop) {}

void shard_table::begin(lease_news const& first) {
  seen_ = first.seen;
  definitions_known_ = first.seen.definitions;
  for (auto const& one : seen_.members) {
    if (one.number == seen_.self) held_.insert(one.held.begin(), one.held.end());
  }
  engine_.hold(held());
}

std::optional<member> shard_table::driver_of(shard which) const {
  for (auto const& one : seen_.members) {
    if (std::find(one.held.begin(), one.held.end(), which) == one.held.end()) continue;
    if (one.number == seen_.self && !held_.contains(which)) return std::nullopt;
    return one;
  }
  return std::nullopt;
}

void shard_table::take(lease_news news) {
  if (stopped_) return;
  seen_ = std::move(news.seen);
  std::vector<shard> fresh;
  for (auto const& one : seen_.members) {
    if (one.number != seen_.self) continue;
    if (!std::includes(one.held.begin(), one.held.end(), held_.begin(), held_.end())) {
      return engine_.lose(error{errc::fenced, "a shard that is driven here has another owner in the store"});
    }
    for (auto const which : one.held) {
      auto const gone = gone_at_.find(which);
      bool const old_news = gone != gone_at_.end() && news.asked <= gone->second;
      if (!old_news && !held_.contains(which) && !loading_.contains(which) && !going_.contains(which)) fresh.push_back(which);
    }
  }
  if (!fresh.empty()) load(std::move(fresh));
  if (seen_.definitions != definitions_known_) {
    definitions_known_ = seen_.definitions;
    refresh_definitions([] {});
  }
  bool const moving = !loading_.empty() || !going_.empty();
  if (!moving && boot_time() >= give_again_at_ && !news.give.empty()) give(news.give);
}

// ---- coming ----

void shard_table::load(std::vector<shard> shards) {
  loading_.insert(shards.begin(), shards.end());
  (void)loader_.push([this, shards = std::move(shards)] {
    for (auto pause = load_pause;; pause = std::min(pause * 2, load_pause_max)) {
      auto found = read(shards);
      if (found) {
        auto const kept = std::make_shared<loaded>(std::move(*found));
        return boost::asio::post(loop_, [this, shards, kept] {
          add_definitions(kept->definitions);
          adopt(shards, kept, 0);
        });
      }
      if (!found.error().retryable()) {
        return boost::asio::post(loop_, [this, why = found.error()] { engine_.lose(why); });
      }
      if (!loader_.pause(pause)) return;
    }
  });
}

// All or nothing: what was adopted would have gone on when it is read once more.
result<shard_table::loaded> shard_table::read(std::vector<shard> const& shards) {
  loaded made;
  if (!defining_) {
    auto opened = store_.open_reader();
    if (!opened) return opened.error();
    defining_ = std::move(*opened);
  }
  auto rows = defining_->definitions();
  if (!rows) {
    if (rows.error().retryable()) defining_.reset();
    return rows.error();
  }
  made.definitions = std::move(*rows);
  if (shards.empty()) return made;
  if (!reading_) {
    auto opened = store_.open_journal();
    if (!opened) return opened.error();
    reading_ = std::move(*opened);
  }
  auto const done = reading_->load_open(shards, [&](open_saga&& one) { made.sagas.push_back(std::move(one)); });
  if (!done) return done.error();
  return made;
}

void shard_table::adopt(std::vector<shard> const& shards, std::shared_ptr<loaded> found, std::size_t from) {
  if (stopped_) return;
  auto const to = std::min(found->sagas.size(), from + adopt_slice);
  std::vector<open_saga> slice{std::make_move_iterator(found->sagas.begin() + static_cast<std::ptrdiff_t>(from)),
                               std::make_move_iterator(found->sagas.begin() + static_cast<std::ptrdiff_t>(to))};
  engine_.adopt(std::move(slice));
  if (to < found->sagas.size()) {
    return boost::asio::post(loop_, [this, shards, found = std::move(found), to] { adopt(shards, found, to); });
  }
  for (auto const one : shards) loading_.erase(one);
  held_.insert(shards.begin(), shards.end());
  engine_.hold(shards);
}

void shard_table::add_definitions(std::vector<definition_row> const& rows) {
  for (auto const& row : rows) {
    if (engine_.find_definition(row.ref.name, row.ref.version) != nullptr) continue;
    auto made = load_definition(row.text);
    if (made.ok()) engine_.add_definition(made.definition);  // one that no longer loads parks only the sagas bound to it
  }
}

void shard_table::refresh_definitions(std::function<void()> then) {
  auto const told = std::make_shared<std::function<void()>>(std::move(then));
  bool const asked = loader_.push([this, told] {
    auto found = read({});
    boost::asio::post(loop_, [this, told, found = std::move(found)] {
      if (found && !stopped_) add_definitions(found->definitions);
      if (!found) definitions_known_ = 0;  // the next look asks again
      (*told)();
    });
  });
  if (!asked) boost::asio::post(loop_, [told] { (*told)(); });
}

// ---- going ----

void shard_table::give(std::vector<shard_move> const& moves) {
  std::vector<shard> shards;
  for (auto const& one : moves) {
    if (!held_.contains(one.shard)) continue;
    shards.push_back(one.shard);
    leaving_.insert_or_assign(one.shard, one);
    held_.erase(one.shard);
    going_.insert(one.shard);
  }
  engine_.leave(shards);
  leave_until_ = boot_time() + leave_patience;
  try_to_let_go();
}

void shard_table::try_to_let_go() {
  if (stopped_ || leaving_.empty()) return;
  std::vector<shard> shards;
  for (auto const& [which, move] : leaving_) shards.push_back(which);
  std::vector<shard_move> moves;
  for (auto const which : engine_.let_go(shards)) {
    moves.push_back(leaving_.at(which));
    leaving_.erase(which);
  }
  if (!moves.empty()) hand_over(std::move(moves));
  if (leaving_.empty()) return;
  if (boot_time() < leave_until_) {
    quiet_timer_.expires_after(quiet_look);
    quiet_timer_.async_wait([this](boost::system::error_code cancelled) {
      if (!cancelled) try_to_let_go();
    });
    return;
  }
  shards.clear();
  for (auto const& [which, move] : std::exchange(leaving_, {})) {
    shards.push_back(which);
    going_.erase(which);
    held_.insert(which);
  }
  give_again_at_ = boot_time() + give_pause;
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
  stopped_ = true;
  quiet_timer_.cancel();
}

}  // namespace atone::library
