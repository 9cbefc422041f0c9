// The peers: other engines that run the bench's saga, installed by their own package client and started here.
// A peer that can't be installed or started throws a failure that says why. Thread rules: main thread.
#pragma once

#include <cstdint>
#include <string>

#include "peer_target.hpp"
#include "stage.hpp"

namespace bench {

// Folders are in options().peers_folder: one a peer, with its package.json and its worker.
inline constexpr std::string_view restate_folder = "restate";
inline constexpr std::string_view dbos_folder = "dbos";
inline constexpr std::string_view node_folder = "node";

// Runs npm in the folder; what it installed stays there for the next run. Throws with npm's last words.
void install_packages(stage& on, std::string_view folder);
// The Node.js to run workers with, as the beginning of a command line: the one in node_folder when it could be installed, or the
// system's.
std::string node_program(stage& on);

struct peer_options {
  std::uint32_t workers = 1;  // processes that run the steps
  bool refused = false;

  peer_options() = default;
};

// `in` is a folder of the peer's own, made here.
served start_restate(stage& on, place const& in, peer_options const& with);
// `in` is an empty database.
served start_dbos(stage& on, place const& in, peer_options const& with);

}  // namespace bench
