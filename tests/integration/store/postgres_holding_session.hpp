// A second session that holds something while a test goes on.
#pragma once

#include <pqxx/pqxx>
#include <string>

namespace atone::test {

class holding_session {
 public:
  explicit holding_session(std::string const& address) : connection_(address), held_(connection_) { run("begin"); }
  void run(std::string const& statement) { held_.exec(statement); }

 private:
  pqxx::connection connection_;
  pqxx::nontransaction held_;
};

}  // namespace atone::test
