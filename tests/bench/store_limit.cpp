#include "store_limit.hpp"

#include <algorithm>
#include <cmath>

#include <atone/journal.hpp>

#include "failure.hpp"
#include "histogram.hpp"
#include "synthetic.hpp"

namespace bench {
namespace {

constexpr std::uint32_t fill_sagas_a_commit = 1000;

// An opened store whose only writer is this one.
class writing {
 public:
  explicit writing(place const& in)
      : store_(need(atone::open_store(in.address), "opening the store")), journal_(need(store_->open_journal(), "opening the journal")) {
    (void)need(journal_->take_over(atone::node_id{"bench"}), "taking the store over");
  }
  void commit(atone::journal_batch const& batch) { (void)need(journal_->commit(batch, atone::batch_number{++number_}), "a commit"); }
  std::uint16_t shards() const { return journal_->shards(); }

 private:
  std::unique_ptr<atone::store> store_;
  std::unique_ptr<atone::journal> journal_;
  std::uint64_t number_ = 0;
};

std::uint32_t sagas_for(double records, saga_sample const& of) {
  return static_cast<std::uint32_t>(std::max(1.0, std::round(records / static_cast<double>(of.events.size()))));
}

}  // namespace

store_figures measure_store(stage& on, store_kind kind, double records_a_commit) {
  auto const sample = take_sample();
  auto const sagas = sagas_for(records_a_commit, sample);
  auto const in = on.make_place(kind);
  writing to{in};
  synthetic_batches batches{sample, sagas, to.shards()};
  for (auto const& batch : batches.opening()) to.commit(batch);
  auto const warm = steady::now() + on.options().warm_up;
  while (steady::now() < warm) to.commit(batches.next());
  histogram latencies;
  auto const from = steady::now();
  auto const until = from + on.options().window;
  auto now = from;
  while (now < until) {
    to.commit(batches.next());
    auto const after = steady::now();
    latencies.add(after - now);
    now = after;
  }
  on.clock().pause({});  // Ctrl-C is heard here
  store_figures made;
  auto const seconds = std::chrono::duration<double>{now - from}.count();
  made.records_per_commit = static_cast<double>(sagas) * static_cast<double>(sample.events.size());
  made.commits_per_s = static_cast<double>(latencies.count()) / seconds;
  made.sagas_per_s = made.commits_per_s * sagas;
  made.p50_ms = milliseconds(latencies.quantile(0.5));
  made.p99_ms = milliseconds(latencies.quantile(0.99));
  return made;
}

void fill_store(stage& on, place const& in, std::uint64_t sagas) {
  auto const sample = take_sample();
  writing to{in};
  synthetic_batches batches{sample, fill_sagas_a_commit, to.shards()};
  for (auto const& batch : batches.opening()) to.commit(batch);
  for (std::uint64_t ended = 0; ended < sagas; ended += fill_sagas_a_commit) {
    to.commit(batches.next());
    on.clock().pause({});
  }
}

}  // namespace bench
