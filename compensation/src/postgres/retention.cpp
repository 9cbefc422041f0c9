#include "postgres/retention.hpp"

#include <utility>

#include "postgres/batch_encoding.hpp"
#include "postgres/decoding.hpp"
#include "postgres/migrations.hpp"

namespace atone::postgres {
namespace {

// Of the ids of one shard behind $2 and too young to be old enough, those up to $4. Only the key is used, in its order.
std::string const look_statement =
    "select t.now_us, s.saga_id, s.definition, s.business_key, " + microseconds_of("s.ended_at") +
    ", s.status in (5, 6) and s.ended_at < t.ended_before as old from (select " + microseconds_of("n") +
    " as now_us, n - $3::bigint * interval '1 microsecond' as ended_before from clock_timestamp() n) t "
    "left join lateral (select g.saga_id, g.definition, g.business_key, g.ended_at, g.status from atone.saga g "
    "where g.shard = $1::smallint and g.saga_id > $2::uuid and g.saga_id < atone.first_id_at(t.ended_before) "
    "order by g.saga_id limit $4::bigint) s on true order by s.saga_id";

std::string const microseconds = "::bigint * interval '1 microsecond'";

// The arrays that atone.delete_finished wants.
struct saga_arrays {
  std::string sagas = "{", row_shards = "{", key_shards = "{";

  saga_arrays(std::vector<finished_saga> const& of, std::uint16_t shards) {
    for (auto const& one : of) {
      char const* const comma = sagas.size() > 1 ? "," : "";
      sagas += comma + uuid_text(one.id);
      row_shards += comma + std::to_string(shard_of_saga_rows(one.id, shards));
      key_shards += comma + std::to_string(shard_of_key(one.definition, one.key.value(), shards));
    }
    for (auto* const list : {&sagas, &row_shards, &key_shards}) *list += '}';
  }
};

finished_stretch decode_stretch(pqxx::result const& rows, saga_id after, std::size_t most) {
  finished_stretch found;
  found.last = after;
  found.more = rows.size() == static_cast<pqxx::result::size_type>(retention::look_max);
  for (auto const& row : rows) {
    found.now = decode_time(row[0]);
    if (row[1].is_null()) return found;  // none
    if (found.sagas.size() == most) {
      found.more = true;
      return found;
    }
    finished_saga one;
    found.last = one.id = decode_id(row[1]);
    if (row[5].is_null() || !row[5].as<bool>()) {
      found.kept = true;
      continue;
    }
    one.definition = row[2].c_str();
    one.key = business_key{row[3].c_str()};
    one.ended_at = decode_time(row[4]);
    found.sagas.push_back(std::move(one));
  }
  return found;
}

class postgres_retention final : public retention {
 public:
  postgres_retention(endpoint to, epoch as) : to_(std::move(to)), epoch_(as) {}

  result<void> begin() {
    auto const found =
        ask("select w.id, l.shards from atone.writer w, atone.layout l where w.epoch = $1", {std::to_string(epoch_.value())});
    if (!found) return found.error();
    if (found->empty()) return error{errc::fenced, "no writer is at epoch " + std::to_string(epoch_.value()) + " any more"};
    writer_ = (*found)[0][0].c_str();
    shards_ = (*found)[0][1].as<std::uint16_t>();
    return {};
  }

  result<finished_stretch> look(shard of, saga_id after, duration age, std::size_t most) override {
    auto const rows =
        ask(look_statement, {std::to_string(of.value()), uuid_text(after), std::to_string(age.count()), std::to_string(look_max)});
    if (!rows) return rows.error();
    return read<finished_stretch>([&] { return decode_stretch(*rows, after, most); });
  }

  result<std::uint64_t> remove(shard of, std::vector<finished_saga> const& sagas, duration age) override {
    ATONE_ASSERT(sagas.size() <= batch_max);
    if (sagas.empty()) return std::uint64_t{0};
    saga_arrays const arrays{sagas, shards_};
    auto const rows = ask("select atone.delete_finished($1, $2, $3, $4" + microseconds + ", $5, $6, $7)",
                          {writer_, std::to_string(epoch_.value()), std::to_string(of.value()), std::to_string(age.count()), arrays.sagas,
                           arrays.row_shards, arrays.key_shards});
    if (!rows) return rows.error();
    return read<std::uint64_t>([&] { return (*rows)[0][0].as<std::uint64_t>(); });
  }

  result<key_stretch> expire_keys(shard of, saga_id after, duration age, std::size_t most) override {
    auto const rows = ask("select deleted, last, more, kept from atone.expire_keys($1, $2, $3, $4" + microseconds + ", $5, $6, $7)",
                          {writer_, std::to_string(epoch_.value()), std::to_string(of.value()), std::to_string(age.count()),
                           uuid_text(after), std::to_string(look_max), std::to_string(most)});
    if (!rows) return rows.error();
    return read<key_stretch>([&] {
      key_stretch found;
      found.deleted = (*rows)[0][0].as<std::uint64_t>();
      found.last = decode_id((*rows)[0][1]);
      found.more = (*rows)[0][2].as<bool>();
      found.kept = (*rows)[0][3].as<bool>();
      return found;
    });
  }

 private:
  // Everything here may be asked again: only `fenced` is the end, and what no repeating mends says so by itself.
  result<pqxx::result> ask(std::string const& statement, std::vector<text_parameter> const& parameters) {
    if (!session_ || session_->lost()) {
      session_.reset();
      auto opened = session::open(to_, session_kind::writer);
      if (!opened) return opened.error();
      if (auto fine = check_schema(**opened); !fine) return fine.error();
      session_ = std::move(*opened);
    }
    auto rows = session_->query(statement, parameters);
    if (rows) return rows;
    auto failure = rows.error();
    bool const may_pass = session_->lost() || failure.code == errc::serialization || failure.code == errc::outcome_unknown;
    if (may_pass) failure.code = errc::unavailable;
    return failure;
  }

  template <class Value, class Read>
  static result<Value> read(Read const& from) {
    try {
      return from();
    } catch (std::exception const& failure) {
      return error{errc::corrupt, std::string{"a finished saga's row can't be read: "} + failure.what()};
    }
  }

  endpoint const to_;
  epoch const epoch_;
  std::string writer_;
  std::uint16_t shards_ = 1;
  std::unique_ptr<session> session_;
};

}  // namespace

result<std::unique_ptr<retention>> open_retention_as(endpoint const& to, epoch as) {
  endpoint own = to;
  own.limits = retention_limits(to.limits);
  auto made = std::make_unique<postgres_retention>(std::move(own), as);
  if (auto begun = made->begin(); !begun) return begun.error();
  return std::unique_ptr<retention>{std::move(made)};
}

}  // namespace atone::postgres
