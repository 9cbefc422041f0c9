#include "peer_target.hpp"

#include <csignal>

#include <boost/asio/post.hpp>

#include "failure.hpp"

namespace bench {
namespace {

constexpr auto start_max = std::chrono::seconds{60};
constexpr auto stop_max = std::chrono::seconds{5};
constexpr auto look_every = std::chrono::milliseconds{20};
constexpr auto answer_max = std::chrono::seconds{60};
constexpr std::string_view announcement = "listening on ";

atone::http::client_options client_options(std::uint32_t connections) {
  atone::http::client_options made;
  made.connections_max = connections;
  return made;
}

}  // namespace

endpoint::endpoint(std::string const& url, std::string to) : at(need(atone::http::parse_origin(url), url)), path(std::move(to)) {}

std::string announced_address(waiter const& clock, child& process, std::string const& log, std::string const& what) {
  auto const until = steady::now() + start_max;
  while (steady::now() < until && process.ended_within(clock, look_every) < 0) {
    auto const text = file_text(log);
    auto const at = text.find(announcement);
    if (at == std::string::npos || text.find('\n', at) == std::string::npos) continue;
    auto const from = at + announcement.size();
    return text.substr(from, text.find_first_of(" \n", from) - from);
  }
  throw failure{what + " did not start: " + file_text(log)};
}

peer_target::peer_target(waiter const& clock, served of)
    : clock_(clock), of_(std::move(of)), client_(io_, client_options(of_.connections)) {
  thread_ = std::thread{[this] { io_.run(); }};
}

peer_target::~peer_target() {
  boost::asio::post(io_, [this] {
    client_.stop();
    work_.reset();
  });
  if (thread_.joinable()) thread_.join();
  for (auto& each : of_.processes) each.process.stop(clock_, SIGTERM, stop_max);
}

void peer_target::run_saga(work_item what, done then) {
  atone::http::request ask;
  ask.method = "POST";
  ask.headers.add("Content-Type", "application/json");
  ask.body = std::move(what.input);
  boost::asio::post(io_, [this, ask = std::move(ask), then = std::move(then)]() mutable {
    auto const& to = of_.endpoints[turn_++ % of_.endpoints.size()];
    ask.target = to.path;
    client_.send(to.at, std::move(ask), answer_max, [this, then = std::move(then)](atone::http::exchange came) { then(judge(came)); });
  });
}

outcome peer_target::judge(atone::http::exchange const& of) {
  auto const& body = of.response.body;
  if (of.ok() && of.response.status < 300 && body.find(of_.wanted) != std::string::npos) return outcome::ended;
  std::lock_guard const held{lock_};
  if (first_failure_.empty()) first_failure_ = std::to_string(of.response.status) + ' ' + of.detail + body;
  return of.ok() && (of.response.status == 429 || of.response.status == 503) ? outcome::turned_away : outcome::failed;
}

std::string peer_target::first_failure() const {
  std::lock_guard const held{lock_};
  return first_failure_;
}

std::map<std::string, cpu_time> peer_target::cpu() const {
  std::map<std::string, cpu_time> made;
  for (auto const& each : of_.processes) made[each.part] += cpu_of_process(each.process.pid());
  return made;
}

}  // namespace bench
