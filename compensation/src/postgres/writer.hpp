// The journal on PostgreSQL: one connection, one prepared call a batch, whose implicit transaction ends with the fence.
//
// A lost connection is replaced inside commit(): the new one registers as the writer under the same epoch (from then on
// nothing of the old one can commit), which also tells whether the batch took effect, and the call is repeated. Conflicts
// (40001, 40P01, 55P03) repeat the whole transaction. Both within retry_limits; what is left over reaches the caller as
// `unavailable` (nothing was sent) or `outcome_unknown`.
// Thread rules: one thread at a time.
#pragma once

#include <memory>

#include <atone/journal.hpp>

#include "postgres/batch_encoding.hpp"
#include "postgres/named_parameters.hpp"
#include "postgres/row_types.hpp"
#include "postgres/session.hpp"

namespace atone::postgres {

class writer final : public journal {
 public:
  // Errors: unavailable; unsupported when the schema is not migrated.
  static result<std::unique_ptr<journal>> open(endpoint to, retry_limits limits);

  result<epoch> take_over(node_id const& node) override;
  result<commit_report> commit(journal_batch const& batch, batch_number number) override;
  result<commit_report> commit_with_sql(sql_statement const& statement, answer_to_batch const& on_success, batch_number number) override;
  result<void> load_open(std::vector<shard> const& of, saga_sink const& sink) override;
  result<void> hand_over(std::vector<shard_move> const& moves) override;
  result<void> publish(definition_row const& row) override;
  result<std::vector<inbox_start>> take_inbox(std::vector<shard> const& of, std::uint32_t limit, std::uint64_t after) override;
  result<timestamp> now() override;
  std::uint16_t shards() const override { return shards_; }

 private:
  using transaction = std::function<result<commit_report>(session& on)>;

  writer(endpoint to, retry_limits limits) : to_(std::move(to)), limits_(limits) {}

  result<void> connect();
  result<void> ensure_connected();
  result<void> resume_epoch();
  void end_backend(std::string const& pid, std::string const& start);
  void end_registered_backend();
  // Ends whoever holds the node's row and so is in the way of a take-over.
  void end_holder(node_id const& node);
  result<epoch> take_over_once(node_id const& node);
  // Repeats `work` over conflicts and lost connections, within the limits.
  result<commit_report> repeat(transaction const& work);
  result<commit_report> attempt(transaction const& work, bool& sent);
  result<commit_report> call_commit(session& on, journal_batch const& batch, batch_number number);
  // The report of `number` when it was committed before under this epoch.
  result<std::optional<commit_report>> committed_before(session& on, batch_number number);
  // Size, ids, shards: what can be told without asking the server.
  result<void> check_batch_here(journal_batch const& batch) const;
  result<commit_report> run_with_sql(session& on, sql_statement const& statement, answer_to_batch const& on_success, batch_number number,
                                     bool& in_statement);
  result<commit_report> write_with_sql(session& on, numbered_statement const& statement, std::vector<text_parameter> const& values,
                                       answer_to_batch const& on_success, batch_number number, bool& in_statement);
  // Runs reading work, on a new connection once when the first was lost.
  template <class Value>
  result<Value> read(std::function<result<Value>(session& on)> const& work);

  endpoint const to_;
  retry_limits const limits_;
  std::unique_ptr<session> session_;
  row_types types_;
  std::uint16_t shards_ = 0;
  writer_identity self_;
  // Connections lost under the user's statement of one batch number, over all calls for it.
  batch_number losing_;
  int losses_ = 0;
};

}  // namespace atone::postgres
