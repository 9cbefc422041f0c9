// Several daemons on one PostgreSQL, a participant that counts, and a load of starts: what every drill begins with, and what must hold
// at the end of each.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "atoned_process.hpp"
#include "counting_participant.hpp"
#include "load.hpp"
#include "observer.hpp"
#include "pace.hpp"
#include "postgres_server.hpp"

namespace atone::test {

using namespace std::chrono_literals;

inline constexpr span patience = 30s;  // for what surely comes
inline constexpr span lease{2000};     // the daemon's default

// ATONE_DRILL=long: outages as long as they were reported, rounds by the hundred.
bool long_form();

class cluster_test : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // On this server instead of the shared one: before SetUp().
  void on(postgres_server& server) { server_ = &server; }
  // Where daemons find the database, when not at the server itself.
  void reach_through(std::string address) { store_ = std::move(address); }
  std::string const& database() const { return database_; }
  std::string server_address() const { return server_->address(database_); }
  observer& look() { return *observer_; }
  // The database lies on another server from here on.
  void look_at(postgres_server& other);

  // Starts it and waits until it listens.
  atoned_process& start(std::string const& node, std::vector<std::string> const& environment = {}, std::string const& store = {});
  // Starts these, publishes the definitions, waits until the shards are dealt out.
  void start_all(std::set<std::string> const& nodes);
  // The same, and the load.
  void begin_all(std::set<std::string> const& nodes = {"a", "b", "c"});
  atoned_process& at(std::string const& node) { return *nodes_.at(node); }
  void stop_all() { nodes_.clear(); }
  // SIGKILL, and its end.
  void kill(std::string const& node);
  std::set<std::string> names() const;
  std::vector<std::string> urls() const;
  void publish(std::string const& definition);
  bool balances(span at_most);

  // Begins the load over all nodes, and waits until each of them has sent requests.
  void begin_load();
  // When the first of these sagas was asked for by another node than `of` after `from`, and when the last of them was, or had ended.
  // Waits for that.
  struct moving {
    std::optional<span> first, last;
    std::size_t sagas = 0;

    moving() = default;
  };
  moving moves(std::vector<std::string> const& sagas, std::string const& of, moment from);
  // Waits until sagas that are started at the node are driven by it: its shards may be on their way still.
  void await_driving(std::string const& node);
  // How many requests came from this node after that moment.
  std::size_t sent_by(std::string const& node, moment after) const;
  // From the last request of this node to the next one of another, the longest of all sagas but that one.
  span longest_pause(std::string const& node, std::string const& but = {}) const;
  // Tells the participant which sagas have ended by now.
  void note_ends();
  // No saga lost, none doubled, every one at its end with the effects that belong to it.
  void all_end_well();
  // Says it where the drill's figures are read off.
  static void measured(std::string const& what, span time);

  http::exchange ask(std::string const& node, std::string method, std::string target, std::string body = {}, std::string const& key = {},
                     duration timeout = patience);

  counting_participant participant{200ms};
  load starts{{"order", "placed", "booked"}, 60};

 private:
  std::string log_of(std::string const& node) const { return folder_ + "/" + node + ".log"; }

  postgres_server* server_ = nullptr;
  std::string database_;
  std::string store_;
  std::string folder_;
  std::unique_ptr<observer> observer_;
  std::map<std::string, std::unique_ptr<atoned_process>> nodes_;
};

std::string field(http::exchange const& of, std::string_view key);
// Five steps at the participant, each with its compensation. `placed` lives in the shard of its number, whoever starts it; the
// second step of `booked` is a statement in the database itself.
std::string definition_of(std::string const& saga, std::string const& participant, std::string const& extra = {});

}  // namespace atone::test
