#include "postgres/retention.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "postgres/batch_encoding.hpp"
#include "postgres/decoding.hpp"
#include "postgres/migrations.hpp"

namespace atone::postgres {
namespace {

// Of each shard the first $4 ids behind $2 that are not too young, then all of them in one order. Only the key is used, in its order.
std::string const look_statement =
    "select t.now_us, s.shard, s.saga_id, s.definition, s.business_key, " + microseconds_of("s.ended_at") +
    ", s.status in (5, 6) and s.ended_at < t.ended_before as old from (select " + microseconds_of("n") +
    " as now_us, n - $3::bigint * interval '1 microsecond' as ended_before from clock_timestamp() n) t left join lateral (select r.* from "
    "unnest($1::smallint[]) h(part) cross join lateral (select g.shard, g.saga_id, g.definition, g.business_key, g.ended_at, g.status from "
    "atone.saga g where g.shard = h.part and g.saga_id > $2::uuid and g.saga_id < atone.first_id_at(t.ended_before) order by g.saga_id "
    "limit "
    "$4::bigint) r) s on true order by s.saga_id";

std::string const microseconds = "::bigint * interval '1 microsecond'";

// The arrays that atone.delete_finished wants.
struct saga_arrays {
  std::string shards = "{", sagas = "{", row_shards = "{", key_shards = "{";

  saga_arrays(std::vector<finished_saga> const& of, std::uint16_t number_of_shards) {
    for (auto const& one : of) {
      char const* const comma = sagas.size() > 1 ? "," : "";
      shards += comma + std::to_string(one.home.value());
      sagas += comma + uuid_text(one.id);
      row_shards += comma + std::to_string(shard_of_saga_rows(one.id, number_of_shards));
      key_shards += comma + std::to_string(shard_of_key(one.definition, one.key.value(), number_of_shards));
    }
    for (auto* const list : {&shards, &sagas, &row_shards, &key_shards}) *list += '}';
  }
};

std::string shards_text(std::vector<shard> const& of) {
  std::string text = "{";
  for (auto const one : of) text += (text.size() > 1 ? "," : "") + std::to_string(one.value());
  return text + '}';
}

constexpr std::size_t rows_of_each_min = 8;

// How many of the rows are all there are up to that id: a shard of which not all was read (it has `each` rows) may have others behind its
// last one.
struct complete_part {
  std::size_t rows = 0;
  bool all = true;

  complete_part(pqxx::result const& of, std::size_t each) {
    std::map<int, std::size_t> seen;
    for (auto const& row : of) {
      ++rows;
      if (row[1].is_null() || ++seen[row[1].as<int>()] < each) continue;
      all = false;
      return;
    }
  }
};

finished_stretch decode_stretch(pqxx::result const& rows, saga_id after, std::size_t most, complete_part const& seen) {
  finished_stretch found;
  found.last = after;
  found.more = !seen.all;
  std::size_t left = seen.rows;
  for (auto const& row : rows) {
    found.now = decode_time(row[0]);
    if (row[1].is_null() || left-- == 0) break;  // none at all
    if (found.sagas.size() == most) {
      found.more = true;
      break;
    }
    finished_saga one;
    one.home = shard{row[1].as<std::uint16_t>()};
    found.last = one.id = decode_id(row[2]);
    if (row[6].is_null() || !row[6].as<bool>()) {
      found.kept = true;
      continue;
    }
    one.definition = row[3].c_str();
    one.key = business_key{row[4].c_str()};
    one.ended_at = decode_time(row[5]);
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

  result<finished_stretch> look(std::vector<shard> const& of, saga_id after, duration age, std::size_t most) override {
    auto const rows = ask(look_statement, {shards_text(of), uuid_text(after), std::to_string(age.count()), std::to_string(of_each_)});
    if (!rows) return rows.error();
    return read<finished_stretch>([&] {
      complete_part const seen{*rows, of_each_};
      read_more_or_less(static_cast<std::size_t>(rows->size()), seen, most);
      return decode_stretch(*rows, after, most, seen);
    });
  }

  result<std::uint64_t> remove(std::vector<finished_saga> const& sagas, duration age) override {
    ATONE_ASSERT(sagas.size() <= batch_max);
    if (sagas.empty()) return std::uint64_t{0};
    saga_arrays const arrays{sagas, shards_};
    auto const rows = ask("select atone.delete_finished($1, $2, $3" + microseconds + ", $4, $5, $6, $7)",
                          {writer_, std::to_string(epoch_.value()), std::to_string(age.count()), arrays.shards, arrays.sagas,
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
  // Of each shard, by the next look: shards are not filled evenly, so that a fair share of a batch may be too few of one and too many of
  // all.
  void read_more_or_less(std::size_t rows, complete_part const& seen, std::size_t most) {
    if (!seen.all && seen.rows < most) of_each_ = std::min(of_each_ * 2, look_max);
    if (rows > look_max) of_each_ = std::max(of_each_ / 2, rows_of_each_min);
  }

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
  std::size_t of_each_ = rows_of_each_min;
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
