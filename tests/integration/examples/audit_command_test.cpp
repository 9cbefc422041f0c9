// atone audit from end to end but for the daemon, which is a table of answers: order of reading, paging, what is set aside.
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/json.hpp>
#include <atone/load.hpp>

#include "cli/audit_command.hpp"
#include "demo_support.hpp"
#include "orders/orders.hpp"
#include "services_support.hpp"

namespace examples_test {
namespace {

using atone::cli::exit_code;
using testing::HasSubstr;
using testing::Not;

std::string const yaml = R"(saga: one-order
version: 1
input: {type: object, required: [order_id], properties: {order_id: {type: integer}}}
services: {orders: {http: "ORDERS_URL"}}
steps:
  - id: order
    call: orders POST /orders
    in: {order_id: =input.order_id}
    compensate: {call: "orders DELETE /orders/{order_id}", in: {order_id: =input.order_id}}
)";

// A daemon that knows some sagas.
class daemon_double {
 public:
  explicit daemon_double(std::string orders_url)
      : orders_url_(std::move(orders_url)), server_([this](auto const& what) { return answer(what); }) {}

  std::string url() const { return server_.url(); }
  void knows(std::string id, std::string status, std::vector<std::string> events) {
    std::lock_guard const held{guard_};
    sagas_[std::move(id)] = saga_known{std::move(status), std::move(events)};
  }
  // Its sagas were started with another text of that version.
  void forget_definition() {
    std::lock_guard const held{guard_};
    hash_ = atone::content_hash::of("another").text();
  }
  std::size_t lists() const { return lists_; }

 private:
  struct saga_known {
    std::string status;
    std::vector<std::string> events;
  };

  atone::http::response answer(atone::http::request const& what) {
    std::lock_guard const held{guard_};
    auto const target = *atone::http::parse_target(what.target);
    if (target.path == "/v1/sagas") return list(target);
    if (target.path.starts_with("/v1/definitions/")) return definition();
    if (target.path == "/v1/stats") return atone::http::response{200, R"({"retention":{"deleted":0}})"};
    auto const rest = target.path.substr(std::string_view{"/v1/sagas/"}.size());
    auto const slash = rest.find('/');
    auto const found = sagas_.find(rest.substr(0, slash));
    if (found == sagas_.end()) return atone::http::response{404, R"({"error":{"message":"no such saga"}})"};
    return slash == std::string::npos ? atone::http::response{200, row(*found)} : history(found->second);
  }

  std::string row(std::pair<std::string const, saga_known> const& of) const {
    return R"({"id":")" + of.first + R"(","saga":"one-order","version":1,"definition_hash":")" + hash_ + R"(","status":")" +
           of.second.status + "\"}";
  }

  // Newest first, paged by `before`.
  atone::http::response list(atone::http::split_target const& target) {
    ++lists_;
    std::map<std::string, std::string> query{target.query.begin(), target.query.end()};
    std::string rows;
    std::size_t count = 0;
    for (auto at = sagas_.rbegin(); at != sagas_.rend() && count < std::stoul(query["limit"]); ++at) {
      bool const other = !query["status"].empty() && at->second.status != query["status"];
      if (other || (!query["before"].empty() && at->first >= query["before"])) continue;
      rows += (rows.empty() ? "" : ",") + row(*at);
      ++count;
    }
    return atone::http::response{200, "{\"sagas\":[" + rows + "]}"};
  }

  std::string definition_text() const {
    auto text = yaml;
    return text.replace(text.find("ORDERS_URL"), 10, orders_url_);
  }
  atone::http::response definition() const {
    atone::json::writer to;
    to.begin_object().key("text").string(definition_text()).end_object();
    return atone::http::response{200, to.take()};
  }

  static atone::http::response history(saga_known const& of) {
    std::string rows = R"({"seq":1,"kind":"started"})";
    int seq = 1;
    for (auto const& each : of.events) {
      rows += ",{\"seq\":" + std::to_string(seq + 1) + ",\"cause\":" + std::to_string(seq) + "," + each + "}";
      ++seq;
    }
    return atone::http::response{200, "{\"events\":[" + rows + "]}"};
  }

  std::string orders_url_;
  std::string hash_ = atone::load_definition(definition_text()).definition->ref.hash.text();
  std::mutex guard_;
  std::map<std::string, saga_known> sagas_;
  std::atomic<std::size_t> lists_{0};
  scripted_server server_;
};

std::string const done = R"("kind":"step_succeeded","step":"order","op":"do","status":200)";
std::string const undone = R"("kind":"step_succeeded","step":"order","op":"compensate","status":200)";

class audit_command : public testing::Test {
 protected:
  void create(std::uint8_t number) { orders.send("POST", "/orders", order_body(number), {saga(number), "order"}); }
  void cancel(std::uint8_t number) {
    orders.send("DELETE", "/orders/" + std::to_string(number), "", {saga(number), "order", "compensate"});
  }
  exit_code audit(std::vector<std::string> flags = {}) {
    around = std::make_unique<world>(daemon.url());
    flags.insert(flags.begin(), "audit");
    return around->run(std::move(flags));
  }
  std::string out() const { return around->out(); }

  service_under_test orders{orders::define()};
  daemon_double daemon{orders.url()};
  std::unique_ptr<world> around;
};

TEST_F(audit_command, clean_sagas_are_proven) {
  create(1);
  daemon.knows(saga(1), "completed", {done});
  create(2);
  cancel(2);
  daemon.knows(saga(2), "compensated", {done, undone});
  EXPECT_EQ(audit(), exit_code::done) << out() << around->err();
  EXPECT_THAT(out(), HasSubstr("2 sagas against 1 services: proven 2   violated 0"));
}

TEST_F(audit_command, a_lost_effect_is_found) {
  daemon.knows(saga(1), "completed", {done});
  EXPECT_EQ(audit(), exit_code::negative);
  EXPECT_THAT(out(), HasSubstr("VIOLATED"));
  EXPECT_THAT(out(), HasSubstr(saga(1)));
}

TEST_F(audit_command, a_forgotten_compensation_is_found) {
  create(1);
  daemon.knows(saga(1), "compensated", {done, undone});
  EXPECT_EQ(audit(), exit_code::negative);
  EXPECT_THAT(out(), HasSubstr("its effect stands"));
}

TEST_F(audit_command, a_definition_that_is_not_the_saga_s_judges_nothing) {
  create(1);
  daemon.knows(saga(1), "completed", {done});
  daemon.forget_definition();
  auto const ended = audit({"--service", "orders=" + orders.url(), "-o", "json"});
  EXPECT_EQ(static_cast<int>(ended), 2) << out() << around->err();
  EXPECT_THAT(out(), HasSubstr("definition_missing"));
}

TEST_F(audit_command, an_effect_of_an_unknown_saga_is_found) {
  create(1);
  create(2);
  daemon.knows(saga(1), "completed", {done});
  EXPECT_EQ(audit(), exit_code::negative);
  EXPECT_THAT(out(), HasSubstr("effects of unknown sagas 1"));
  EXPECT_THAT(out(), HasSubstr(saga(2)));
}

TEST_F(audit_command, sagas_under_way_are_set_aside) {
  create(1);
  create(2);
  create(3);
  daemon.knows(saga(1), "completed", {done});
  daemon.knows(saga(2), "running", {});
  daemon.knows(saga(3), "parked", {done});
  EXPECT_EQ(audit(), exit_code::done) << out();
  EXPECT_THAT(out(), HasSubstr("under way 1   parked 1"));
}

TEST_F(audit_command, a_saga_that_is_in_no_list_is_asked_for_by_its_id) {
  create(1);
  create(2);
  daemon.knows(saga(1), "completed", {done});
  daemon.knows(saga(2), "between two lists", {});
  EXPECT_EQ(audit(), exit_code::done) << out();
}

TEST_F(audit_command, nothing_to_check_is_no_success) {
  EXPECT_EQ(static_cast<int>(audit({"--service", "orders=" + orders.url()})), 2);
  EXPECT_THAT(out(), HasSubstr("nothing was checked"));
}

TEST_F(audit_command, long_lists_are_read_to_their_end) {
  for (int number = 0; number < 2300; ++number) {
    atone::saga_id::bytes bytes{};
    bytes[0] = 1;
    bytes[14] = static_cast<std::uint8_t>(number >> 8);
    bytes[15] = static_cast<std::uint8_t>(number);
    daemon.knows(atone::saga_id{bytes}.text(), "compensated", {});
  }
  EXPECT_EQ(audit(), exit_code::done) << around->err();
  EXPECT_THAT(out(), HasSubstr("proven 2,300"));
}

// Minutes apart: ids begin with the time.
std::string saga_at_minute(std::uint8_t minute) {
  atone::saga_id::bytes bytes{};
  bytes[0] = 1;
  bytes[3] = minute;  // of 65.5 s
  return atone::saga_id{bytes}.text();
}

TEST_F(audit_command, a_scheduled_one_goes_on_where_the_last_one_stopped) {
  temporary_folder const folder;
  auto const state = folder.file("audit.state");
  auto const create_at = [&](std::uint8_t minute) {
    orders.send("POST", "/orders", order_body(minute), {saga_at_minute(minute), "order"});
  };
  for (std::uint8_t const minute : {1, 2, 5}) {
    create_at(minute);
    daemon.knows(saga_at_minute(minute), minute == 2 ? "running" : "completed", {done});
  }
  EXPECT_EQ(audit({"--state", state}), exit_code::done) << out() << around->err();
  EXPECT_THAT(out(), HasSubstr("proven 2"));
  create_at(9);
  daemon.knows(saga_at_minute(9), "completed", {done});
  daemon.knows(saga_at_minute(2), "completed", {done});
  daemon.knows(saga_at_minute(1), "compensated", {done, undone});  // what was judged is not looked at again
  EXPECT_EQ(audit({"--state", state}), exit_code::done) << out() << around->err();
  EXPECT_THAT(out(), HasSubstr("proven 3")) << "the open one, the new one, and what was too young to be sure of";
  EXPECT_EQ(audit({"--state", state}), exit_code::done);
  EXPECT_THAT(out(), HasSubstr("proven 1"));
  EXPECT_EQ(audit(), exit_code::negative) << "a whole audit looks at everything";
}

TEST_F(audit_command, a_state_file_that_is_none_is_refused) {
  temporary_folder const folder;
  auto const state = folder.file("audit.state");
  for (auto const* text :
       {"", "[]", "{}", R"({"judged_up_to": "x", "open": []})", R"({"judged_up_to": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "open": [7]})"}) {
    std::ofstream{state} << text;
    EXPECT_EQ(static_cast<int>(audit({"--state", state})), static_cast<int>(exit_code::usage)) << text;
    EXPECT_THAT(around->err(), HasSubstr("expected what `atone audit --state` wrote")) << text;
  }
}

TEST_F(audit_command, json_for_programs) {
  create(1);
  daemon.knows(saga(1), "completed", {done});
  EXPECT_EQ(audit({"-o", "json"}), exit_code::done);
  auto const read = atone::json::parse(out());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->find("verdict")->as_string(), "proven");
}

TEST_F(audit_command, several_services_are_read) {
  create(1);
  daemon.knows(saga(1), "completed", {done});
  service_under_test second{orders::define()};
  EXPECT_EQ(audit({"--service", "orders=" + orders.url(), "--service", "other=" + second.url()}), exit_code::done) << around->err();
  EXPECT_THAT(out(), HasSubstr("against 2 services"));
}

TEST_F(audit_command, a_participant_that_can_not_be_read_is_named) {
  create(1);
  daemon.knows(saga(1), "completed", {done});
  orders.running().stop();
  EXPECT_EQ(audit(), exit_code::unavailable);
  EXPECT_THAT(around->err(), HasSubstr("service 'orders'"));
  scripted_server deaf{[](auto const&) { return atone::http::response{404, "{}"}; }};
  EXPECT_EQ(audit({"--service", "orders=" + deaf.url()}), exit_code::unavailable);
  EXPECT_THAT(around->err(), HasSubstr("404"));
}

TEST_F(audit_command, a_listing_without_an_end_is_noticed) {
  scripted_server endless{[](auto const&) { return atone::http::response{200, R"({"effects":[],"next":"again"})"}; }};
  daemon.knows(saga(1), "completed", {done});
  EXPECT_EQ(audit({"--service", "orders=" + endless.url()}), exit_code::internal);
  EXPECT_THAT(around->err(), HasSubstr("has no end"));
}

TEST(audit_sources, mistakes_are_named) {
  for (auto const* typed : {"orders", "=http://x", "orders=", "orders=127.0.0.1:7001", "orders=http://"}) {
    auto const read = atone::cli::parse_sources({typed});
    ASSERT_FALSE(read.has_value()) << typed;
    EXPECT_THAT(read.error().message, HasSubstr(typed));
  }
  EXPECT_THAT(atone::cli::parse_sources({"a=http://x", "a=http://y"}).error().message, HasSubstr("named twice"));
  EXPECT_EQ(atone::cli::parse_sources({"a=http://x/"})->front().url, "http://x");
}

}  // namespace
}  // namespace examples_test
