// The library as its users hold it: real threads, a real file, handlers that fail in every way.
#include <atomic>
#include <filesystem>
#include <future>
#include <mutex>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <atone/asio.hpp>
#include <atone/coordinator.hpp>

namespace atone {
namespace {

using ::testing::HasSubstr;

std::string const two_steps = R"(saga: two
version: 1
input: {type: object, required: [amount], properties: {amount: {type: integer, minimum: 1}}}
services: {shop: {local: shop}}
defaults:
  retry: {attempts: 3, delay: 1ms, jitter: none}
  compensate: {attempts: 3, delay: 1ms, jitter: none}
steps:
  - id: charge
    call: shop charge
    in: {amount: =input.amount}
    compensate: {call: shop refund, in: {amount: =input.amount}}
  - id: ship
    call: shop ship
    in: {}
    compensate: {call: shop unship, in: {}}
output: {receipt: =steps.charge.out.receipt}
)";

// A folder of its own, gone at the end.
class scratch {
 public:
  scratch() {
    auto pattern = (std::filesystem::temp_directory_path() / "atone-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~scratch() { std::filesystem::remove_all(path_); }
  std::string store() const { return "sqlite:" + path_ + "/sagas.db"; }

 private:
  std::string path_;
};

struct shop {
  std::atomic<int> charged{0}, refunded{0}, shipped{0}, unshipped{0};
  std::function<answer(call const&)> ship = [](call const&) { return done(); };

  void bind(coordinator& to) {
    to.handle("shop", "charge", [this](call const&) {
      ++charged;
      return done(R"({"receipt": 9007199254740993})");
    });
    to.handle("shop", "refund", [this](call const&) {
      ++refunded;
      return done();
    });
    to.handle("shop", "ship", [this](call const& asked) {
      ++shipped;
      return ship(asked);
    });
    to.handle("shop", "unship", [this](call const&) {
      ++unshipped;
      return done();
    });
  }
};

std::unique_ptr<coordinator> open(std::string const& store, shop& with) {
  auto opened = coordinator::open(options{store});
  if (!opened) throw std::runtime_error{opened.error().message};
  with.bind(**opened);
  auto const published = (*opened)->publish(two_steps);
  if (!published) throw std::runtime_error{published.error().message};
  if (auto const running = (*opened)->run(); !running) throw std::runtime_error{running.error().message};
  return std::move(*opened);
}

TEST(library, completes) {
  scratch folder;
  shop with;
  auto const sagas = open(folder.store(), with);
  auto const outcome = sagas->run("two", business_key{"order-1"}, R"({"amount": 990})");
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_TRUE(outcome->completed());
  EXPECT_EQ(outcome->row.output, R"({"receipt":9007199254740993})");
  EXPECT_EQ(with.charged + with.shipped, 2);
}

TEST(library, refusal_compensates_and_keeps_its_words) {
  scratch folder;
  shop with;
  with.ship = [](call const&) { return refused("no truck – größer"); };
  auto const sagas = open(folder.store(), with);
  auto const outcome = sagas->run("two", business_key{"order-1"}, R"({"amount": 990})");
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->row.status, saga_status::compensated);
  EXPECT_THAT(outcome->row.cause, HasSubstr("no truck – größer"));
  EXPECT_EQ(with.refunded, 1);
  EXPECT_EQ(with.unshipped, 0);
}

TEST(library, a_throwing_handler_is_unknown_and_compensated) {
  scratch folder;
  shop with;
  with.ship = [](call const&) -> answer { throw std::runtime_error{"engine on fire"}; };
  auto const sagas = open(folder.store(), with);
  auto const outcome = sagas->run("two", business_key{"order-1"}, R"({"amount": 990})");
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->row.status, saga_status::compensated);
  EXPECT_THAT(outcome->row.cause, HasSubstr("engine on fire"));
  EXPECT_EQ(with.shipped, 3);
  EXPECT_EQ(with.unshipped, 1);
  EXPECT_EQ(with.refunded, 1);
}

// B-03, B-04: 200 starts of one key at once are one saga; the same again later is a replay; another body is a conflict.
TEST(library, b03_b04_one_key_is_one_saga) {
  scratch folder;
  shop with;
  auto const sagas = open(folder.store(), with);
  start_request what;
  what.saga = "two";
  what.key = business_key{"order-1"};
  what.input = R"({"amount": 990})";
  std::vector<std::future<result<started>>> starts;
  for (int n = 0; n < 200; ++n) {
    auto promise = std::make_shared<std::promise<result<started>>>();
    starts.push_back(promise->get_future());
    sagas->async_start(what, [promise](result<started> outcome) { promise->set_value(std::move(outcome)); });
  }
  std::set<saga_id> ids;
  int fresh = 0;
  for (auto& one : starts) {
    auto const outcome = one.get();
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    ids.insert(outcome->id);
    fresh += outcome->replayed ? 0 : 1;
  }
  EXPECT_EQ(ids.size(), 1U);
  EXPECT_EQ(fresh, 1);
  ASSERT_TRUE(sagas->wait(*ids.begin(), std::chrono::seconds{20}).has_value());
  auto const again = sagas->start(what);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->id, *ids.begin());
  EXPECT_EQ(with.charged, 1);
  what.input = R"({ "amount" : 990 })";  // the same data, written otherwise
  EXPECT_TRUE(sagas->start(what).has_value());
  what.input = R"({"amount": 991})";
  auto const other = sagas->start(what);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, errc::conflict);
}

TEST(library, bad_starts_are_refused_by_name) {
  scratch folder;
  shop with;
  auto const sagas = open(folder.store(), with);
  start_request what;
  what.saga = "nobody";
  EXPECT_EQ(sagas->start(what).error().code, errc::not_found);
  what.saga = "two";
  what.input = "{";
  EXPECT_EQ(sagas->start(what).error().code, errc::invalid_argument);
  what.input = R"({"amount": 0})";
  auto const refused_start = sagas->start(what);
  EXPECT_EQ(refused_start.error().code, errc::invalid_argument);
  EXPECT_THAT(refused_start.error().message, HasSubstr("/amount"));
  EXPECT_EQ(sagas->get(saga_id{}).error().code, errc::not_found);
}

// Stopped in the middle, opened again: it goes on, and what was done is not done twice under another key.
TEST(library, goes_on_after_a_restart) {
  scratch folder;
  saga_id id;
  std::set<std::string> keys;
  std::mutex lock;
  {
    shop first;
    first.ship = [&](call const& asked) {
      std::lock_guard const held{lock};
      keys.insert(asked.idempotency_key());
      return unavailable("closed");
    };
    auto opened = coordinator::open(options{folder.store()});
    ASSERT_TRUE(opened.has_value());
    first.bind(**opened);
    auto patient = two_steps;
    patient.replace(patient.find("attempts: 3, delay: 1ms, jitter: none}\n  comp"), 38, "delay: 20ms, factor: 1, jitter: none}");
    ASSERT_TRUE((*opened)->publish(patient).has_value());
    ASSERT_TRUE((*opened)->run().has_value());
    start_request what;
    what.saga = "two";
    what.key = business_key{"order-1"};
    what.input = R"({"amount": 990})";
    auto const begun = (*opened)->start(what);
    ASSERT_TRUE(begun.has_value()) << begun.error().message;
    id = begun->id;
    auto const seen = (*opened)->wait(id, std::chrono::milliseconds{100});
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(seen->row.status, saga_status::running);
  }
  shop second;
  second.ship = [&](call const& asked) {
    std::lock_guard const held{lock};
    keys.insert(asked.idempotency_key());
    return done();
  };
  auto reopened = coordinator::open(options{folder.store()});
  ASSERT_TRUE(reopened.has_value()) << reopened.error().message;
  second.bind(**reopened);
  ASSERT_TRUE((*reopened)->run().has_value());
  auto const outcome = (*reopened)->wait(id, std::chrono::seconds{20});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->completed());
  EXPECT_EQ(second.charged, 0);
  EXPECT_EQ(keys.size(), 1U);
}

// Replies that come later, from elsewhere, and in another order, while there is one thread for handlers.
TEST(library, a_handler_may_answer_later_from_any_thread) {
  options with{"memory:"};
  with.handler_threads = 1;
  auto const opened = coordinator::open(with);
  ASSERT_TRUE(opened);
  auto& sagas = **opened;
  shop handlers;
  handlers.bind(sagas);
  std::mutex guard;
  std::vector<std::function<void(answer)>> owed;
  std::promise<void> all_here;
  sagas.handle_async("shop", "ship", [&](call const&, std::function<void(answer)> reply) {
    std::lock_guard const held{guard};
    owed.push_back(std::move(reply));
    if (owed.size() == 3) all_here.set_value();
  });
  ASSERT_TRUE(sagas.publish(two_steps));
  ASSERT_TRUE(sagas.run());
  std::vector<saga_id> begun;
  for (int n = 0; n < 3; ++n) {
    start_request what;
    what.saga = "two";
    what.input = R"({"amount": 1})";
    begun.push_back(sagas.start(what)->id);
  }
  ASSERT_EQ(all_here.get_future().wait_for(std::chrono::seconds{20}), std::future_status::ready) << "one that waits holds no thread";
  std::reverse(owed.begin(), owed.end());
  for (auto const& reply : owed) {
    reply(done());
    reply(refused("the first answer counts"));
  }
  for (auto const id : begun) EXPECT_TRUE(sagas.wait(id, std::chrono::seconds{20})->completed());
}

TEST(library, a_reply_that_is_dropped_is_unknown_and_compensated) {
  auto const opened = coordinator::open(options{"memory:"});
  ASSERT_TRUE(opened);
  auto& sagas = **opened;
  shop handlers;
  handlers.bind(sagas);
  sagas.handle_async("shop", "ship", [](call const&, auto const&) {});
  ASSERT_TRUE(sagas.publish(two_steps));
  ASSERT_TRUE(sagas.run());
  auto const ended = sagas.run("two", business_key{}, R"({"amount": 1})");
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->row.status, saga_status::compensated);
  EXPECT_THAT(ended->row.cause, HasSubstr("let go of its reply"));
  EXPECT_EQ(handlers.unshipped, 1) << "it may have been done";
}

TEST(library, a_stop_waits_for_a_reply_that_is_owed) {
  auto const opened = coordinator::open(options{"memory:"});
  ASSERT_TRUE(opened);
  auto& sagas = **opened;
  shop handlers;
  handlers.bind(sagas);
  std::promise<std::function<void(answer)>> owed;
  sagas.handle_async("shop", "ship", [&](call const&, std::function<void(answer)> reply) { owed.set_value(std::move(reply)); });
  ASSERT_TRUE(sagas.publish(two_steps));
  ASSERT_TRUE(sagas.run());
  start_request what;
  what.saga = "two";
  what.input = R"({"amount": 1})";
  ASSERT_TRUE(sagas.start(what));
  auto reply = owed.get_future().get();
  auto stopping = std::async(std::launch::async, [&] { sagas.stop(duration{0}); });
  EXPECT_EQ(stopping.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  reply(done());
  EXPECT_EQ(stopping.wait_for(std::chrono::seconds{20}), std::future_status::ready);
}

TEST(library, a_missing_handler_makes_the_saga_wait) {
  scratch folder;
  auto opened = coordinator::open(options{folder.store()});
  ASSERT_TRUE(opened.has_value());
  auto& sagas = **opened;
  ASSERT_TRUE(sagas.publish(two_steps).has_value());
  ASSERT_TRUE(sagas.run().has_value());
  start_request what;
  what.saga = "two";
  what.input = R"({"amount": 990})";
  auto const begun = sagas.start(what);
  ASSERT_TRUE(begun.has_value());
  shop with;
  with.bind(sagas);
  auto const outcome = sagas.wait(begun->id, std::chrono::seconds{20});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->completed());
}

TEST(library, operators_park_skip_and_see_who_did_what) {
  scratch folder;
  shop with;
  with.ship = [](call const&) { return refused("no truck"); };
  auto const sagas = open(folder.store(), with);
  sagas->handle("shop", "refund", [](call const&) { return refused("the till is closed"); });
  auto const parked = sagas->run("two", business_key{"order-1"}, R"({"amount": 990})");
  ASSERT_TRUE(parked.has_value());
  EXPECT_EQ(parked->row.status, saga_status::parked);
  ASSERT_EQ(parked->parked.size(), 1U);
  EXPECT_EQ(parked->parked[0].text(), "charge");
  operator_request what;
  what.action = operator_request::action_kind::skip;
  what.saga = parked->row.id;
  what.actor = "alice";
  EXPECT_EQ(sagas->act(what).error().code, errc::invalid_argument);  // without a note
  what.note = "refunded by hand";
  ASSERT_TRUE(sagas->act(what).has_value());
  auto const ended = sagas->wait(parked->row.id, std::chrono::seconds{20});
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->row.status, saga_status::compensated);
  EXPECT_EQ(sagas->act(what).error().code, errc::conflict);
  auto const read = sagas->read([&](journal_reader& in) -> result<void> {
    auto const actions = in.actions(parked->row.id);
    if (!actions) return actions.error();
    EXPECT_EQ(actions->size(), 2U);
    EXPECT_EQ(actions->back().outcome, "done");
    EXPECT_EQ(actions->back().actor, "alice");
    auto const alerts = in.alerts(10);
    if (!alerts) return alerts.error();
    EXPECT_EQ(alerts->size(), 1U);
    return {};
  });
  EXPECT_TRUE(read.has_value());
}

TEST(library, sql_step_is_in_the_same_transaction) {
  scratch folder;
  auto opened = coordinator::open(options{folder.store()});
  ASSERT_TRUE(opened.has_value());
  auto& sagas = **opened;
  auto const published = sagas.publish(R"yaml(saga: ledger
version: 1
services: {shop: {local: shop}}
steps:
  - id: make
    sql: "create table if not exists own_ledger(who text primary key, amount integer)"
    in: {}
    compensate: {sql: "select 1", in: {}}
  - id: book
    sql: "insert into own_ledger(who, amount) values (:who, :amount) returning who, amount"
    in: {who: =input.who, amount: =input.amount}
    compensate: {sql: "delete from own_ledger where who = :who", in: {who: =input.who}}
output: =steps.book.out
)yaml");
  ASSERT_TRUE(published.has_value()) << published.error().message;
  ASSERT_TRUE(sagas.run().has_value());
  auto const first = sagas.run("ledger", business_key{"a"}, R"({"who": "ann", "amount": 9007199254740993})");
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_TRUE(first->completed()) << first->row.cause;
  EXPECT_THAT(first->row.output, HasSubstr("9007199254740993"));
  auto const second = sagas.run("ledger", business_key{"b"}, R"({"who": "ann", "amount": 1})");
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->row.status, saga_status::compensated);
  EXPECT_THAT(second->row.cause, HasSubstr("book refused"));
}

TEST(library, asio_tokens) {
  scratch folder;
  shop with;
  auto const sagas = open(folder.store(), with);
  boost::asio::io_context io;
  auto const body = [&]() -> boost::asio::awaitable<saga_status> {
    auto outcome = co_await async_run(*sagas, "two", business_key{"order-7"}, R"({"amount": 1})", boost::asio::use_awaitable);
    co_return outcome ? outcome->row.status : saga_status::parked;
  };
  auto told = boost::asio::co_spawn(io, body(), boost::asio::use_future);
  io.run();
  EXPECT_EQ(told.get(), saga_status::completed);
}

TEST(library, a_second_process_or_opener_is_refused_while_the_first_is_alive) {
  scratch folder;
  shop with;
  auto const sagas = open(folder.store(), with);
  EXPECT_TRUE(sagas->check_writable().has_value());
  EXPECT_TRUE(sagas->figures().writable);
}

// B-39, B-40: a running saga stays with the text it was started with, its compensations included; a published version never changes.
TEST(library, b39_b40_a_running_saga_keeps_its_definition) {
  scratch folder;
  shop with;
  std::promise<void> reached;
  std::promise<void> go_on;
  auto const may_go_on = go_on.get_future().share();
  with.ship = [&](call const&) {
    reached.set_value();
    may_go_on.wait();
    return refused("no truck");
  };
  auto const sagas = open(folder.store(), with);
  std::atomic<int> new_refunds{0};
  sagas->handle("shop", "new_refund", [&](call const&) {
    ++new_refunds;
    return done();
  });
  start_request what;
  what.saga = "two";
  what.input = R"({"amount": 1})";
  auto const begun = sagas->start(what);
  ASSERT_TRUE(begun.has_value());
  reached.get_future().wait();
  auto changed = two_steps;
  changed.replace(changed.find("call: shop refund"), 17, "call: shop new_refund");
  auto const same_version = sagas->publish(changed);
  ASSERT_FALSE(same_version.has_value());
  EXPECT_EQ(same_version.error().code, errc::conflict);
  changed.replace(changed.find("version: 1"), 10, "version: 2");
  ASSERT_TRUE(sagas->publish(changed).has_value());
  go_on.set_value();
  auto const old_run = sagas->wait(begun->id, std::chrono::seconds{20});
  ASSERT_TRUE(old_run.has_value());
  EXPECT_EQ(old_run->row.status, saga_status::compensated);
  EXPECT_EQ(with.refunded, 1);
  EXPECT_EQ(new_refunds, 0);
  with.ship = [](call const&) { return refused("no truck"); };
  auto const new_run = sagas->run("two", business_key{}, R"({"amount": 1})");
  ASSERT_TRUE(new_run.has_value());
  EXPECT_EQ(new_run->row.definition.version.value(), 2U);
  EXPECT_EQ(new_refunds, 1);
}

// B-43: state that grows, and a very long error text: kept whole, or cut with a mark.
TEST(library, b43_large_payloads_and_long_errors) {
  scratch folder;
  shop with;
  std::string const large(1024 * 1024, 'x');
  with.ship = [&](call const&) { return refused(large); };
  auto const sagas = open(folder.store(), with);
  sagas->handle("shop", "charge", [&](call const&) { return done(R"({"receipt": ")" + large + R"("})"); });
  auto const view = sagas->run("two", business_key{}, R"({"amount": 1})");
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->row.status, saga_status::compensated);
  EXPECT_LT(view->row.cause.size(), 8192U);
  EXPECT_THAT(view->row.cause, HasSubstr("cut, 1048576 bytes"));
  with.ship = [](call const&) { return done(); };
  auto const whole = sagas->run("two", business_key{}, R"({"amount": 1})");
  ASSERT_TRUE(whole.has_value());
  EXPECT_TRUE(whole->completed());
  EXPECT_EQ(whole->row.output, R"({"receipt":")" + large + R"("})");
}

// B-19, B-62: what comes for a saga that is not there makes nothing; an action done twice is refused the second time.
TEST(library, b19_b62_nothing_is_made_or_done_twice) {
  scratch folder;
  shop with;
  auto const sagas = open(folder.store(), with);
  saga_id const nobody = *saga_id::parse("01JDZ4M6GQ5V7Y8N2W3X4R5T6K");
  std::promise<result<void>> told;
  sagas->async_report(nobody, step_path{"charge"}, operation::act, attempt{1}, "token", 200, "{}",
                      [&](result<void> outcome) { told.set_value(outcome); });
  EXPECT_FALSE(told.get_future().get().has_value());
  operator_request cancel;
  cancel.saga = nobody;
  EXPECT_EQ(sagas->act(cancel).error().code, errc::not_found);
  auto const view = sagas->run("two", business_key{"k"}, R"({"amount": 1})");
  ASSERT_TRUE(view.has_value());
  cancel.saga = view->row.id;
  EXPECT_EQ(sagas->act(cancel).error().code, errc::conflict);
  EXPECT_EQ(sagas->act(cancel).error().code, errc::conflict);
  auto const read = sagas->read([](journal_reader& in) -> result<void> {
    auto const rows = in.list(saga_filter{});
    if (!rows) return rows.error();
    EXPECT_EQ(rows->size(), 1U);
    return {};
  });
  EXPECT_TRUE(read.has_value());
}

TEST(library, stopping_answers_whoever_still_waits) {
  scratch folder;
  auto opened = coordinator::open(options{folder.store()});
  ASSERT_TRUE(opened.has_value());
  auto& sagas = **opened;
  ASSERT_TRUE(sagas.publish(two_steps).has_value());
  ASSERT_TRUE(sagas.run().has_value());
  start_request what;
  what.saga = "two";
  what.input = R"({"amount": 1})";
  auto const begun = sagas.start(what);  // no handler: it waits
  ASSERT_TRUE(begun.has_value());
  std::promise<result<saga_view>> told;
  sagas.async_wait(begun->id, std::chrono::hours{1}, [&](result<saga_view> outcome) { told.set_value(std::move(outcome)); });
  sagas.stop(std::chrono::milliseconds{10});
  auto const outcome = told.get_future().get();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, errc::unavailable);
  EXPECT_EQ(sagas.get(begun->id).error().code, errc::unavailable);
  EXPECT_EQ(sagas.start(what).error().code, errc::unavailable);
  EXPECT_EQ(sagas.publish(two_steps).error().code, errc::unavailable);
  EXPECT_EQ(sagas.read([](journal_reader&) { return result<void>{}; }).error().code, errc::unavailable);
  errc asked = errc::internal;
  sagas.async_get(begun->id, [&](result<saga_view> late) { asked = late.error().code; });
  EXPECT_EQ(asked, errc::unavailable);
}

// Whoever calls while it stops is told something, whichever way the race goes.
TEST(library, calls_that_race_the_stop_are_all_answered) {
  for (int round = 0; round < 20; ++round) {
    scratch folder;
    shop here;
    auto sagas = open(folder.store(), here);
    std::atomic<bool> over{false};
    std::atomic<int> asked{0}, answered{0};
    std::thread callers{[&] {
      while (!over.load()) {
        ++asked;
        sagas->async_get(saga_id{}, [&](result<saga_view>) { ++answered; });
        (void)sagas->read([](journal_reader&) { return result<void>{}; });
        start_request what;
        what.saga = "two";
        what.input = R"({"amount": 1})";
        (void)sagas->start(std::move(what));
      }
    }};
    sagas->stop(std::chrono::milliseconds{50});
    over = true;
    callers.join();
    EXPECT_EQ(asked.load(), answered.load());
  }
}

TEST(library, a_saga_that_has_ended_says_so_to_every_action) {
  scratch folder;
  shop here;
  auto const sagas = open(folder.store(), here);
  auto const view = sagas->run("two", business_key{}, R"({"amount": 1})", std::chrono::seconds{20});
  ASSERT_TRUE(view.has_value());
  operator_request what;
  what.saga = view->row.id;
  what.action = operator_request::action_kind::skip;
  what.step = step_path{"charge"};
  what.actor = "ops";
  what.note = "late";
  auto const told = sagas->act(what);
  ASSERT_FALSE(told.has_value());
  EXPECT_EQ(told.error().code, errc::conflict);
  EXPECT_THAT(told.error().message, HasSubstr("has ended"));
}

}  // namespace
}  // namespace atone
