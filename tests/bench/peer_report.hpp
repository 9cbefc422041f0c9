// What the peers came to, beside ours. Thread rules: plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace bench {

// One engine doing one kind of work; without figures it was not run, and `why_not` says why.
struct peer_row {
  std::string work;    // "ok", "refused", "single"
  std::string engine;  // "atoned", "embedded", "restate", "dbos"
  std::uint32_t workers = 0;
  std::optional<case_figures> figures;
  std::string why_not;

  peer_row() = default;
};

inline constexpr std::string_view reference_engine = "atoned";

// The row all others of the same work are compared with; none when it is not there.
case_figures const* reference_of(std::vector<peer_row> const& rows, std::string const& work);
// The best of an engine's rows for a work, by rate; none when it was not run.
peer_row const* best_of(std::vector<peer_row> const& rows, std::string const& engine, std::string const& work);
// The table, the CPU of each process, and who was not run and why.
std::string peers_text(std::vector<peer_row> const& rows);
// Keys "ENGINE_WORK" (the best), "ratios" {ENGINE_WORK: {rate, p50, cpu}}, "tried", "not_run".
void write_peers(atone::json::writer& to, std::vector<peer_row> const& rows);

}  // namespace bench
