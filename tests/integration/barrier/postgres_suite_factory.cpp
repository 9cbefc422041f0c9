// The suite of all participants' databases on PostgreSQL, at each isolation level: a program of its own, so that its server
// is started once for all of it.
#include "barrier_suite.hpp"
#include "postgres_server.hpp"

namespace atone::test {
namespace {

class postgres_participant_place final : public participant_place {
 public:
  explicit postgres_participant_place(std::string const& isolation) : database_(server().make_database()) {
    server().psql("alter database " + database_ + " set default_transaction_isolation = '" + isolation + "'");
  }

  ~postgres_participant_place() override { server().drop_database(database_); }

  result<std::unique_ptr<participant::participant_database>> open() override {
    return participant::open_database(server().address(database_));
  }

 private:
  static postgres_server& server() { return postgres_server::shared(); }

  std::string const database_;
};

participant_factory factory_at(std::string name, std::string isolation) {
  participant_factory made;
  made.name = std::move(name);
  made.make = [isolation] {
    return postgres_server::available() ? std::unique_ptr<participant_place>(new postgres_participant_place{isolation}) : nullptr;
  };
  return made;
}

}  // namespace

std::vector<participant_factory> postgres_participant_factories() {
  return {factory_at("read_committed", "read committed"), factory_at("repeatable_read", "repeatable read"),
          factory_at("serializable", "serializable")};
}

std::vector<participant_factory> participant_factories() {
  return postgres_participant_factories();
}

INSTANTIATE_TEST_SUITE_P(databases, barrier_suite, testing::ValuesIn(participant_factories()),
                         [](testing::TestParamInfo<participant_factory> const& of) { return of.param.name; });

}  // namespace atone::test
