// Everything the demo plays on: three services and the daemon, each a process of its own on a free port.
// Thread rules: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <atone/json.hpp>
#include <atone/result.hpp>

#include "demo_options.hpp"
#include "process.hpp"

namespace demo {

struct actor {
  std::string name;
  process running;
  std::string log;
  std::uint16_t port = 0;

  actor() = default;
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port); }
};

// What a tool printed, and how it ended.
struct tool_result {
  int exit_code = -1;
  std::string text;

  tool_result() = default;
};

class stage {
 public:
  // Makes the work folder's databases and logs anew and starts everything. Errors name what did not start and what it said.
  static atone::result<std::unique_ptr<stage>> set(demo_options const& options);
  stage(stage const&) = delete;
  stage& operator=(stage const&) = delete;
  ~stage() = default;  // ends the processes

  std::string daemon_url() const { return daemon_.url(); }
  std::uint16_t daemon_port() const noexcept { return daemon_.port; }
  std::vector<actor> const& services() const noexcept { return services_; }
  std::string const& store() const noexcept { return store_; }

  // kill -9 of the daemon and a new one on the same port and store; returns once it listens.
  atone::result<void> crash_daemon();
  // Stops the feature service's process (SIGSTOP) and lets it go on.
  void freeze_features();
  void thaw_features();

  // Publishes the definition. Errors carry the daemon's words.
  atone::result<void> publish(std::string const& yaml) const;
  // GET of a service or the daemon, as JSON.
  atone::result<atone::json::value> get(std::string const& url) const;
  // Runs `atone` with these words, the daemon's address added.
  tool_result run_atone(std::vector<std::string> words) const;
  // name=URL of each service, as --service flags.
  std::vector<std::string> service_flags() const;

 private:
  explicit stage(demo_options const& options) : options_(options) {}
  atone::result<void> clear_work_folder() const;
  atone::result<void> start_service(std::string name, std::vector<std::string> extra);
  atone::result<void> start_daemon();
  atone::result<void> wait_until_ready() const;
  std::string in_work(std::string const& name) const { return options_.work + "/" + name; }

  demo_options options_;
  std::string store_;
  std::vector<actor> services_;
  actor daemon_;
};

}  // namespace demo
