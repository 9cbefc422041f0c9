// Restate: one server process with its own log on disk, and workers that it calls over HTTP/2.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "failure.hpp"
#include "participant.hpp"
#include "peers.hpp"

namespace bench {
namespace {

constexpr auto ready_max = std::chrono::seconds{60};
constexpr auto answer_max = std::chrono::seconds{10};
constexpr auto look_every = std::chrono::milliseconds{100};
// Its default, 24, is for larger machines: on two cores it took 1.2 to 2 times as much CPU a saga.
constexpr int partitions = 4;

struct ports {
  std::uint16_t nodes = 0;
  std::uint16_t admin = 0;
  std::uint16_t ingress = 0;

  // Taken all at once, so that no two are the same.
  ports() {
    listener const first;
    listener const second;
    listener const third;
    nodes = first.port();
    admin = second.port();
    ingress = third.port();
  }
};

std::string local(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

// Beside the production profile: that it makes its cluster of one by itself, and that it calls nobody.
constexpr std::string_view fixed_settings = R"(node-name = "bench"
auto-provision = true
disable-telemetry = true
log-filter = "warn"
listen-mode = "tcp"
)";

void write_settings(std::string const& file, std::string const& folder, ports const& at) {
  std::ofstream out{file};
  out << fixed_settings << "default-num-partitions = " << partitions << '\n';
  out << "base-dir = \"" << folder << "\"\n";
  out << "bind-address = \"" << local(at.nodes) << "\"\n";
  out << "advertised-address = \"http://" << local(at.nodes) << "/\"\n";
  out << "[admin]\nbind-address = \"" << local(at.admin) << "\"\n";
  out << "[ingress]\nbind-address = \"" << local(at.ingress) << "\"\n";
  if (!out.flush()) throw failure{file + " can't be written"};
}

launch_options server_command(stage const& on, std::string const& folder, ports const& at) {
  auto const program = on.options().peers_folder + "/" + std::string{restate_folder} +
                       "/node_modules/@restatedev/restate-server-linux-x64/bin/restate-server";
  if (::access(program.c_str(), X_OK) != 0) throw failure{"npm has no restate-server for this machine: there is no " + program};
  auto const settings = folder + "/restate.toml";
  write_settings(settings, folder, at);
  launch_options made;
  made.words = {program, "--production", "--no-logo", "--config-file", settings};
  made.log = folder + "/server.log";
  made.folder = folder;
  made.in_own_session = true;
  return made;
}

std::string service_of(std::uint32_t worker) {
  return "saga" + std::to_string(worker);
}

launch_options worker_command(stage& on, std::string const& folder, std::uint32_t worker) {
  launch_options made;
  made.folder = on.options().peers_folder + "/" + std::string{restate_folder};
  made.words = {"/usr/bin/env", "NODE_ENV=production", "RESTATE_LOGGING=WARN", node_program(on), "worker.mjs", service_of(worker)};
  for (auto const& service : services) made.words.push_back(on.addresses().at(std::string{service}));
  made.log = folder + "/" + service_of(worker) + ".log";
  made.in_own_session = true;
  return made;
}

// Repeats the request until it is answered 2xx: the server makes its cluster, elects leaders and finds its partitions meanwhile.
void post_until_done(stage& on, child& server, std::string const& log, std::string const& url, std::string const& body) {
  std::string last;
  for (auto const until = steady::now() + ready_max; steady::now() < until;) {
    atone::http::request send;
    send.method = "POST";
    send.headers.add("Content-Type", "application/json");
    send.body = body;
    auto const came = atone::http::fetch(url, std::move(send), answer_max);
    if (came.ok() && came.response.status < 300) return;
    last = came.detail + came.response.body;
    if (server.ended_within(on.clock(), look_every) >= 0) throw failure{"restate-server ended: " + file_text(log)};
  }
  throw failure{"restate-server is not ready: POST " + url + ": " + last};
}

}  // namespace

served start_restate(stage& on, place const& in, peer_options const& with) {
  std::filesystem::create_directory(in.address);
  ports const at;
  served made;
  auto const command = server_command(on, in.address, at);
  made.processes.emplace_back("restate_server", child::launch(command));
  auto const handler = with.refused ? "/refused" : "/done";
  for (std::uint32_t each = 1; each <= with.workers; ++each) {
    auto const worker = worker_command(on, in.address, each);
    made.processes.emplace_back("workers", child::launch(worker));
    auto const address = announced_address(on.clock(), made.processes.back().process, worker.log, "Restate's worker");
    auto& server = made.processes.front().process;
    post_until_done(on, server, command.log, "http://" + local(at.admin) + "/deployments", R"({"uri":"http://)" + address + R"("})");
    auto const path = "/" + service_of(each) + handler;
    post_until_done(on, server, command.log, "http://" + local(at.ingress) + path, input_of(0));
    made.endpoints.emplace_back("http://" + local(at.ingress), path);
  }
  made.wanted = with.refused ? R"("status":"compensated")" : R"("status":"completed")";
  return made;
}

}  // namespace bench
