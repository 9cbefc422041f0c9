#include "daemon_target.hpp"

#include <csignal>
#include <cstdlib>

#include <boost/asio/post.hpp>

#include "failure.hpp"
#include "usage.hpp"

namespace bench {
namespace {

constexpr auto start_max = std::chrono::seconds{30};
constexpr auto stop_max = std::chrono::seconds{15};
constexpr auto look_every = std::chrono::milliseconds{20};
constexpr auto answer_max = std::chrono::seconds{60};
constexpr std::string_view announcement = "listening on ";

atone::http::client_options client_options() {
  atone::http::client_options made;
  made.connections_max = 1024;
  return made;
}

launch_options command(stage const& on, place const& in, std::string const& log) {
  launch_options made;
  made.words = {on.options().daemon_program, "--store", in.address, "--listen", "127.0.0.1:0", "--log-level", "warn"};
  for (auto const& [service, url] : on.addresses()) made.words.insert(made.words.end(), {"--service", service + "=" + url});
  made.log = log;
  return made;
}

// "name 17" on a line of its own; 0 when it is not there.
std::uint64_t metric(std::string const& in, std::string const& name) {
  auto const line = "\n" + name + ' ';
  auto const at = in.find(line);
  return at == std::string::npos ? 0 : std::strtoull(in.c_str() + at + line.size(), nullptr, 10);
}

}  // namespace

daemon_target::daemon_target(stage& on, place const& in, bool refused, bool keys)
    : clock_(on.clock()),
      path_("/v1/sagas/" + saga_name(callee::http, refused)),
      wanted_(refused ? R"("status":"compensated")" : R"("status":"completed")"),
      keys_(keys),
      client_(io_, client_options()) {
  auto const log = on.in_folder(in.database + ".log");
  process_ = child::launch(command(on, in, log));
  origin_ = need(atone::http::parse_origin("http://" + wait_until_it_listens(log)), "the daemon's address");
  publish(definition_text(callee::http, refused));
  thread_ = std::thread{[this] { io_.run(); }};
}

daemon_target::~daemon_target() {
  boost::asio::post(io_, [this] {
    client_.stop();
    work_.reset();
  });
  if (thread_.joinable()) thread_.join();
  process_.stop(clock_, SIGTERM, stop_max);
}

std::string daemon_target::wait_until_it_listens(std::string const& log) {
  auto const until = steady::now() + start_max;
  while (steady::now() < until && process_.ended_within(clock_, look_every) < 0) {
    auto const text = file_text(log);
    auto const at = text.find(announcement);
    if (at == std::string::npos || text.find('\n', at) == std::string::npos) continue;
    auto const from = at + announcement.size();
    return text.substr(from, text.find(' ', from) - from);
  }
  throw failure{"the daemon did not start: " + file_text(log)};
}

void daemon_target::publish(std::string const& definition) {
  atone::http::request send;
  send.method = "POST";
  send.headers.add("Content-Type", "application/yaml");
  send.body = definition;
  auto const url = "http://127.0.0.1:" + std::to_string(origin_.port) + "/v1/definitions";
  auto const came = atone::http::fetch(url, std::move(send), answer_max);
  if (!came.ok() || came.response.status >= 300) throw failure{"publishing the definition: " + came.detail + came.response.body};
}

void daemon_target::run_saga(work_item what, done then) {
  ask(std::move(what), "?wait=30s", std::move(then));
}

void daemon_target::start_saga(work_item what, done then) {
  ask(std::move(what), "", std::move(then));
}

void daemon_target::ask(work_item what, std::string const& query, done then) {
  atone::http::request ask;
  ask.method = "POST";
  ask.target = path_ + query;
  ask.headers.add("Content-Type", "application/json");
  if (keys_) ask.headers.add("Idempotency-Key", "order-" + std::to_string(what.number));
  ask.body = std::move(what.input);
  boost::asio::post(io_, [this, ask = std::move(ask), alone = query.empty(), then = std::move(then)]() mutable {
    client_.send(origin_, std::move(ask), answer_max,
                 [this, alone, then = std::move(then)](atone::http::exchange came) { then(judge(came, alone)); });
  });
}

outcome daemon_target::judge(atone::http::exchange const& of, bool started_alone) {
  auto const& body = of.response.body;
  if (of.ok() && of.response.status < 300 && (started_alone || body.find(wanted_) != std::string::npos)) return outcome::ended;
  std::lock_guard const held{lock_};
  if (first_failure_.empty()) first_failure_ = std::to_string(of.response.status) + ' ' + of.detail + body;
  bool const for_now = of.ok() && (of.response.status == 429 || of.response.status == 503) && of.response.headers.has("Retry-After");
  return for_now ? outcome::turned_away : outcome::failed;
}

void daemon_target::on_thread(std::function<void()> what) {
  boost::asio::post(io_, std::move(what));
}

daemon_figures daemon_target::figures() const {
  auto const came = atone::http::fetch("http://127.0.0.1:" + std::to_string(origin_.port) + "/metrics", {}, answer_max);
  if (!came.ok() || came.response.status != 200) throw failure{"the daemon's metrics: " + came.detail + came.response.body};
  daemon_figures made;
  made.open = metric(came.response.body, "atone_sagas_open");
  made.completed = metric(came.response.body, "atone_sagas_completed_total");
  made.resident_bytes = resident_bytes_of(process_.pid());
  return made;
}

std::string daemon_target::first_failure() const {
  std::lock_guard const held{lock_};
  return first_failure_;
}

}  // namespace bench
