// The suite of all stores on PostgreSQL: a program of its own, so that its server is started once for all of it.
#include "postgres_server.hpp"
#include "store_suite.hpp"

namespace atone::test {
namespace {

class postgres_place final : public store_place {
 public:
  postgres_place() : database_(server().make_database()) {}

  ~postgres_place() override { server().drop_database(database_); }

  result<std::unique_ptr<store>> open() override { return open_store(server().address(database_)); }
  void execute(std::string const& statements) override { server().psql(statements, database_); }
  std::string ask(std::string const& statement) override {
    auto const text = server().psql(statement, database_);
    return text.substr(0, text.find_first_of("|\n"));
  }
  void pretend_newer() override { execute("insert into atone.migration (number, name) values (999, '0999_of_a_newer_build')"); }

 private:
  static postgres_server& server() { return postgres_server::shared(); }

  std::string const database_;
};

}  // namespace

store_factory postgres_factory() {
  store_factory made;
  made.name = "postgresql";
  made.make = [] { return postgres_server::available() ? std::unique_ptr<store_place>(new postgres_place) : nullptr; };
  return made;
}

std::vector<store_factory> store_factories() {
  return {postgres_factory()};
}

INSTANTIATE_TEST_SUITE_P(stores, store_suite, testing::ValuesIn(store_factories()),
                         [](testing::TestParamInfo<store_factory> const& of) { return of.param.name; });

}  // namespace atone::test
