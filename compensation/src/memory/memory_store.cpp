// The memory store: journals and readers over one shared state. Nothing survives the process.
#include <atone/journal.hpp>

#include "common/system_clock.hpp"
#include "memory/memory_state.hpp"

namespace atone {
namespace {

using memory::state;

// How many open sagas one look under the lock hands out.
constexpr std::size_t load_chunk = 256;

class memory_retention final : public retention {
 public:
  memory_retention(std::shared_ptr<state> shared, epoch const& as) : shared_(std::move(shared)), as_(as) {}

  result<finished_stretch> look(std::vector<shard> const&, saga_id after, duration age, std::size_t most) override {
    return shared_->look(after, age, most);
  }
  result<std::uint64_t> remove(std::vector<finished_saga> const& sagas, duration age) override { return shared_->remove(as_, sagas, age); }
  result<key_stretch> expire_keys(shard, saga_id after, duration age, std::size_t most) override {
    return shared_->expire_keys(as_, after, age, most);
  }

 private:
  std::shared_ptr<state> shared_;
  epoch const& as_;  // the journal's
};

class memory_journal final : public journal {
 public:
  explicit memory_journal(std::shared_ptr<state> shared) : shared_(std::move(shared)), retention_(shared_, epoch_) {}

  result<epoch> take_over(node_id const&) override {
    epoch_ = shared_->take_over();
    return epoch_;
  }
  result<commit_report> commit(journal_batch const& batch, batch_number number) override { return shared_->commit(epoch_, batch, number); }
  result<commit_report> commit_with_sql(sql_statement const&, answer_to_batch const&, batch_number) override {
    return error{errc::unsupported, "the memory store runs no SQL; expected sqlite:PATH or postgresql://…"};
  }
  result<void> load_open(std::vector<shard> const&, saga_sink const& sink) override {  // one shard has all sagas
    saga_id after;
    for (;;) {
      auto chunk = shared_->open_after(after, load_chunk);
      if (chunk.empty()) return {};
      after = chunk.back().row.id;
      for (auto& saga : chunk) sink(std::move(saga));
    }
  }
  result<void> publish(definition_row const& row) override { return shared_->publish(row); }
  result<timestamp> now() override { return shared_->now(); }
  std::uint16_t shards() const override { return 1; }
  retention* own_retention() override { return &retention_; }

 private:
  std::shared_ptr<state> shared_;
  epoch epoch_;
  memory_retention retention_;
};

class memory_reader final : public journal_reader {
 public:
  explicit memory_reader(std::shared_ptr<state> shared) : shared_(std::move(shared)) {}

  result<std::optional<saga_row>> find(saga_id id) override { return shared_->find(id); }
  result<std::optional<saga_row>> find_by_key(std::string_view saga_name, business_key const& key) override {
    return shared_->find_by_key(saga_name, key);
  }
  result<std::vector<saga_row>> list(saga_filter const& filter) override { return shared_->list(filter); }
  result<std::vector<event>> history(saga_id id) override { return shared_->history(id); }
  result<std::vector<compensation_entry>> compensations(saga_id id) override { return shared_->compensations(id); }
  result<std::vector<alert_row>> alerts(std::uint32_t limit) override { return shared_->alerts(limit); }
  result<std::vector<operator_action_row>> actions(saga_id id) override { return shared_->actions(id); }
  result<std::optional<definition_row>> definition(std::string_view name, std::optional<definition_version> version) override {
    return shared_->definition(name, version);
  }
  result<std::vector<definition_row>> definitions() override { return shared_->definitions(); }
  result<std::optional<last_output_row>> last_output(std::string_view saga_name, step_path const& step, std::string_view key) override {
    return shared_->last_output(saga_name, step, key);
  }
  result<std::map<saga_status, std::uint64_t>> counts() override { return shared_->counts(); }
  result<std::optional<key_claim>> claim_of(std::string_view saga_name, business_key const& key) override {
    return shared_->claim_of(saga_name, key);
  }
  result<deletion_record> deletions() override { return shared_->deletions(); }

 private:
  std::shared_ptr<state> shared_;
};

class memory_store final : public store {
 public:
  explicit memory_store(store_clock clock) : shared_(std::make_shared<state>(std::move(clock))) {}

  result<std::unique_ptr<journal>> open_journal() override { return std::unique_ptr<journal>(new memory_journal{shared_}); }
  result<std::unique_ptr<journal_reader>> open_reader() override { return std::unique_ptr<journal_reader>(new memory_reader{shared_}); }
  result<schema_status> status() override { return schema_status{}; }
  result<void> migrate() override { return {}; }
  std::vector<std::string> health() override { return {}; }
  std::string description() const override { return "memory:"; }

 private:
  std::shared_ptr<state> shared_;
};

}  // namespace

std::unique_ptr<store> make_memory_store() {
  return make_memory_store(system_time);
}

std::unique_ptr<store> make_memory_store(store_clock clock) {
  return std::make_unique<memory_store>(std::move(clock));
}

}  // namespace atone
