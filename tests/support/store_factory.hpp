// What the suite of tests/integration/store runs over: one factory a kind of store. A new store adds a factory in a file of
// its own in that folder; the suite itself names none.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <atone/journal.hpp>

namespace atone::test {

// One fresh, empty place for a store's data; removed with the object.
class store_place {
 public:
  virtual ~store_place() = default;
  // Opens a store on the data that is there. Called again after the one before was destroyed; only the first time where the
  // factory does not `survive`.
  virtual result<std::unique_ptr<store>> open() = 0;
  // Runs statements beside the store, as another program would; only where `runs_sql`.
  virtual void execute(std::string const& statements) = 0;
  // First column of the first row as text; "" for none.
  virtual std::string ask(std::string const& statement) = 0;
  // Makes the data look as if a newer build had migrated it; only where `migrates`.
  virtual void pretend_newer() = 0;
};

struct store_factory {
  std::string name;
  std::function<std::unique_ptr<store_place>()> make;  // nullptr: not possible here, the test is skipped
  bool survives = true;                                // data outlives the store object
  bool runs_sql = true;                                // commit_with_sql, execute, ask
  bool migrates = true;                                // status, migrate

  store_factory() = default;
  friend std::ostream& operator<<(std::ostream& out, store_factory const& of) { return out << of.name; }
};

store_factory memory_factory();
store_factory sqlite_factory();
store_factory postgres_factory();

// Those of one program: each links one definition of this (factories.cpp; postgres_suite_factory.cpp has a server).
std::vector<store_factory> store_factories();

}  // namespace atone::test
