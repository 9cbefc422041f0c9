#include <algorithm>

#include <boost/asio/post.hpp>

#include <atone/assert.hpp>

#include "http/client_core.hpp"
#include "http/request_text.hpp"

namespace atone::http {

namespace {

constexpr deadlines::id sweep_id = 0;  // tickets begin at 1

}  // namespace

client_core::client_core(boost::asio::io_context& io, client_options options)
    : io_(io), options_(std::move(options)), deadlines_(io, [this](deadlines::id which) { expired(which); }) {}

result<tls_context> const& client_core::tls() {
  if (!tls_) tls_.emplace(make_client_tls(options_.tls));
  return *tls_;
}

client::ticket client_core::send(origin const& to, written_request&& what, duration timeout, client::completion done) {
  auto made = std::make_shared<client_exchange>();
  made->id = ++last_ticket_;
  made->done = std::move(done);
  made->head = what.head;
  if (stopped_ || what.wrong) {
    complete_later(made, transport_failure::connect, stopped_ ? "the client is stopped" : what.wrong->message);
    return made->id;
  }
  auto& pool = pool_of(to);
  if (pool.waiting.size() >= options_.waiting_max) {
    complete_later(made, transport_failure::connect, "too many requests wait for a connection");
    return made->id;
  }
  made->text = std::move(what.text);
  made->pool = &pool;
  made->due = deadlines_.add(timeout, made->id);
  exchanges_.emplace(made->id, made);
  place(pool, made);
  return made->id;
}

client_pool& client_core::pool_of(origin const& to) {
  auto& slot = pools_[to];
  if (!slot) slot = std::make_unique<client_pool>(to);
  return *slot;
}

void client_core::place(client_pool& pool, exchange_ptr const& what) {
  if (place_on_idle(pool, what)) return;
  if (pool.open.size() >= options_.connections_max) {
    pool.waiting.emplace(what->id, what);
    return;
  }
  auto made = std::make_shared<client_connection>(shared_from_this(), pool);
  pool.open.insert(made);
  made->connect(what);
}

bool client_core::place_on_idle(client_pool& pool, exchange_ptr const& what) {
  while (!pool.idle.empty()) {
    auto& candidate = *pool.idle.back();
    pool.idle.pop_back();
    if (candidate.carry(what)) return true;
    drop(candidate);
  }
  return false;
}

void client_core::drop(client_connection& which) {
  auto& pool = which.pool();
  std::erase(pool.idle, &which);
  which.close();
  pool.open.erase(which.shared_from_this());
}

void client_core::keep(client_connection& which) {
  auto& pool = which.pool();
  if (!pool.waiting.empty()) {
    auto const next = pool.waiting.begin()->second;
    if (!which.carry(next)) return drop(which);
    pool.waiting.erase(next->id);
    return;
  }
  which.idle_since = deadlines::now();
  pool.idle.push_back(&which);
  if (!sweeping_) {
    sweeping_ = true;
    deadlines_.add(options_.idle_max, sweep_id);
  }
}

void client_core::serve_waiting(client_pool& pool) {
  while (!pool.waiting.empty() && (!pool.idle.empty() || pool.open.size() < options_.connections_max)) {
    auto const next = pool.waiting.begin()->second;
    pool.waiting.erase(pool.waiting.begin());
    place(pool, next);
  }
}

void client_core::answered(client_connection& on, bool reusable, exchange what) {
  auto const self = shared_from_this();
  auto const held = on.shared_from_this();
  auto const ended = on.release();
  ATONE_ASSERT(ended != nullptr);
  withdraw(ended->id);
  if (reusable) {
    keep(on);
  } else {
    drop(on);
  }
  serve_waiting(*ended->pool);
  complete(ended, std::move(what));
}

void client_core::broken(client_connection& on, transport_failure how, std::string detail) {
  auto const self = shared_from_this();
  auto const held = on.shared_from_this();
  auto const ended = on.release();
  auto& pool = on.pool();
  drop(on);
  if (ended) withdraw(ended->id);
  serve_waiting(pool);
  if (!ended) return;
  exchange made;
  made.failure = how;
  made.detail = std::move(detail);
  complete(ended, std::move(made));
}

exchange_ptr client_core::withdraw(client::ticket which) {
  auto const found = exchanges_.find(which);
  if (found == exchanges_.end()) return nullptr;
  auto const made = found->second;
  exchanges_.erase(found);
  deadlines_.remove(made->due);
  made->pool->waiting.erase(which);
  if (made->on) {
    auto& connection = *made->on;
    made->on = nullptr;
    // Still carried: what else comes on this connection would be the answer to a request that nobody waits for.
    if (connection.release()) drop(connection);
  }
  return made;
}

void client_core::expired(client::ticket which) {
  if (which == sweep_id) return sweep_idle();
  auto const self = shared_from_this();
  auto const late = withdraw(which);
  if (!late) return;
  exchange made;
  made.failure = late->left ? transport_failure::timeout : transport_failure::connect;
  made.detail = late->left ? "no whole answer in time" : "no connection in time";
  serve_waiting(*late->pool);
  complete(late, std::move(made));
}

void client_core::sweep_idle() {
  sweeping_ = false;
  auto const now = deadlines::now();
  auto next = duration_max;
  for (auto& [to, pool] : pools_) {
    std::vector<client_connection*> const idle = pool->idle;
    for (auto* const connection : idle) {
      auto const left = connection->idle_since + options_.idle_max - now;
      if (left <= left.zero()) {
        drop(*connection);
      } else {
        next = std::min(next, std::chrono::ceil<duration>(left));
      }
    }
  }
  std::erase_if(pools_, [](auto const& entry) { return entry.second->open.empty() && entry.second->waiting.empty(); });
  if (next == duration_max) return;
  sweeping_ = true;
  deadlines_.add(next, sweep_id);
}

void client_core::cancel(client::ticket which) {
  auto const given_up = withdraw(which);
  if (!given_up) return;
  serve_waiting(*given_up->pool);
  complete_later(given_up, given_up->left ? transport_failure::lost : transport_failure::connect, "given up");
}

void client_core::stop() {
  stopped_ = true;
  std::vector<client::ticket> open;
  for (auto const& [id, pending] : exchanges_) open.push_back(id);
  std::sort(open.begin(), open.end());
  for (auto const id : open) {
    auto const ended = withdraw(id);
    complete_later(ended, ended->left ? transport_failure::lost : transport_failure::connect, "the client is stopped");
  }
  for (auto& [to, pool] : pools_) {
    auto const connections = pool->open;
    for (auto const& connection : connections) drop(*connection);
  }
  deadlines_.stop();
}

void client_core::complete_later(exchange_ptr const& what, transport_failure how, std::string detail) {
  exchange made;
  made.failure = how;
  made.detail = std::move(detail);
  boost::asio::post(io_, [what, made = std::move(made)]() mutable { complete(what, std::move(made)); });
}

void client_core::complete(exchange_ptr const& what, exchange result) {
  ATONE_ASSERT(what->done != nullptr);
  auto const done = std::exchange(what->done, nullptr);
  done(std::move(result));
}

// ---- the public face ----

struct client::impl {
  std::shared_ptr<client_core> core;
};

client::client(boost::asio::io_context& io, client_options options) : impl_(std::make_shared<impl>()) {
  impl_->core = std::make_shared<client_core>(io, std::move(options));
}

client::~client() {
  stop();
}

client::ticket client::send(origin const& to, request what, duration timeout, completion done) {
  return impl_->core->send(to, request_text(to, what), timeout, std::move(done));
}

client::ticket client::send(origin const& to, written_request what, duration timeout, completion done) {
  return impl_->core->send(to, std::move(what), timeout, std::move(done));
}

void client::cancel(ticket which) {
  impl_->core->cancel(which);
}

void client::stop() {
  impl_->core->stop();
}

}  // namespace atone::http
