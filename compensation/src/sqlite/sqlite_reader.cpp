// The reading side on SQLite: a connection of its own, which sees only what was committed and never blocks the writer.
#include <algorithm>

#include "sqlite/rows.hpp"
#include "sqlite/sqlite_store.hpp"
#include "sqlite/statements.hpp"

namespace atone::sqlite {
namespace {

// The first row of a query by one of the readers of rows.hpp; nothing when there is none.
template <class Row, class Read>
result<std::optional<Row>> read_one(query& from, Read const& read) {
  auto const more = from.step();
  if (!more) return more.error();
  if (!*more) return std::optional<Row>{};
  auto row = read(from);
  if (!row) return row.error();
  return std::optional<Row>{std::move(*row)};
}

class sqlite_reader final : public journal_reader {
 public:
  explicit sqlite_reader(connection on) : on_(std::move(on)) {}

  result<std::optional<saga_row>> find(saga_id id) override;
  result<std::optional<saga_row>> find_by_key(std::string_view saga_name, business_key const& key) override;
  result<std::vector<saga_row>> list(saga_filter const& filter) override;
  result<std::vector<event>> history(saga_id id) override;
  result<std::vector<compensation_entry>> compensations(saga_id id) override;
  result<std::vector<alert_row>> alerts(std::uint32_t limit) override;
  result<std::vector<operator_action_row>> actions(saga_id id) override;
  result<std::optional<definition_row>> definition(std::string_view name, std::optional<definition_version> version) override;
  result<std::vector<definition_row>> definitions() override;
  result<std::optional<last_output_row>> last_output(std::string_view saga_name, step_path const& step, std::string_view key) override;
  result<std::map<saga_status, std::uint64_t>> counts() override;
  result<std::optional<key_claim>> claim_of(std::string_view saga_name, business_key const& key) override;
  result<deletion_record> deletions() override;

 private:
  connection on_;
};

result<std::optional<saga_row>> sqlite_reader::find(saga_id id) {
  auto row = on_.use(sql::find_saga);
  if (!row) return row.error();
  auto const text = id.text();
  row->add_text(text);
  return read_one<saga_row>(*row, read_saga);
}

result<std::optional<saga_row>> sqlite_reader::find_by_key(std::string_view saga_name, business_key const& key) {
  auto const claim = claim_of(saga_name, key);
  if (!claim) return claim.error();
  if (!*claim) return std::optional<saga_row>{};
  return find((*claim)->holder);
}

result<std::optional<key_claim>> sqlite_reader::claim_of(std::string_view saga_name, business_key const& key) {
  auto row = on_.use(sql::find_claim);
  if (!row) return row.error();
  row->add_text(saga_name).add_text(key.value());
  return read_one<key_claim>(*row, [](query& from) -> result<key_claim> {
    key_claim made;
    auto const holder = read_id(from);
    if (!holder) return holder.error();
    made.holder = *holder;
    auto const body = read_hash(from);
    if (!body) return body.error();
    made.body = *body;
    return made;
  });
}

result<deletion_record> sqlite_reader::deletions() {
  auto row = on_.use(sql::deletions);
  if (!row) return row.error();
  auto const found = row->step();
  if (!found) return found.error();
  deletion_record made;
  if (!*found) return made;
  made.sagas = static_cast<std::uint64_t>(row->take_integer());
  made.newest = saga_id::parse(row->take_text());
  return made;
}

// The text of the conditions; their parameters are bound in the same order by bind_filter.
std::string list_statement(saga_filter const& filter) {
  std::string text = "SELECT " ATONE_SAGA_COLUMNS " FROM atone_saga WHERE shard = 0";
  if (filter.before) text += " AND saga_id < ?";
  if (!filter.definition.empty()) text += " AND definition = ?";
  // Told that the status is an open one, SQLite can take the small index.
  if (filter.status) text += is_final(*filter.status) ? " AND status = ?" : " AND status NOT IN (5, 6) AND status = ?";
  // Compared as bytes: LIKE would take % and _ for wildcards and ignore case.
  if (!filter.key_prefix.empty()) text += " AND substr(CAST(business_key AS BLOB), 1, ?) = ?";
  if (filter.since) text += " AND started_at >= ?";
  return text + " ORDER BY saga_id DESC LIMIT ?";
}

void bind_filter(query& to, saga_filter const& filter, std::string const& before) {
  if (filter.before) to.add_text(before);
  if (!filter.definition.empty()) to.add_text(filter.definition);
  if (filter.status) to.add(static_cast<std::int64_t>(*filter.status));
  if (!filter.key_prefix.empty()) to.add(static_cast<std::int64_t>(filter.key_prefix.size())).add_bytes(filter.key_prefix);
  if (filter.since) to.add(stored(*filter.since));
  to.add(std::min(filter.limit, saga_filter::page_max));
}

result<std::vector<saga_row>> sqlite_reader::list(saga_filter const& filter) {
  auto rows = on_.prepare(list_statement(filter));
  if (!rows) return rows.error();
  auto const before = filter.before ? filter.before->text() : std::string{};
  bind_filter(*rows, filter, before);
  return read_all<saga_row>(*rows, read_saga);
}

result<std::vector<event>> sqlite_reader::history(saga_id id) {
  auto rows = on_.use(sql::events_of);
  if (!rows) return rows.error();
  auto const text = id.text();
  rows->add_text(text);
  return read_all<event>(*rows, read_event);
}

result<std::vector<compensation_entry>> sqlite_reader::compensations(saga_id id) {
  auto rows = on_.use(sql::compensations_of);
  if (!rows) return rows.error();
  auto const text = id.text();
  rows->add_text(text);
  return read_all<compensation_entry>(*rows, [&](query& from) { return read_compensation(from, id); });
}

result<std::vector<alert_row>> sqlite_reader::alerts(std::uint32_t limit) {
  auto rows = on_.use(sql::newest_alerts);
  if (!rows) return rows.error();
  rows->add(std::min(limit, saga_filter::page_max));
  return read_all<alert_row>(*rows, read_alert);
}

result<std::vector<operator_action_row>> sqlite_reader::actions(saga_id id) {
  auto rows = on_.use(sql::actions_of);
  if (!rows) return rows.error();
  auto const text = id.text();
  rows->add_text(text);
  return read_all<operator_action_row>(*rows, [&](query& from) { return read_action(from, id); });
}

result<std::optional<definition_row>> sqlite_reader::definition(std::string_view name, std::optional<definition_version> version) {
  auto row = on_.use(version ? sql::definition_version : sql::definition_newest);
  if (!row) return row.error();
  row->add_text(name);
  if (version) row->add(version->value());
  return read_one<definition_row>(*row, read_definition);
}

result<std::vector<definition_row>> sqlite_reader::definitions() {
  auto rows = on_.use(sql::definitions);
  if (!rows) return rows.error();
  return read_all<definition_row>(*rows, read_definition);
}

result<std::optional<last_output_row>> sqlite_reader::last_output(std::string_view saga_name, step_path const& step, std::string_view key) {
  auto row = on_.use(sql::find_output);
  if (!row) return row.error();
  row->add_text(saga_name).add_text(step.text()).add_text(key);
  return read_one<last_output_row>(*row, read_output);
}

result<std::map<saga_status, std::uint64_t>> sqlite_reader::counts() {
  auto rows = on_.use(sql::count_sagas);
  if (!rows) return rows.error();
  std::map<saga_status, std::uint64_t> found;
  for (;;) {
    auto const more = rows->step();
    if (!more) return more.error();
    if (!*more) return found;
    auto const status = static_cast<saga_status>(rows->take_integer());
    found[status] = static_cast<std::uint64_t>(rows->take_integer());
  }
}

}  // namespace

std::unique_ptr<journal_reader> make_sqlite_reader(connection on) {
  return std::make_unique<sqlite_reader>(std::move(on));
}

}  // namespace atone::sqlite
