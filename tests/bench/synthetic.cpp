#include "synthetic.hpp"

#include <algorithm>
#include <chrono>

#include <atone/coordinator.hpp>

#include "failure.hpp"
#include "workload.hpp"

namespace bench {
namespace {

constexpr std::uint64_t ids_a_millisecond = 32;

// splitmix64: spreads consecutive numbers over all bits.
std::uint64_t spread(std::uint64_t number) {
  number += 0x9E3779B97F4A7C15U;
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9U;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBU;
  return number ^ (number >> 31);
}

// Time-ordered as real ones are: milliseconds first, the rest random.
atone::saga_id id_of(std::uint64_t number, std::uint64_t first_millisecond) {
  atone::saga_id::bytes made{};
  auto const millisecond = first_millisecond + number / ids_a_millisecond;
  for (std::size_t byte = 0; byte < 6; ++byte) made[byte] = static_cast<std::uint8_t>(millisecond >> (40 - 8 * byte));
  auto const high = spread(number);
  auto const low = spread(high);
  for (std::size_t byte = 0; byte < 8; ++byte) made[6 + byte] = static_cast<std::uint8_t>(high >> (8 * byte));
  made[14] = static_cast<std::uint8_t>(low);
  made[15] = static_cast<std::uint8_t>(low >> 8);
  return atone::saga_id{made};
}

}  // namespace

saga_sample take_sample() {
  auto const sagas = need(atone::coordinator::open(atone::options{"memory:"}), "opening the coordinator");
  bind_handlers(*sagas);
  (void)need(sagas->publish(definition_text(callee::local, false)), "publishing the definition");
  need(sagas->run(), "driving sagas");
  auto const ended = need(sagas->run(saga_name(callee::local, false), atone::business_key{}, input_of(48'113)), "running one saga");
  if (!ended.completed()) throw failure{"the sample saga did not complete: " + ended.row.cause};
  saga_sample made;
  auto const read_history = [&](atone::journal_reader& from) -> atone::result<void> {
    auto history = from.history(ended.row.id);
    if (!history) return history.error();
    made.events = std::move(*history);
    return {};
  };
  need(sagas->read(read_history), "reading its history");
  made.end.row = ended.row;
  auto& start = made.start;
  start.row = ended.row;
  start.row.status = atone::saga_status::running;
  start.row.ended_at.reset();
  start.row.output.clear();
  start.row.last = atone::sequence{1};
  return made;
}

synthetic_batches::synthetic_batches(saga_sample of, std::uint32_t sagas_a_batch, std::uint16_t shards)
    : sample_(std::move(of)), sagas_(std::max<std::uint32_t>(1, sagas_a_batch)), shards_(shards) {
  auto const stages = sample_.events.size();
  for (std::size_t group = 1; group < stages; ++group) groups_.insert(groups_.begin(), new_ids());
  batch_.starts.assign(sagas_, sample_.start);
  batch_.changes.assign(sagas_, sample_.end);
  for (auto const& event : sample_.events) {
    atone::journal_record record;
    record.event = event;
    batch_.records.insert(batch_.records.end(), sagas_, record);
  }
}

synthetic_batches::ids synthetic_batches::new_ids() {
  static auto const now = std::chrono::system_clock::now().time_since_epoch();
  auto const first = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  ids made(sagas_);
  for (auto& id : made) id = id_of(made_++, first);
  return made;
}

atone::shard synthetic_batches::home_of(atone::saga_id id) const {
  return atone::shard{static_cast<std::uint16_t>(std::hash<atone::saga_id>{}(id) % shards_)};
}

std::vector<atone::journal_batch> synthetic_batches::opening() const {
  std::vector<atone::journal_batch> made;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    atone::journal_batch batch;
    for (auto const id : groups_[group]) {
      batch.starts.push_back(sample_.start);
      batch.starts.back().row.id = id;
      batch.starts.back().row.home = home_of(id);
      for (std::size_t event = 0; event <= group; ++event) {
        atone::journal_record record;
        record.home = home_of(id);
        record.saga = id;
        record.event = sample_.events[event];
        batch.records.push_back(std::move(record));
      }
    }
    made.push_back(std::move(batch));
  }
  return made;
}

// Only ids change from batch to batch: building it costs next to nothing beside its commit.
atone::journal_batch const& synthetic_batches::next() {
  groups_.insert(groups_.begin(), new_ids());
  std::size_t at = 0;
  for (auto const& group : groups_) {
    for (auto const id : group) {
      auto& record = batch_.records[at++];
      record.saga = id;
      record.home = home_of(id);
    }
  }
  for (std::size_t each = 0; each < sagas_; ++each) {
    auto& started = batch_.starts[each].row;
    started.id = groups_.front()[each];
    started.home = home_of(started.id);
    auto& ended = batch_.changes[each].row;
    ended.id = groups_.back()[each];
    ended.home = home_of(ended.id);
  }
  groups_.pop_back();
  return batch_;
}

}  // namespace bench
