// System figures that are looked at all through a run, and whether one of them grows without end: pure arithmetic.
// Thread rules: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// A `level` stands (descriptors, threads): it may not be higher in the last quarter of the run than in the second one. A `counter` only
// rises (CPU time, bytes written): it may not cost more a saga in the second half than in the first. The first quarter of a level is left
// out: things are still being opened. What is `held` (memory) stands too, and of each saga that ends between the third quarter and the last
// one it may keep next to nothing.
enum class figure_kind : std::uint8_t { level, counter, held };

struct watched_figure {
  std::string name;  // "atoned resident MiB"
  figure_kind kind = figure_kind::level;
  double factor = 1;  // by which it may differ, and
  double slack = 0;   // so much beside that,
  double a_saga = 0;  // and this of each saga that ended between the two; of what is held

  watched_figure() = default;
  watched_figure(std::string called, figure_kind what, double times, double more, double of_each = 0)
      : name(std::move(called)), kind(what), factor(times), slack(more), a_saga(of_each) {}
};

// One look: how many sagas had ended, and the figure.
struct look {
  std::uint64_t ended = 0;
  double value = 0;

  look() = default;
  look(std::uint64_t sagas, double found) : ended(sagas), value(found) {}
};

inline constexpr std::size_t looks_least = 8;

struct growth_verdict {
  double before = 0;
  double after = 0;
  double allowed = 0;
  bool grows = false;

  growth_verdict() = default;
};
// Nothing where there are fewer than looks_least, or sagas are asked for and none ended: that is no pass.
std::optional<growth_verdict> judge_growth(watched_figure const& of, std::vector<look> const& looks);

}  // namespace bench
