#include "service.hpp"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atone/http.hpp>
#include <atone/json.hpp>

#include "effects.hpp"
#include "perform.hpp"

namespace kit {
namespace {

namespace asio = boost::asio;
namespace http = atone::http;
using atone::errc;
using atone::error;
using atone::result;
using atone::participant::participant_database;

constexpr atone::duration stop_grace = std::chrono::seconds{5};
constexpr std::size_t body_max = 64 * 1024;

using page = std::optional<std::string>;

// A request that found its route.
struct job {
  route const* on = nullptr;
  request_context context;
  fault with;
  http::responder reply;

  job() = default;
};

bool is_postgresql(std::string_view address) {
  return address.substr(0, 8) == "postgres";
}

}  // namespace

struct service::impl {
  service_definition definition;
  service_options options;
  std::unique_ptr<participant_database> database;
  std::vector<route> routes;
  counters count;
  std::atomic<std::uint32_t> waiting{0};

  asio::io_context io;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
  std::optional<asio::thread_pool> pool;
  std::optional<http::server> server;
  std::thread loop;
  bool stopped = false;

  result<void> open();
  result<void> listen();
  void stop();

  void receive(http::request request, http::responder reply);
  result<job> find(http::request const& request);
  void schedule(std::shared_ptr<job> next);
  void perform(job& of);
  void answer_after(job& of, std::optional<http::response> with);
  std::string stats() const;
  service_figures figures() const;
};

result<void> service::impl::open() {
  auto made_routes = definition.routes(options);
  if (!made_routes) return made_routes.error();
  routes = std::move(*made_routes);
  auto opened = atone::participant::open_database(options.db);
  if (!opened) return opened.error();
  database = std::move(*opened);
  if (auto installed = database->install_barrier(); !installed) return installed.error();
  auto const script = definition.schema(is_postgresql(options.db) ? "bigserial primary key" : "integer primary key autoincrement");
  auto made = database->transact([&](atone::participant::sql_session& session) { return session.script(script); });
  if (!made) return made.error();
  routes.push_back(route::reads("/health", [](auto&, auto const&) { return page{std::string{R"({"status":"ok"})"}}; }));
  routes.push_back(route::reads("/atone/stats", [this](auto&, auto const&) { return page{stats()}; }));
  routes.push_back(route::reads("/atone/effects", [this](auto& session, auto const& context) -> result<page> {
    auto const limit = context.query_number("limit", 1000, effects_page_max);
    if (!limit) return limit.error();
    auto const asked = [&](std::string_view name) {
      auto const found = context.query.find(name);
      return found == context.query.end() ? std::string_view{} : std::string_view{found->second};
    };
    auto listed = list_effects(session, definition.evidence, asked("after"), asked("from"), *limit);
    if (!listed) return listed.error();
    return page{std::move(*listed)};
  }));
  return {};
}

result<void> service::impl::listen() {
  http::server_options with;
  with.port = options.port;
  with.body_max = body_max;
  server.emplace(io, with, [this](http::request request, http::responder reply) { receive(std::move(request), std::move(reply)); });
  if (auto started = server->start(); !started) return started.error();
  work.emplace(io.get_executor());
  pool.emplace(workers);
  loop = std::thread{[this] { io.run(); }};
  return {};
}

void service::impl::stop() {
  if (stopped || !loop.joinable()) return;
  stopped = true;
  asio::post(io, [this] { server->stop(stop_grace, [this] { work.reset(); }); });
  loop.join();
  pool->join();
}

result<job> service::impl::find(http::request const& request) {
  auto const target = http::parse_target(request.target);
  if (!target) return error{errc::invalid_argument, "the request's target can't be read"};
  bool other_method = false;
  for (auto const& each : routes) {
    auto parameters = match(each.pattern, target->path);
    if (!parameters) continue;
    other_method = true;
    if (each.method != request.method) continue;
    job made;
    made.on = &each;
    made.context.path = std::move(*parameters);
    for (auto const& [key, value] : target->query) made.context.query.emplace(key, value);
    return made;
  }
  if (other_method) return error{errc::unsupported, request.method + " is not possible here"};
  return error{errc::not_found, "no such address: " + target->path};
}

void service::impl::receive(http::request request, http::responder reply) {
  ++count.requests;
  auto found = find(request);
  if (!found) {
    auto const code = found.error().code;
    return reply.send(error_response(code == errc::unsupported ? 405 : code == errc::not_found ? 404 : 400, found.error().message));
  }
  auto next = std::make_shared<job>(std::move(*found));
  if (!request.body.empty()) {
    auto body = atone::json::parse(std::move(request.body));
    if (!body) return reply.send(error_response(400, "the body is no JSON: " + body.error().message));
    next->context.body = std::move(*body);
  }
  if (next->on->change) {
    if (auto read = read_call(request, next->context); !read) return reply.send(error_response(400, read.error().message));
    auto const& call = next->context.call;
    next->with = draw(options.faults, request_identity{call.saga, call.step, call.op, next->context.attempt});
    ++count.faults[static_cast<std::size_t>(next->with.kind)];
  }
  next->reply = std::move(reply);
  schedule(std::move(next));
}

void service::impl::schedule(std::shared_ptr<job> next) {
  if (next->with.kind == fault_kind::fail) return next->reply.send(error_response(503, "unavailable on purpose (fault injection)"));
  if (next->with.kind == fault_kind::hang) return answer_after(*next, std::nullopt);
  if (waiting.fetch_add(1) >= queue_max) {
    --waiting;
    ++count.overloaded;
    auto busy = error_response(429, "too many requests are waiting");
    busy.headers.add("Retry-After", "1");
    return next->reply.send(std::move(busy));
  }
  asio::post(*pool, [this, next = std::move(next)] {
    perform(*next);
    --waiting;
  });
}

void service::impl::perform(job& of) {
  if (of.on->read) return of.reply.send(perform_reading(*database, *of.on, of.context));
  auto const refuse = of.with.kind == fault_kind::refuse;
  auto answer = perform_change(*database, *of.on, of.context, refuse, count);
  switch (of.with.kind) {
    case fault_kind::drop: return of.reply.drop();
    case fault_kind::twice: answer = perform_change(*database, *of.on, of.context, refuse, count); break;
    case fault_kind::late: return answer_after(of, std::move(answer));
    default: break;
  }
  of.reply.send(std::move(answer));
}

// Without an answer the connection is closed. The timer keeps the loop alive, so a stop waits for it.
void service::impl::answer_after(job& of, std::optional<http::response> with) {
  auto timer = std::make_shared<asio::steady_timer>(io, of.with.delay);
  auto* const waits = timer.get();
  waits->async_wait([timer = std::move(timer), reply = std::move(of.reply), with = std::move(with)](auto) mutable {
    if (with) return reply.send(std::move(*with));
    reply.drop();
  });
}

service_figures service::impl::figures() const {
  service_figures now;
  now.requests = count.requests;
  now.done = count.done;
  now.refused = count.refused;
  now.duplicates = count.duplicates;
  now.empty = count.empty;
  now.late_actions = count.late_actions;
  now.errors = count.errors;
  now.overloaded = count.overloaded;
  for (std::size_t kind = 0; kind < fault_kinds; ++kind) now.faults[kind] = count.faults[kind];
  return now;
}

std::string service::impl::stats() const {
  auto const now = figures();
  atone::json::writer to;
  to.begin_object().key("service").string(definition.name);
  to.key("requests").number(now.requests).key("done").number(now.done).key("refused").number(now.refused);
  to.key("duplicates").number(now.duplicates).key("empty").number(now.empty).key("late_actions").number(now.late_actions);
  to.key("errors").number(now.errors).key("overloaded").number(now.overloaded);
  to.key("faults").begin_object();
  for (std::size_t kind = 1; kind < fault_kinds; ++kind) to.key(name(static_cast<fault_kind>(kind))).number(now.faults[kind]);
  to.end_object().end_object();
  return to.take();
}

service::service(std::unique_ptr<impl> of) : impl_(std::move(of)) {}
service::~service() {
  stop();
}

result<std::unique_ptr<service>> service::start(service_definition of, service_options with) {
  auto made = std::make_unique<impl>();
  made->definition = std::move(of);
  made->options = std::move(with);
  if (auto opened = made->open(); !opened) return opened.error();
  if (auto listening = made->listen(); !listening) return listening.error();
  return std::unique_ptr<service>{new service{std::move(made)}};
}

std::uint16_t service::port() const noexcept {
  return impl_->server->port();
}
service_figures service::figures() const {
  return impl_->figures();
}
void service::stop() {
  impl_->stop();
}

}  // namespace kit
