#include "postgres/reader.hpp"

#include <algorithm>

#include "postgres/batch_encoding.hpp"
#include "postgres/decoding.hpp"
#include "postgres/load.hpp"
#include "postgres/migrations.hpp"

namespace atone::postgres {
namespace {

std::string const in_every_shard = " where shard = any($1::smallint[]) and saga_id = $2::uuid";

// % and _ in the user's prefix mean themselves.
std::string like_prefix(std::string_view prefix) {
  std::string pattern;
  for (char const character : prefix) {
    if (character == '%' || character == '_' || character == '\\') pattern += '\\';
    pattern += character;
  }
  return pattern + '%';
}

std::string time_parameter(timestamp at) {
  return std::to_string(at.time_since_epoch().count());
}

// The newest of each shard, then the newest of those: each shard's part of the key is read from its end.
struct list_query {
  std::string where;
  std::vector<text_parameter> parameters;

  void add(std::string const& condition, std::string value) {
    parameters.emplace_back(std::move(value));
    where += " and " + condition + "$" + std::to_string(parameters.size());
  }
};

list_query conditions(saga_filter const& filter, std::string const& all_shards) {
  list_query query;
  query.parameters.emplace_back(all_shards);
  if (!filter.definition.empty()) query.add("g.definition = ", filter.definition);
  if (filter.status) query.add("g.status = ", std::to_string(static_cast<int>(*filter.status)));
  if (!filter.key_prefix.empty()) query.add("g.business_key like ", like_prefix(filter.key_prefix));
  if (filter.since) {
    query.add("g.started_at >= timestamptz 'epoch' + interval '1 microsecond' * ", time_parameter(*filter.since));
    query.where += "::bigint";
  }
  if (filter.before) {
    query.add("g.saga_id < ", uuid_text(*filter.before));
    query.where += "::uuid";
  }
  return query;
}

}  // namespace

result<std::unique_ptr<journal_reader>> reader::open(endpoint to) {
  std::unique_ptr<reader> made{new reader{std::move(to)}};
  if (auto connected = made->connect(); !connected) return connected.error();
  return std::unique_ptr<journal_reader>{std::move(made)};
}

result<void> reader::connect() {
  auto opened = session::open(to_, session_kind::reader);
  if (!opened) return opened.error();
  if (auto fine = check_schema(**opened); !fine) return fine;
  // Bitmap scans: a generic plan for one id in 64 shards must not turn to them while the tables are small.
  auto const layout =
      (*opened)->run("set enable_bitmapscan = off; set enable_seqscan = off; set jit = off; select shards from atone.layout");
  if (!layout) return layout.error();
  shards_ = (*layout)[0][0].as<std::uint16_t>();
  all_shards_ = "{0";
  for (int shard = 1; shard < shards_; ++shard) all_shards_ += ',' + std::to_string(shard);
  all_shards_ += '}';
  session_ = std::move(*opened);
  return {};
}

result<pqxx::result> reader::ask(std::string const& statement, std::vector<text_parameter> const& parameters) {
  for (int left = 1;; --left) {
    if (!session_ || session_->lost()) {
      if (auto connected = connect(); !connected) return connected.error();
    }
    auto answer = session_->query(statement, parameters);
    if (answer) return answer;
    bool const lost = session_->lost();
    if (lost && left > 0) continue;
    // A read has no outcome that could be unknown.
    return error{lost ? errc::unavailable : answer.error().code, answer.error().message};
  }
}

result<std::optional<saga_row>> reader::find(saga_id id) {
  return decode_first<saga_row>(ask("select " + saga_columns + " from atone.saga" + in_every_shard, {all_shards_, uuid_text(id)}),
                                decode_saga);
}

result<std::optional<saga_row>> reader::find_by_key(std::string_view saga_name, business_key const& key) {
  if (key.value().empty()) return std::optional<saga_row>{};
  return decode_first<saga_row>(ask("select " + saga_columns +
                                        " from atone.saga where (shard, saga_id) = (select k.saga_shard, k.saga_id from atone.saga_key k "
                                        "where k.shard = $1::smallint and "
                                        "k.saga_name = $2 and k.business_key = $3)",
                                    {std::to_string(shard_of_key(saga_name, key.value(), shards_)), std::string{saga_name}, key.value()}),
                                decode_saga);
}

result<std::optional<key_claim>> reader::claim_of(std::string_view saga_name, business_key const& key) {
  auto const rows = ask("select saga_id, body from atone.saga_key where shard = $1::smallint and saga_name = $2 and business_key = $3",
                        {std::to_string(shard_of_key(saga_name, key.value(), shards_)), std::string{saga_name}, key.value()});
  return decode_first<key_claim>(rows, [](pqxx::row const& row) -> result<key_claim> {
    try {
      key_claim made;
      made.holder = decode_id(row[0]);
      made.body = decode_hash(row[1]);
      return made;
    } catch (std::exception const& failure) {
      return error{errc::corrupt, std::string{"a business key's row can't be read: "} + failure.what()};
    }
  });
}

result<deletion_record> reader::deletions() {
  auto const rows = ask("select sagas, newest from atone.deletion", {});
  if (!rows) return rows.error();
  try {
    deletion_record made;
    for (auto const& row : *rows) {
      made.sagas += row[0].as<std::uint64_t>();
      auto const newest = decode_id(row[1]);
      made.newest = std::max(made.newest.value_or(newest), newest);
    }
    return made;
  } catch (std::exception const& failure) {
    return error{errc::corrupt, std::string{"what was deleted can't be read: "} + failure.what()};
  }
}

result<std::vector<saga_row>> reader::list(saga_filter const& filter) {
  auto const query = conditions(filter, all_shards_);
  std::string const limit = " limit " + std::to_string(std::min(filter.limit, saga_filter::page_max));
  return decode_all<saga_row>(
      ask("select " + saga_columns +
              " from unnest($1::smallint[]) h(part) cross join lateral (select * from atone.saga g where g.shard = h.part" + query.where +
              " order by g.saga_id desc" + limit + ") s order by saga_id desc" + limit,
          query.parameters),
      decode_saga);
}

result<std::vector<event>> reader::history(saga_id id) {
  return decode_all<event>(
      ask("select " + event_columns + " from atone.journal" + in_every_shard + " order by seq", {all_shards_, uuid_text(id)}),
      decode_event);
}

result<std::vector<compensation_entry>> reader::compensations(saga_id id) {
  return decode_all<compensation_entry>(
      ask("select " + compensation_columns + " from atone.compensation_log" + in_every_shard + " order by trace_id",
          {all_shards_, uuid_text(id)}),
      decode_compensation);
}

result<std::vector<open_saga>> reader::load(std::vector<saga_place> const& which) {
  for (int left = 1;; --left) {
    if (!session_ || session_->lost()) {
      if (auto connected = connect(); !connected) return connected.error();
    }
    auto found = load_sagas(*session_, which);
    if (found || !session_->lost()) return found;
    if (left == 0) return error{errc::unavailable, found.error().message};
  }
}

result<std::vector<alert_row>> reader::alerts(std::uint32_t limit) {
  auto const bounded = std::min(limit, saga_filter::page_max);
  return decode_all<alert_row>(
      ask("select " + alert_columns + " from atone.alert order by raised_at desc, saga_id desc, step, kind limit " +
              std::to_string(bounded),
          {}),
      decode_alert);
}

result<std::vector<operator_action_row>> reader::actions(saga_id id) {
  return decode_all<operator_action_row>(
      ask("select " + action_columns + " from atone.operator_action where shard = $1::smallint and saga_id = $2::uuid order by number",
          {std::to_string(shard_of_saga_rows(id, shards_)), uuid_text(id)}),
      decode_action);
}

result<std::optional<definition_row>> reader::definition(std::string_view name, std::optional<definition_version> version) {
  std::string const select = "select " + definition_columns + " from atone.definition where name = $1";
  if (!version) return decode_first<definition_row>(ask(select + " order by version desc limit 1", {std::string{name}}), decode_definition);
  return decode_first<definition_row>(ask(select + " and version = $2::integer", {std::string{name}, std::to_string(version->value())}),
                                      decode_definition);
}

result<std::vector<definition_row>> reader::definitions() {
  return decode_all<definition_row>(ask("select " + definition_columns + " from atone.definition order by name, version", {}),
                                    decode_definition);
}

result<std::optional<last_output_row>> reader::last_output(std::string_view saga_name, step_path const& step, std::string_view key) {
  return decode_first<last_output_row>(
      ask("select " + output_columns + " from atone.last_output where shard = $1::smallint and saga_name = $2 and step = $3 and key = $4",
          {std::to_string(shard_of_output(saga_name, step, key, shards_)), std::string{saga_name}, step.text(), std::string{key}}),
      decode_output);
}

result<std::map<saga_status, std::uint64_t>> reader::counts() {
  auto const rows = ask("select status, count(*) from atone.saga group by status", {});
  if (!rows) return rows.error();
  std::map<saga_status, std::uint64_t> counted;
  for (auto const& row : *rows) counted[static_cast<saga_status>(row[0].as<std::int16_t>())] = row[1].as<std::uint64_t>();
  return counted;
}

}  // namespace atone::postgres
