#include "observer.hpp"

namespace atone::test {
namespace {

std::unique_ptr<pqxx::connection> connect(std::string const& address) {
  return std::make_unique<pqxx::connection>(address);
}

}  // namespace

pqxx::result observer::ask(std::string const& statement) {
  if (connection_) {
    try {
      return pqxx::nontransaction{*connection_}.exec(statement);
    } catch (pqxx::broken_connection const&) {
      connection_.reset();
    } catch (pqxx::sql_error const& failure) {
      // Ended by an administrator's command: the connection is gone, whatever libpqxx calls it.
      if (!failure.sqlstate().starts_with("57P")) throw;
      connection_.reset();
    }
  }
  connection_ = connect(address_);
  return pqxx::nontransaction{*connection_}.exec(statement);
}

std::map<std::string, node_row> observer::nodes() {
  std::map<std::string, node_row> found;
  for (auto const& row : ask("select node, alive, epoch, shards from atone.nodes")) {
    auto& one = found[row[0].c_str()];
    one.alive = row[1].as<bool>();
    one.epoch = row[2].as<std::uint64_t>();
    one.shards = row[3].as<int>();
  }
  return found;
}

bool observer::balanced(std::set<std::string> const& living) {
  auto const shards = static_cast<int>(number("select shards from atone.layout"));
  int held = 0;
  int least = shards;
  int most = 0;
  auto const found = nodes();
  for (auto const& name : living) {
    auto const one = found.find(name);
    if (one == found.end() || !one->second.alive) return false;
    held += one->second.shards;
    least = std::min(least, one->second.shards);
    most = std::max(most, one->second.shards);
  }
  return held == shards && most - least <= 1;
}

std::vector<std::string> observer::open_sagas_of(std::string const& node) {
  std::vector<std::string> found;
  auto const rows =
      ask("select atone.id_text(s.saga_id) from atone.saga s join atone.lease l using (shard) join atone.writer w on w.id = l.writer "
          "where w.node = '" +
          node + "' and s.status not in (5, 6)");
  for (auto const& row : rows) found.emplace_back(row[0].c_str());
  return found;
}

std::vector<saga_result> observer::sagas() {
  std::vector<saga_result> found;
  for (auto const& row : ask("select atone.id_text(saga_id), business_key, status, definition from atone.saga")) {
    saga_result one;
    one.id = row[0].c_str();
    one.key = row[1].c_str();
    one.definition = row[3].c_str();
    auto const status = row[2].as<int>();
    one.status = status == 5 ? "completed" : status == 6 ? "compensated" : "open (" + std::to_string(status) + ")";
    found.push_back(std::move(one));
  }
  return found;
}

std::map<std::string, std::string> observer::booked_effects() {
  std::map<std::string, std::string> found;
  for (auto const& row : ask("select saga, string_agg(change::text, ',' order by change desc) from public.effect group by saga")) {
    found[row[0].c_str()] = row[1].c_str();
  }
  return found;
}

}  // namespace atone::test
