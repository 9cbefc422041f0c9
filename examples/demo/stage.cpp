#include "stage.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include <atone/http.hpp>

namespace demo {
namespace {

using atone::errc;
using atone::error;
using atone::result;
namespace files = std::filesystem;

constexpr atone::duration start_patience = std::chrono::seconds{20};
constexpr atone::duration answer_max = std::chrono::seconds{10};
constexpr atone::duration look_every = std::chrono::milliseconds{50};
constexpr std::size_t files_max = 200;  // a work folder with more is not ours

std::string file_text(std::string const& file) {
  std::ifstream in{file, std::ios::binary};
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Databases and logs of an earlier demo; anything else stays.
bool is_ours(files::path const& file) {
  auto const name = file.filename().string();
  return name.find(".db") != std::string::npos || file.extension() == ".log";
}

error not_started(std::string const& name, error const& why) {
  return error{why.code, name + " did not start: " + why.message};
}

}  // namespace

result<void> stage::clear_work_folder() const {
  std::error_code failure;
  files::create_directories(options_.work, failure);
  if (failure) return error{errc::unavailable, options_.work + " can't be made: " + failure.message()};
  std::vector<files::path> old;
  for (auto const& each : files::directory_iterator{options_.work, failure}) {
    if (each.is_regular_file() && is_ours(each.path())) old.push_back(each.path());
    if (old.size() > files_max)
      return error{errc::conflict, options_.work + " holds too many files to be a demo's; name another by --work"};
  }
  for (auto const& each : old) files::remove(each, failure);
  return {};
}

result<void> stage::start_service(std::string name, std::vector<std::string> extra) {
  actor made;
  made.name = std::move(name);
  made.log = in_work(made.name + ".log");
  std::vector<std::string> words{"--port", "0", "--db", "sqlite:" + in_work(made.name + ".db"), "--seed", std::to_string(options_.seed)};
  if (auto const faults = fault_flags(options_.fault_percent); !faults.empty()) words.insert(words.end(), {"--faults", faults});
  words.insert(words.end(), extra.begin(), extra.end());
  auto started = process::start(options_.bin + "/example_" + made.name, std::move(words), made.log);
  if (!started) return not_started(made.name, started.error());
  made.running = std::move(*started);
  auto const port = wait_for_port(made.running, made.log, 0, start_patience);
  if (!port) return not_started(made.name, port.error());
  made.port = *port;
  services_.push_back(std::move(made));
  return {};
}

std::vector<std::string> stage::service_flags() const {
  std::vector<std::string> flags;
  for (auto const& each : services_) flags.insert(flags.end(), {"--service", each.name + "=" + each.url()});
  return flags;
}

// The first time on any free port, then always on the same.
result<void> stage::start_daemon() {
  daemon_.name = "atoned";
  daemon_.log = in_work("atoned.log");
  auto const said_before = size_of(daemon_.log);
  std::vector<std::string> words{"--store", store_, "--listen", "127.0.0.1:" + std::to_string(daemon_.port)};
  auto const services = service_flags();
  words.insert(words.end(), services.begin(), services.end());
  auto started = process::start(options_.bin + "/atoned", std::move(words), daemon_.log);
  if (!started) return not_started(daemon_.name, started.error());
  daemon_.running = std::move(*started);
  auto const port = wait_for_port(daemon_.running, daemon_.log, said_before, start_patience);
  if (!port) return not_started(daemon_.name, port.error());
  daemon_.port = *port;
  return wait_until_ready();
}

result<void> stage::wait_until_ready() const {
  std::string last;
  for (atone::duration waited{}; waited < start_patience; waited += look_every) {
    auto const came = atone::http::fetch(daemon_url() + "/ready", atone::http::request{}, answer_max);
    if (came.ok() && came.response.status == 200) return {};
    last = came.ok() ? came.response.body : came.detail;
    std::this_thread::sleep_for(look_every);
  }
  return error{errc::unavailable, "the daemon is not ready: " + last};
}

result<std::unique_ptr<stage>> stage::set(demo_options const& options) {
  std::unique_ptr<stage> made{new stage{options}};
  if (auto cleared = made->clear_work_folder(); !cleared) return cleared.error();
  made->store_ = options.store.empty() ? "sqlite:" + made->in_work("atone.db") : options.store;
  if (auto started = made->start_service("orders", {}); !started) return started.error();
  if (auto started = made->start_service("profiles", {}); !started) return started.error();
  if (auto started = made->start_service("features", {"--orders", made->services_.front().url()}); !started) return started.error();
  if (auto started = made->start_daemon(); !started) return started.error();
  return made;
}

result<void> stage::crash_daemon() {
  daemon_.running.kill_hard();
  return start_daemon();
}

void stage::freeze_features() {
  kill(services_.back().running.pid(), SIGSTOP);
}
void stage::thaw_features() {
  kill(services_.back().running.pid(), SIGCONT);
}

result<void> stage::publish(std::string const& yaml) const {
  atone::http::request send;
  send.method = "POST";
  send.headers.add("Content-Type", "application/yaml");
  send.body = yaml;
  auto const came = atone::http::fetch(daemon_url() + "/v1/definitions", std::move(send), answer_max);
  if (!came.ok()) return error{errc::unavailable, "the daemon did not answer: " + came.detail};
  if (came.response.status >= 200 && came.response.status < 300) return {};
  return error{errc::invalid_argument, "the definition was refused (" + std::to_string(came.response.status) + "): " + came.response.body};
}

result<atone::json::value> stage::get(std::string const& url) const {
  auto const came = atone::http::fetch(url, atone::http::request{}, answer_max);
  if (!came.ok()) return error{errc::unavailable, url + " did not answer: " + came.detail};
  if (came.response.status != 200)
    return error{errc::unavailable, url + " answered " + std::to_string(came.response.status) + ": " + came.response.body};
  return atone::json::parse(came.response.body);
}

tool_result stage::run_atone(std::vector<std::string> words) const {
  auto const log = in_work("atone-" + words.front() + ".log");
  words.insert(words.end(), {"--url", daemon_url()});
  tool_result made;
  auto started = process::start(options_.bin + "/atone", std::move(words), log);
  if (!started) {
    made.text = started.error().message + "\n";
    return made;
  }
  made.exit_code = started->wait();
  made.text = file_text(log);
  return made;
}

}  // namespace demo
