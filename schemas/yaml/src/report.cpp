#include <atone/yaml/report.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace atone::yaml {
namespace {

bool text_order(diagnostic const& left, diagnostic const& right) {
  return std::tie(left.line, left.column) < std::tie(right.line, right.column);
}

bool mistakes_first(diagnostic const& left, diagnostic const& right) {
  return left.severity < right.severity;
}

}  // namespace

void report::add(diagnostic::severity_kind severity, place at, std::string_view path, std::string message, std::string hint) {
  if (kept_.size() >= kept_max) return;
  diagnostic next;
  next.line = at.line;
  next.column = at.column;
  next.severity = severity;
  next.path = path;
  next.message = std::move(message);
  next.hint = std::move(hint);
  // An alias shows its anchor's place each time it is used: one mistake there is told once.
  if (std::find(kept_.begin(), kept_.end(), next) == kept_.end()) kept_.push_back(std::move(next));
}

void report::mistake(place at, std::string_view path, std::string message, std::string hint) {
  ++mistakes_;
  add(diagnostic::severity_kind::mistake, at, path, std::move(message), std::move(hint));
}

void report::warning(place at, std::string_view path, std::string message, std::string hint) {
  add(diagnostic::severity_kind::warning, at, path, std::move(message), std::move(hint));
}

namespace {

// As std::stable_sort, whose temporary buffer of this library clang calls deprecated.
template <class Less>
void sort_stably(std::vector<diagnostic>& all, Less const& less) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    if (less(all[left], all[right])) return true;
    return !less(all[right], all[left]) && left < right;
  });
  std::vector<diagnostic> sorted;
  sorted.reserve(all.size());
  for (auto const at : order) sorted.push_back(std::move(all[at]));
  all = std::move(sorted);
}

}  // namespace

std::vector<diagnostic> report::take() {
  sort_stably(kept_, text_order);
  if (kept_.size() > load_limits::diagnostics_max) {
    sort_stably(kept_, mistakes_first);
    kept_.resize(load_limits::diagnostics_max);
    sort_stably(kept_, text_order);
  }
  return std::move(kept_);
}

}  // namespace atone::yaml
