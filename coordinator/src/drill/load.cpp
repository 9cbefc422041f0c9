#include "drill/load.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include <atone/percent.hpp>

#include "drill/saga_answer.hpp"

namespace atone::drill {
namespace {

using steady = std::chrono::steady_clock;

// Short: whoever hangs must not hide from the drill that others go on.
constexpr duration poll_max = std::chrono::seconds{2};
constexpr duration answer_max = std::chrono::seconds{5};
constexpr std::chrono::milliseconds repeat_after{50};

// What repeating can mend: no answer at all, or a coordinator that is busy, starting or stopping.
bool worth_repeating(http::exchange const& came) {
  if (!came.ok()) return true;
  auto const status = came.response.status;
  return status == 408 || status == 425 || status == 429 || status >= 500;
}

bool is_good(http::exchange const& came) {
  return came.response.status >= 200 && came.response.status <= 299;
}

std::vector<http::origin> origins_of(drill_plan const& plan) {
  std::vector<http::origin> made;
  for (auto const& url : plan.coordinators) {
    if (auto const read = http::parse_origin(url)) made.push_back(*read);
  }
  return made;
}

http::client_options client_options_of(drill_plan const& plan, http::tls_options tls) {
  http::client_options made;
  made.connections_max = plan.load.in_flight;
  made.tls = std::move(tls);
  return made;
}

// A proxy that sends a start twice before a coordinator may well have its second sending answered first.
bool has_duplicate(drill_plan const& plan) {
  return std::any_of(plan.faults.begin(), plan.faults.end(), [](auto const& one) { return one.network.kind == fault_kind::duplicate; });
}

}  // namespace

struct load::impl : std::enable_shared_from_this<load::impl> {
  impl(boost::asio::io_context& loop, drill_plan const& of, std::string secret, http::tls_options tls, std::string own,
       std::uint64_t number)
      : io(loop),
        plan(of),
        token(std::move(secret)),
        run(std::move(own)),
        first(number),
        origins(origins_of(of)),
        via(loop, client_options_of(of, std::move(tls))) {}

  void take_next();
  void send_start(std::size_t row);
  void started(std::size_t row, http::exchange const& came);
  void send_wait(std::size_t row);
  void waited(std::size_t row, http::exchange const& came);
  void note(std::size_t row, saga_answer const& seen);
  void free_slot();
  void verify_next();
  void verified(std::size_t row, http::exchange const& came);
  void give_up(error why);
  void ask(std::size_t row, http::request what, void (impl::*then)(std::size_t, http::exchange const&));
  template <class Again>
  void later(std::chrono::microseconds time, Again again);
  duration since_begin() const { return std::chrono::duration_cast<duration>(steady::now() - begun); }

  boost::asio::io_context& io;
  drill_plan const& plan;
  std::string token;
  std::string run;
  std::uint64_t first;
  bool doubles = has_duplicate(plan);
  std::vector<http::origin> origins;
  http::client via;
  std::vector<ledger_row> rows;
  std::vector<duration> settled;
  std::vector<std::size_t> settled_rows;
  steady::time_point begun;
  steady::time_point next_start;
  std::optional<error> failed;
  std::uint64_t repeated = 0;
  std::size_t under_way = 0;
  std::size_t verifying = 0;  // the next row to ask for
  std::size_t asked = 0;      // of them out
  std::function<void()> all_verified;
  bool starting = false;
  bool stopped = false;
};

template <class Again>
void load::impl::later(std::chrono::microseconds time, Again again) {
  auto const timer = std::make_shared<boost::asio::steady_timer>(io, time);
  timer->async_wait([timer, again = std::move(again)](auto) { again(); });
}

// Another coordinator each time: a repetition does not meet the one that is gone.
void load::impl::ask(std::size_t row, http::request what, void (impl::*then)(std::size_t, http::exchange const&)) {
  if (!token.empty()) what.headers.add("Authorization", "Bearer " + token);
  auto const& to = origins[(row + repeated) % origins.size()];
  via.send(to, std::move(what), answer_max, [self = shared_from_this(), row, then](http::exchange came) {
    if (!self->stopped) (self.get()->*then)(row, came);
  });
}

void load::impl::take_next() {
  if (!starting || stopped) return free_slot();
  auto const now = steady::now();
  if (plan.load.rate != 0 && next_start > now) {
    auto const wait = std::chrono::duration_cast<std::chrono::microseconds>(next_start - now);
    return later(wait, [self = shared_from_this()] { self->take_next(); });
  }
  if (plan.load.rate != 0) next_start = std::max(next_start + std::chrono::microseconds{1'000'000 / plan.load.rate}, now - repeat_after);
  rows.emplace_back();
  rows.back().key = "drill-" + run + '-' + std::to_string(rows.size());
  send_start(rows.size() - 1);
}

void load::impl::free_slot() {
  if (under_way > 0) --under_way;
}

void load::impl::send_start(std::size_t row) {
  ++rows[row].sends;
  http::request start;
  start.method = "POST";
  start.target = "/v1/sagas/" + percent_encode(plan.load.saga);
  start.headers.add("Content-Type", "application/json");
  start.headers.add("Idempotency-Key", rows[row].key);
  start.body = input_of(plan.load.input, first + row);
  ask(row, std::move(start), &impl::started);
}

void load::impl::started(std::size_t row, http::exchange const& came) {
  if (worth_repeating(came)) {
    ++repeated;
    return later(repeat_after, [self = shared_from_this(), row] { self->send_start(row); });
  }
  if (!is_good(came)) {
    return give_up(error{errc::invalid_argument, "the start of " + rows[row].key + " was refused with " +
                                                     std::to_string(came.response.status) + ": " + came.response.body});
  }
  auto const seen = read_saga_answer(came.response.body);
  if (!seen) return give_up(seen.error());
  if (seen->replayed && rows[row].sends == 1 && !doubles) {
    return give_up(error{errc::conflict, "the start of " + rows[row].key + " was sent once, and answered as one that was accepted before"});
  }
  rows[row].id = seen->id;
  send_wait(row);
}

void load::impl::send_wait(std::size_t row) {
  http::request wait;
  wait.target = "/v1/sagas/" + rows[row].id.text() + "/wait?timeout=" + format_duration(poll_max);
  ask(row, std::move(wait), &impl::waited);
}

void load::impl::waited(std::size_t row, http::exchange const& came) {
  if (worth_repeating(came)) {
    ++repeated;
    return later(repeat_after, [self = shared_from_this(), row] { self->send_wait(row); });
  }
  if (!is_good(came)) {
    rows[row].missing = came.response.status == 404;
    if (!rows[row].missing) {
      return give_up(error{errc::internal, "waiting for saga " + rows[row].id.text() + " was refused with " +
                                               std::to_string(came.response.status) + ": " + came.response.body});
    }
    return take_next();
  }
  auto const seen = read_saga_answer(came.response.body);
  if (!seen) return give_up(seen.error());
  if (!seen->settled()) return send_wait(row);
  rows[row].settled_at = std::max(since_begin(), duration{1});
  settled.push_back(rows[row].settled_at);
  settled_rows.push_back(row);
  note(row, *seen);
  take_next();
}

void load::impl::note(std::size_t row, saga_answer const& seen) {
  rows[row].status = seen.status;
  rows[row].fell_back = seen.fell_back;
}

void load::impl::verify_next() {
  while (verifying < rows.size() && !rows[verifying].accepted()) ++verifying;
  if (verifying == rows.size()) {
    if (asked == 0 && all_verified) std::exchange(all_verified, {})();
    return;
  }
  http::request show;
  auto const row = verifying++;
  show.target = "/v1/sagas/" + rows[row].id.text();
  ++asked;
  ask(row, std::move(show), &impl::verified);
}

void load::impl::verified(std::size_t row, http::exchange const& came) {
  --asked;
  if (worth_repeating(came)) {
    ++repeated;
    ++asked;
    return later(repeat_after, [self = shared_from_this(), row] {
      http::request show;
      show.target = "/v1/sagas/" + self->rows[row].id.text();
      self->ask(row, std::move(show), &impl::verified);
    });
  }
  auto const seen = is_good(came) ? read_saga_answer(came.response.body) : result<saga_answer>{error{errc::not_found, "gone"}};
  rows[row].missing = !seen;
  if (seen) note(row, *seen);
  verify_next();
}

void load::impl::give_up(error why) {
  if (!failed) failed = std::move(why);
  starting = false;
  free_slot();
}

load::load(boost::asio::io_context& io, drill_plan const& plan, std::string token, http::tls_options tls, std::string run,
           std::uint64_t first)
    : impl_(std::make_shared<impl>(io, plan, std::move(token), std::move(tls), std::move(run), first)) {}

std::string load::key_prefix() const {
  return "drill-" + impl_->run + '-';
}

load::~load() {
  stop();
}

void load::begin() {
  impl_->begun = steady::now();
  impl_->next_start = impl_->begun;
  impl_->starting = true;
  impl_->under_way = impl_->plan.load.in_flight;
  for (std::uint32_t slot = 0; slot < impl_->plan.load.in_flight; ++slot) impl_->take_next();
}

void load::stop_starting() {
  impl_->starting = false;
}

bool load::quiet() const noexcept {
  return impl_->under_way == 0;
}

void load::stop() {
  if (std::exchange(impl_->stopped, true)) return;
  impl_->via.stop();
}

void load::verify(std::function<void()> done) {
  impl_->all_verified = std::move(done);
  auto const lanes = impl_->plan.load.in_flight;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) impl_->verify_next();
}

std::vector<ledger_row> const& load::ledger() const noexcept {
  return impl_->rows;
}
std::vector<duration> const& load::ends() const noexcept {
  return impl_->settled;
}
std::vector<std::size_t> const& load::settled_rows() const noexcept {
  return impl_->settled_rows;
}
duration load::now() const {
  return impl_->since_begin();
}
std::optional<error> const& load::failure() const noexcept {
  return impl_->failed;
}
std::uint64_t load::repeats() const noexcept {
  return impl_->repeated;
}

}  // namespace atone::drill
