#include "watch.hpp"

namespace bench {
namespace {

double mean(std::vector<look> const& of, std::size_t from, std::size_t to) {
  double sum = 0;
  for (auto at = from; at < to; ++at) sum += of[at].value;
  return sum / static_cast<double>(to - from);
}

double mean_ended(std::vector<look> const& of, std::size_t from, std::size_t to) {
  double sum = 0;
  for (auto at = from; at < to; ++at) sum += static_cast<double>(of[at].ended);
  return sum / static_cast<double>(to - from);
}

// What a saga costs between two looks; nothing: none has ended.
std::optional<double> cost(look const& from, look const& to) {
  if (to.ended <= from.ended) return std::nullopt;
  return (to.value - from.value) / static_cast<double>(to.ended - from.ended);
}

}  // namespace

std::optional<growth_verdict> judge_growth(watched_figure const& of, std::vector<look> const& looks) {
  auto const count = looks.size();
  if (count < looks_least) return std::nullopt;
  growth_verdict made;
  double kept = 0;  // of the sagas, as it may be
  auto const last = count - count / 4;
  if (of.kind == figure_kind::held) {
    auto const sagas = mean_ended(looks, last, count) - mean_ended(looks, count / 2, last);
    if (sagas <= 0) return std::nullopt;
    made.before = mean(looks, count / 2, last);
    made.after = mean(looks, last, count);
    kept = of.a_saga * sagas;
  } else if (of.kind == figure_kind::level) {
    made.before = mean(looks, count / 4, count / 2);
    made.after = mean(looks, last, count);
  } else {
    auto const first = cost(looks.front(), looks[count / 2]);
    auto const second = cost(looks[count / 2], looks.back());
    if (!first || !second) return std::nullopt;
    made.before = *first;
    made.after = *second;
  }
  made.allowed = made.before * of.factor + of.slack + kept;
  made.grows = made.after > made.allowed;
  return made;
}

}  // namespace bench
