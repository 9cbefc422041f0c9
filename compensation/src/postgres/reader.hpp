// The reading side on PostgreSQL: a connection of its own, made anew after a loss. Thread rules: one thread at a time.
#pragma once

#include <memory>

#include <atone/journal.hpp>

#include "postgres/session.hpp"

namespace atone::postgres {

class reader final : public journal_reader {
 public:
  static result<std::unique_ptr<journal_reader>> open(endpoint to);

  result<std::optional<saga_row>> find(saga_id id) override;
  result<std::optional<saga_row>> find_by_key(std::string_view saga_name, business_key const& key) override;
  result<std::vector<saga_row>> list(saga_filter const& filter) override;
  result<std::vector<event>> history(saga_id id) override;
  result<std::vector<compensation_entry>> compensations(saga_id id) override;
  result<std::vector<open_saga>> load(std::vector<saga_place> const& which) override;
  result<std::vector<alert_row>> alerts(std::uint32_t limit) override;
  result<std::vector<operator_action_row>> actions(saga_id id) override;
  result<std::optional<definition_row>> definition(std::string_view name, std::optional<definition_version> version) override;
  result<std::vector<definition_row>> definitions() override;
  result<std::optional<last_output_row>> last_output(std::string_view saga_name, step_path const& step, std::string_view key) override;
  result<std::map<saga_status, std::uint64_t>> counts() override;
  result<std::optional<key_claim>> claim_of(std::string_view saga_name, business_key const& key) override;
  result<deletion_record> deletions() override;

 private:
  explicit reader(endpoint to) : to_(std::move(to)) {}
  result<void> connect();
  // Reads change nothing, so one that met a lost connection is asked again on a new one.
  result<pqxx::result> ask(std::string const& statement, std::vector<text_parameter> const& parameters);

  endpoint const to_;
  std::unique_ptr<session> session_;
  std::uint16_t shards_ = 0;
  std::string all_shards_;  // "{0,1,…}": looks an id up in each shard's part of a key
};

}  // namespace atone::postgres
