#include "load.hpp"

#include <utility>

#include <boost/asio/steady_timer.hpp>

#include <atone/json.hpp>
#include <atone/percent.hpp>

namespace demo {
namespace {

using atone::errc;
using atone::error;
using atone::result;
namespace http = atone::http;

std::string text_at(atone::json::value const& of, std::string_view key) {
  auto const found = of.find(key);
  return found && found->type() == atone::json::kind::string ? found->as_string() : std::string{};
}

bool flag_at(atone::json::value const& of, std::string_view key) {
  auto const found = of.find(key);
  return found && found->type() == atone::json::kind::boolean && found->as_bool();
}

bool settled(atone::saga_status status) {
  return atone::is_final(status) || status == atone::saga_status::parked;
}

// What repeating can mend: no answer at all, or a daemon that is busy, starting or stopping.
bool worth_repeating(http::exchange const& came) {
  if (!came.ok()) return true;
  auto const status = came.response.status;
  return status == 408 || status == 425 || status == 429 || status >= 500;
}

error refusal(std::string const& what, http::response const& answer) {
  return error{errc::invalid_argument, what + " was refused with " + std::to_string(answer.status) + ": " + answer.body};
}

}  // namespace

result<outcome> read_outcome(std::string_view json) {
  auto const parsed = atone::json::parse(std::string{json});
  if (!parsed) return error{errc::internal, "the daemon's answer is no JSON: " + parsed.error().message};
  if (parsed->type() != atone::json::kind::object) return error{errc::internal, "the daemon's answer is no object"};
  outcome made;
  auto const id = atone::saga_id::parse(text_at(*parsed, "id"));
  if (!id) return error{errc::internal, "the daemon's answer has no saga id in 'id'"};
  auto const status = atone::parse_saga_status(text_at(*parsed, "status"));
  if (!status) return error{errc::internal, "the daemon's answer has no known 'status'"};
  made.id = *id;
  made.status = *status;
  made.cause = text_at(*parsed, "cause");
  auto const steps = parsed->find("steps");
  if (!steps || steps->type() != atone::json::kind::array) return made;
  for (auto const& each : steps->elements()) {
    if (flag_at(each, "fell_back")) made.fell_back.insert(text_at(each, "path"));
  }
  return made;
}

struct load::impl : std::enable_shared_from_this<load::impl> {
  impl(boost::asio::io_context& loop, load_options with, std::vector<work_item> items, ended_hook on_ended, failed_hook on_failed)
      : io(loop),
        options(std::move(with)),
        work(std::move(items)),
        ended(std::move(on_ended)),
        failed(std::move(on_failed)),
        via(loop, client_options()) {}

  http::client_options client_options() const {
    http::client_options made;
    made.connections_max = options.in_flight;
    return made;
  }

  void take_next();
  void send_start(std::size_t item);
  void started(std::size_t item, http::exchange const& came);
  void send_wait(std::size_t item, std::string id);
  void waited(std::size_t item, std::string const& id, http::exchange const& came);
  void finish(outcome const& of);
  void give_up(error why);
  template <class Again>
  void later(Again again);

  boost::asio::io_context& io;
  load_options options;
  std::vector<work_item> work;
  ended_hook ended;
  failed_hook failed;
  http::client via;
  load_figures figures;
  std::size_t next = 0;
  bool stopped = false;
};

void load::impl::take_next() {
  if (stopped) return;
  if (next < work.size()) return send_start(next++);
  if (figures.ended == work.size()) {
    stopped = true;
    via.stop();  // closes the kept connections, so that the loop runs dry
  }
}

void load::impl::send_start(std::size_t item) {
  http::request start;
  start.method = "POST";
  start.target = "/v1/sagas/" + atone::percent_encode(options.saga);
  start.headers.add("Content-Type", "application/json");
  start.headers.add("Idempotency-Key", work[item].key);
  start.body = work[item].input;
  via.send(options.daemon, std::move(start), options.answer_max,
           [self = shared_from_this(), item](http::exchange came) { self->started(item, came); });
}

void load::impl::started(std::size_t item, http::exchange const& came) {
  if (stopped) return;
  if (worth_repeating(came)) return later([self = shared_from_this(), item] { self->send_start(item); });
  if (came.response.status < 200 || came.response.status > 299) return give_up(refusal("the start of " + work[item].key, came.response));
  auto const parsed = atone::json::parse(came.response.body);
  auto id = parsed && parsed->type() == atone::json::kind::object ? text_at(*parsed, "id") : std::string{};
  if (id.empty()) return give_up(error{errc::internal, "the daemon's answer to a start has no 'id': " + came.response.body});
  ++figures.started;
  if (flag_at(*parsed, "replayed")) ++figures.replayed;
  send_wait(item, std::move(id));
}

void load::impl::send_wait(std::size_t item, std::string id) {
  http::request wait;
  wait.target = "/v1/sagas/" + id + "/wait?timeout=" + atone::format_duration(options.wait_max);
  via.send(options.daemon, std::move(wait), options.answer_max,
           [self = shared_from_this(), item, id = std::move(id)](http::exchange came) { self->waited(item, id, came); });
}

void load::impl::waited(std::size_t item, std::string const& id, http::exchange const& came) {
  if (stopped) return;
  if (worth_repeating(came)) return later([self = shared_from_this(), item, id] { self->send_wait(item, id); });
  if (came.response.status < 200 || came.response.status > 299) return give_up(refusal("waiting for saga " + id, came.response));
  auto seen = read_outcome(came.response.body);
  if (!seen) return give_up(seen.error());
  if (!settled(seen->status)) return send_wait(item, id);
  seen->item = item;
  finish(*seen);
}

void load::impl::finish(outcome const& of) {
  ++figures.ended;
  ++figures.by_status[of.status];
  ended(of);
  take_next();
}

void load::impl::give_up(error why) {
  stopped = true;
  via.stop();
  failed(std::move(why));
}

template <class Again>
void load::impl::later(Again again) {
  ++figures.retries;
  auto timer = std::make_shared<boost::asio::steady_timer>(io, options.retry_pause);
  auto* const waits = timer.get();
  waits->async_wait([timer = std::move(timer), again = std::move(again)](auto) { again(); });
}

load::load(boost::asio::io_context& io, load_options options, std::vector<work_item> work, ended_hook ended, failed_hook failed)
    : impl_(std::make_shared<impl>(io, std::move(options), std::move(work), std::move(ended), std::move(failed))) {}
load::~load() {
  impl_->stopped = true;
}

void load::begin() {
  auto const slots = std::min<std::size_t>(impl_->options.in_flight, impl_->work.size());
  for (std::size_t slot = 0; slot < slots; ++slot) impl_->take_next();
  if (impl_->work.empty()) impl_->take_next();
}

load_figures const& load::figures() const noexcept {
  return impl_->figures;
}

}  // namespace demo
