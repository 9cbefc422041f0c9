// DBOS Transact: a library in the worker's process, with its journal in PostgreSQL.
#include "failure.hpp"
#include "peers.hpp"

namespace bench {
namespace {

constexpr std::uint32_t connections = 10;  // of each worker, which is its default: 20 and 40 were not better

launch_options worker_command(stage& on, place const& in, std::uint32_t worker) {
  auto const name = "executor-" + std::to_string(worker);
  launch_options made;
  made.folder = on.options().peers_folder + "/" + std::string{dbos_folder};
  made.words = {"/usr/bin/env", "NODE_ENV=production", node_program(on), "worker.mjs", in.address, std::to_string(connections), name};
  for (auto const& service : services) made.words.push_back(on.addresses().at(std::string{service}));
  made.log = on.in_folder(in.database + "-" + name + ".log");
  made.in_own_session = true;
  return made;
}

}  // namespace

served start_dbos(stage& on, place const& in, peer_options const& with) {
  served made;
  // One after another: the first makes the tables.
  for (std::uint32_t each = 1; each <= with.workers; ++each) {
    auto const worker = worker_command(on, in, each);
    made.processes.emplace_back("workers", child::launch(worker));
    auto const address = announced_address(on.clock(), made.processes.back().process, worker.log, "DBOS's worker");
    made.endpoints.emplace_back("http://" + address, with.refused ? "/refused" : "/done");
  }
  made.wanted = with.refused ? R"("status":"compensated")" : R"("status":"completed")";
  return made;
}

}  // namespace bench
