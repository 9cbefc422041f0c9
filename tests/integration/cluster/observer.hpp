// What the database says of a cluster, over a connection of the test's own, past any proxy. The server must be up when it is asked.
// Thread rules: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <pqxx/pqxx>

namespace atone::test {

struct node_row {
  bool alive = false;
  std::uint64_t epoch = 0;
  int shards = 0;

  node_row() = default;
};

struct saga_result {
  std::string id, key, status, definition;

  saga_result() = default;
};

class observer {
 public:
  explicit observer(std::string address) : address_(std::move(address)) {}

  // On a new connection when the last one is lost.
  pqxx::result ask(std::string const& statement);
  std::string word(std::string const& statement) { return ask(statement)[0][0].c_str(); }
  long number(std::string const& statement) { return ask(statement)[0][0].as<long>(); }

  std::map<std::string, node_row> nodes();
  // The living nodes drive every shard, each its share.
  bool balanced(std::set<std::string> const& living);
  // Sagas under way in shards that the node holds.
  std::vector<std::string> open_sagas_of(std::string const& node);
  std::vector<saga_result> sagas();
  // What the statements of `booked` have left behind, by saga: "1", "1,-1".
  std::map<std::string, std::string> booked_effects();
  long open_sagas() { return number("select count(*) from atone.saga where status not in (5, 6)"); }

 private:
  std::string const address_;
  std::unique_ptr<pqxx::connection> connection_;
};

}  // namespace atone::test
