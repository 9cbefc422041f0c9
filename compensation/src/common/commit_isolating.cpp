// Halving a batch until the saga whose data is refused stands alone: log2(n) refused transactions for one culprit.
#include <unordered_set>

#include <atone/journal.hpp>

#include "common/batch_check.hpp"

namespace atone {
namespace {

using sagas = std::vector<saga_id>;

class isolation {
 public:
  isolation(journal& to, journal_batch const& batch, batch_number first) : to_(to), batch_(batch), next_(first) {}

  // `group` was refused as a whole: takes it apart.
  result<void> take_apart(sagas const& group, error const& why) {
    if (group.size() <= 1) return reject(group, why);
    auto const middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
    if (auto left = try_group(sagas(group.begin(), middle)); !left) return left;
    return try_group(sagas(middle, group.end()));
  }

  isolating_report take() {
    report_.last = batch_number{next_.value() - 1};
    report_.taken_left = batch_.taken;
    return std::move(report_);
  }

 private:
  // A refused number took no effect, so the next group uses it again: numbers stay without gaps.
  result<void> try_group(sagas const& group) {
    auto committed = to_.commit(part(group), next_);
    if (committed) return took(std::move(*committed));
    if (committed.error().code != errc::bad_data) return committed.error();
    return take_apart(group, committed.error());
  }

  journal_batch part(sagas const& group) const {
    std::unordered_set<saga_id> const members(group.begin(), group.end());
    return part_of(batch_, [&](saga_id id) { return members.contains(id); });
  }

  result<void> took(commit_report one) {
    next_ = batch_number{next_.value() + 1};
    report_.report.database_time = one.database_time;
    for (auto& loser : one.losers) report_.report.losers.push_back(std::move(loser));
    return {};
  }

  result<void> reject(sagas const& group, error const& why) {
    if (group.empty()) return why;  // an empty batch is refused: nothing to halve
    rejected_saga alone;
    alone.saga = group.front();
    alone.why = why;
    report_.rejected.push_back(std::move(alone));
    return {};
  }

  journal& to_;
  journal_batch const& batch_;
  batch_number next_;
  isolating_report report_;
};

}  // namespace

result<isolating_report> commit_isolating(journal& to, journal_batch const& batch, batch_number first) {
  ATONE_ASSERT(first.value() > 0);
  // The usual case: the batch as it is, no copy.
  auto whole = to.commit(batch, first);
  if (!whole && whole.error().code != errc::bad_data) return whole.error();
  if (whole) {
    isolating_report report;
    report.report = std::move(*whole);
    report.last = first;
    return report;
  }
  isolation halving{to, batch, first};
  if (auto done = halving.take_apart(sagas_of(batch), whole.error()); !done) return done.error();
  return halving.take();
}

}  // namespace atone
