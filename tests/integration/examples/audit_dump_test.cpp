// atone audit from a dump says what it says of the living journal: a daemon on PostgreSQL or SQLite, a participant with a real database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <atone/json.hpp>
#include <atone/load.hpp>

#include "atoned_process.hpp"
#include "demo_support.hpp"
#include "orders/orders.hpp"
#include "postgres_server.hpp"
#include "services_support.hpp"

namespace examples_test {
namespace {

using atone::cli::exit_code;
using atone::test::atoned_process;
using atone::test::postgres_server;
using testing::HasSubstr;

constexpr int sagas = 12;

std::string definition_at(std::string const& orders) {
  return "saga: one-order\nversion: 1\ninput: {type: object, required: [order_id], properties: {order_id: {type: integer}}}\n"
         "shard_key: =input.order_id % 3\nservices: {orders: {http: \"" +
         orders +
         "\"}}\nsteps:\n  - id: order\n    call: orders POST /orders\n"
         "    in: {order_id: =input.order_id, user: 7, amount: 990, quantity: 1, placed_at: '1997-01-01T00:00:00Z'}\n"
         "    compensate: {call: \"orders DELETE /orders/{order_id}\", in: {order_id: =input.order_id}}\n"
         // An amount that is none: refused, and the order before it undone.
         "  - id: again\n    when: =input.order_id % 4 == 0\n    call: orders POST /orders\n    in: {order_id: =input.order_id + 1000, "
         "user: 7, "
         "amount: -1}\n    compensate: {call: \"orders DELETE /orders/{order_id}\", in: {order_id: =input.order_id + 1000}}\n";
}

class audit_dump : public testing::Test {
 protected:
  void run_sagas(std::string const& store) {
    daemon_ = std::make_unique<atoned_process>(std::vector<std::string>{"--store", store, "--node", "a"}, folder_.file("atoned.log"));
    ASSERT_FALSE(daemon_->url().empty()) << daemon_->log();
    ASSERT_EQ(ask("POST", "/v1/definitions", definition_at(orders_.url()), "application/yaml").status, 201);
    for (int number = 1; number <= sagas; ++number) {
      auto const came = ask("POST", "/v1/sagas/one-order?wait=20s", "{\"order_id\": " + std::to_string(number) + "}");
      ASSERT_THAT(came.status, testing::AnyOf(200, 201)) << came.body;
      ids_.push_back(atone::json::parse(came.body)->find("id")->as_string());
    }
  }

  atone::http::response ask(std::string method, std::string const& path, std::string body, std::string const& type = "application/json") {
    atone::http::request what;
    what.method = std::move(method);
    what.body = std::move(body);
    what.headers.add("Content-Type", type);
    return atone::http::fetch(daemon_->url() + path, std::move(what), std::chrono::seconds{30}).response;
  }

  exit_code audit(std::vector<std::string> flags, std::string const& input = {}) {
    around_ = std::make_unique<world>(daemon_->running() ? daemon_->url() : "http://127.0.0.1:1");
    around_->type(input);
    flags.insert(flags.begin(), {"audit", "-o", "json"});
    return around_->run(std::move(flags));
  }

  std::string kept(std::string const& name, std::string const& text) {
    std::ofstream{folder_.file(name), std::ios::binary} << text;
    return folder_.file(name);
  }

  temporary_folder folder_;
  service_under_test orders_{orders::define()};
  std::vector<std::string> ids_;
  std::unique_ptr<atoned_process> daemon_;
  std::unique_ptr<world> around_;
};

// Younger than any real one.
std::string saga_of_the_future() {
  atone::saga_id::bytes bytes{};
  bytes[0] = 0x7f;
  return atone::saga_id{bytes}.text();
}

TEST_F(audit_dump, of_postgresql_says_what_the_living_journal_says) {
  ATONE_NEED_POSTGRES();
  auto& server = postgres_server::shared();
  auto const store = server.address(server.make_database());
  run_sagas(store);
  ASSERT_EQ(audit({}), exit_code::done) << around_->out() << around_->err();
  auto const living = around_->out();
  EXPECT_THAT(living, HasSubstr("\"proven\":12"));
  EXPECT_THAT(living, HasSubstr("\"compensated\":3"));
  EXPECT_THAT(living, HasSubstr("\"keys\":3"));
  auto const text = server.output_of("pg_dump", {store});
  auto const custom = server.output_of("pg_dump", {"-Fc", store});
  daemon_->signal(SIGKILL);
  daemon_->wait();

  EXPECT_EQ(audit({"--dump", kept("day.sql", text)}), exit_code::done) << around_->err();
  EXPECT_EQ(around_->out(), living);
  EXPECT_EQ(audit({"--dump", "-"}, server.output_of("pg_restore", {"-f", "-"}, custom)), exit_code::done) << around_->err();
  EXPECT_EQ(around_->out(), living);

  for (std::size_t const length : {std::size_t{0}, text.size() / 3, text.size() / 2, text.size() - 60}) {
    EXPECT_EQ(audit({"--dump", kept("cut.sql", text.substr(0, length))}), exit_code::internal) << length;
    EXPECT_EQ(around_->out(), "") << "nothing is proven from a dump that is not whole";
    EXPECT_THAT(around_->err(), HasSubstr("cut.sql:")) << length;
  }
  EXPECT_EQ(audit({"--dump", kept("day.dump", custom)}), exit_code::internal);
  EXPECT_THAT(around_->err(), HasSubstr("pg_restore -f -"));
  EXPECT_EQ(audit({"--dump", folder_.file("none.sql")}), exit_code::usage);
}

TEST_F(audit_dump, finds_what_the_living_journal_finds) {
  ATONE_NEED_POSTGRES();
  auto& server = postgres_server::shared();
  auto const store = server.address(server.make_database());
  run_sagas(store);
  orders_.send("DELETE", "/orders/1", "", {ids_.front(), "order", "compensate"});
  orders_.send("POST", "/orders", order_body(5000), {saga(1), "order"});
  ASSERT_EQ(audit({}), exit_code::negative) << around_->out() << around_->err();
  auto const living = around_->out();
  EXPECT_THAT(living, HasSubstr("undone_when_completed"));
  EXPECT_THAT(living, HasSubstr("\"orphans\":1"));
  auto const dump = kept("day.sql", server.output_of("pg_dump", {store}));
  EXPECT_EQ(audit({"--dump", dump}), exit_code::negative) << around_->err();
  EXPECT_EQ(around_->out(), living);

  orders_.send("POST", "/orders", order_body(5001), {saga_of_the_future(), "order"});
  EXPECT_EQ(audit({"--dump", dump}), exit_code::negative);
  EXPECT_THAT(around_->out(), HasSubstr("\"orphans\":1")) << "it may have begun after the dump";
  EXPECT_THAT(around_->out(), HasSubstr("\"began_later\":1"));
  ASSERT_EQ(audit({}), exit_code::negative);
  EXPECT_THAT(around_->out(), HasSubstr("\"orphans\":2")) << "the living journal knows all";
}

// A definition's text that was changed in the file would change what is expected of each step.
TEST_F(audit_dump, definitions_are_known_by_their_content) {
  ATONE_NEED_POSTGRES();
  auto& server = postgres_server::shared();
  auto const store = server.address(server.make_database());
  run_sagas(store);
  auto const text = server.output_of("pg_dump", {store});
  auto const service = "orders=" + orders_.url();
  auto changed = text;
  auto const at = changed.find("shard_key: =input.order_id % 3");
  ASSERT_NE(at, std::string::npos);
  changed[at + std::string_view{"shard_key: =input.order_id % "}.size()] = '5';
  EXPECT_EQ(static_cast<int>(audit({"--service", service, "--dump", kept("changed.sql", changed)})), 2) << around_->out();
  EXPECT_THAT(around_->out(), testing::AllOf(HasSubstr("definition_missing"), HasSubstr("\"proven\":0")));

  auto const hash = atone::load_definition(definition_at(orders_.url())).definition->ref.hash.text();
  auto other = text;
  other.replace(other.find(hash), hash.size(), std::string(hash.size(), 'a'));  // of the definition's row, which comes first
  EXPECT_EQ(static_cast<int>(audit({"--service", service, "--dump", kept("other.sql", other)})), 2) << around_->out();
  EXPECT_THAT(around_->out(), testing::AllOf(HasSubstr("definition_missing"), HasSubstr("\"proven\":0")));
}

TEST_F(audit_dump, of_an_sqlite_file_is_a_copy_of_it) {
  run_sagas("sqlite:" + folder_.file("sagas.db"));
  ASSERT_EQ(audit({}), exit_code::done) << around_->out() << around_->err();
  auto const living = around_->out();
  daemon_->signal(SIGTERM);
  daemon_->wait();
  std::filesystem::copy_file(folder_.file("sagas.db"), folder_.file("copy.db"));
  EXPECT_EQ(audit({"--dump", folder_.file("copy.db")}), exit_code::done) << around_->err();
  EXPECT_EQ(around_->out(), living);
  std::filesystem::resize_file(folder_.file("copy.db"), 3 * 4096);
  EXPECT_EQ(audit({"--dump", folder_.file("copy.db")}), exit_code::internal) << around_->out();
}

}  // namespace
}  // namespace examples_test
