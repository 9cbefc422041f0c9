// Every fault of the proxy against real sockets: what the client sees, what the target sees, and what is left once it is healed.
#include <poll.h>

#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drill/proxy/fault_proxy.hpp"
#include "http_scripted_peer.hpp"
#include "pace.hpp"

namespace atone::drill {
namespace {

using namespace std::chrono_literals;
using atone_test::raw_connection;
using atone_test::scripted_peer;
using test::comes_true;
using test::since;

constexpr test::span patience{10s};
constexpr test::span a_while{150ms};

// A target that says every line again, and remembers it; and a client that reaches it through the proxy.
class fault_proxy_test : public testing::Test {
 protected:
  void SetUp() override {
    proxy_options with;
    with.target_port = target_.port();
    proxy_ = std::move(*fault_proxy::start(with));
  }
  struct client {
    explicit client(std::uint16_t port) : descriptor(raw_connection::dial(port)), through(descriptor) {}
    // Nothing comes and nothing is closed.
    bool hears_nothing(test::span time = a_while) {
      pollfd watched{descriptor, POLLIN, 0};
      return ::poll(&watched, 1, static_cast<int>(time.count())) == 0;
    }
    std::string say(std::string const& line) {
      through.send(line);
      return through.read_until("\n");
    }
    bool is_reset() {
      char room = 0;
      return ::recv(descriptor, &room, 1, 0) < 0 && errno == ECONNRESET;
    }
    bool is_closed() { return through.at_end(); }

    int descriptor;
    raw_connection through;
  };
  client connect() { return client{proxy_->port()}; }
  void apply(fault_kind kind) { proxy_->set(network_fault{kind}); }
  std::vector<std::string> heard() {
    std::lock_guard const lock{mutex_};
    return heard_;
  }
  bool target_hears(std::string const& line) {
    return comes_true([&] { return std::ranges::count(heard(), line) > 0; }, patience);
  }

  std::mutex mutex_;
  std::vector<std::string> heard_;
  scripted_peer target_{[this](raw_connection& with) {
    for (auto line = with.read_until("\n"); !line.empty(); line = with.read_until("\n")) {
      {
        std::lock_guard const lock{mutex_};
        heard_.push_back(line);
      }
      with.send(line);
    }
  }};
  std::unique_ptr<fault_proxy> proxy_;
};

TEST_F(fault_proxy_test, passes_everything_on) {
  auto one = connect();
  EXPECT_EQ(one.say("hello\n"), "hello\n");
  EXPECT_EQ(one.say("again\n"), "again\n");
  one.through.finish_sending();
  EXPECT_TRUE(one.is_closed());
  EXPECT_TRUE(comes_true([&] { return proxy_->figures().open == 0; }, patience));
  EXPECT_EQ(proxy_->figures().accepted, 1U);
}

TEST_F(fault_proxy_test, passes_more_than_its_buffers_hold) {
  auto one = connect();
  std::string line(3'000'000, 'x');
  line += '\n';
  std::thread sends{[&] { one.through.send(line); }};
  EXPECT_EQ(one.through.read_until("\n"), line);
  sends.join();
}

TEST_F(fault_proxy_test, delay_holds_answers_back_and_healing_lets_them_go) {
  auto one = connect();
  network_fault late{fault_kind::delay};
  late.of = 200ms;
  late.jitter = 50ms;
  proxy_->set(late);
  auto const begun = test::now();
  EXPECT_EQ(one.say("late\n"), "late\n");
  EXPECT_GE(since(begun), 150ms);
  late.of = 1h;
  late.jitter = {};
  proxy_->set(late);
  one.through.send("later\n");
  EXPECT_TRUE(target_hears("later\n"));  // only the way back is late
  EXPECT_TRUE(one.hears_nothing());
  proxy_->heal();
  EXPECT_EQ(one.through.read_until("\n"), "later\n");
}

TEST_F(fault_proxy_test, delay_there_holds_requests_back) {
  auto one = connect();
  network_fault late{fault_kind::delay};
  late.of = 1h;
  late.where = way::there;
  proxy_->set(late);
  one.through.send("late\n");
  EXPECT_TRUE(one.hears_nothing());
  EXPECT_THAT(heard(), testing::IsEmpty());
  proxy_->heal();
  EXPECT_EQ(one.through.read_until("\n"), "late\n");
}

TEST_F(fault_proxy_test, stall_passes_nothing_and_goes_on_when_healed) {
  auto before = connect();
  EXPECT_EQ(before.say("before\n"), "before\n");
  apply(fault_kind::stall);
  auto during = connect();
  before.through.send("held\n");
  during.through.send("held too\n");
  EXPECT_TRUE(before.hears_nothing());
  EXPECT_TRUE(during.hears_nothing());
  EXPECT_THAT(heard(), testing::ElementsAre("before\n"));
  proxy_->heal();
  EXPECT_EQ(before.through.read_until("\n"), "held\n");
  EXPECT_EQ(during.through.read_until("\n"), "held too\n");
}

TEST_F(fault_proxy_test, half_open_connections_stay_silent_for_good) {
  auto before = connect();
  EXPECT_EQ(before.say("before\n"), "before\n");
  apply(fault_kind::half_open);
  auto during = connect();
  before.through.send("into nothing\n");
  during.through.send("into nothing\n");
  EXPECT_TRUE(before.hears_nothing());
  proxy_->heal();
  EXPECT_TRUE(before.hears_nothing());
  EXPECT_TRUE(during.hears_nothing());
  EXPECT_EQ(connect().say("after\n"), "after\n");
  EXPECT_THAT(heard(), testing::ElementsAre("before\n", "after\n"));
}

TEST_F(fault_proxy_test, reset_ends_open_connections_and_new_ones) {
  auto before = connect();
  EXPECT_EQ(before.say("before\n"), "before\n");
  apply(fault_kind::reset);
  EXPECT_TRUE(before.is_reset());
  auto during = connect();
  EXPECT_TRUE(during.is_reset());
  proxy_->heal();
  EXPECT_EQ(connect().say("after\n"), "after\n");
  EXPECT_EQ(proxy_->figures().resets, 2U);
}

TEST_F(fault_proxy_test, refuse_drops_the_port) {
  auto before = connect();
  EXPECT_EQ(before.say("before\n"), "before\n");
  auto const port = proxy_->port();
  apply(fault_kind::refuse);
  EXPECT_TRUE(before.is_closed());
  EXPECT_THROW(connect(), std::runtime_error);
  proxy_->heal();
  EXPECT_EQ(proxy_->port(), port);
  EXPECT_EQ(connect().say("after\n"), "after\n");
}

TEST_F(fault_proxy_test, cut_closes_after_so_many_bytes) {
  auto one = connect();
  EXPECT_EQ(one.say("before the fault\n"), "before the fault\n");
  network_fault cut{fault_kind::cut};
  cut.bytes = 5;
  proxy_->set(cut);
  one.through.send("abc\n");
  EXPECT_EQ(one.through.read_until("\n"), "abc\n");
  one.through.send("defg\n");
  EXPECT_EQ(one.through.read_to_end(), "d");
  EXPECT_EQ(proxy_->figures().cuts, 1U);
}

TEST_F(fault_proxy_test, cut_there_leaves_the_target_half_a_request) {
  network_fault cut{fault_kind::cut};
  cut.bytes = 3;
  cut.where = way::there;
  proxy_->set(cut);
  auto one = connect();
  one.through.send("abcdef\n");
  EXPECT_TRUE(one.is_closed());
  EXPECT_TRUE(target_hears("abc"));
}

TEST_F(fault_proxy_test, drip_passes_little_by_little) {
  auto one = connect();
  network_fault drip{fault_kind::drip};
  drip.bytes = 2;
  drip.of = 50ms;
  proxy_->set(drip);
  auto const begun = test::now();
  EXPECT_EQ(one.say("abcdef\n"), "abcdef\n");
  EXPECT_GE(since(begun), 200ms);
}

TEST_F(fault_proxy_test, lose_request_and_lose_answer) {
  network_fault loss{fault_kind::lose_request};
  loss.after = 1;
  loss.times = 1;
  proxy_->set(loss);
  auto one = connect();
  EXPECT_EQ(one.say("passes\n"), "passes\n");
  one.through.send("lost\n");
  EXPECT_TRUE(one.is_closed());
  loss.kind = fault_kind::lose_answer;
  loss.after = 0;
  proxy_->set(loss);
  auto other = connect();
  other.through.send("done, never answered\n");
  EXPECT_TRUE(other.is_closed());
  EXPECT_EQ(connect().say("healed\n"), "healed\n");
  EXPECT_THAT(heard(), testing::ElementsAre("passes\n", "done, never answered\n", "healed\n"));
  EXPECT_EQ(proxy_->figures().cuts, 2U);
}

// Whoever counts on a fault must see whether it has met anybody: a connection counts once, and only when something is done to it.
TEST_F(fault_proxy_test, counts_the_connections_that_a_fault_has_touched) {
  auto const touched = [&] { return proxy_->figures().touched; };
  for (std::size_t kind = 1; kind < fault_kinds; ++kind) {
    network_fault fault{static_cast<fault_kind>(kind)};
    if (fault.kind == fault_kind::duplicate) continue;  // no HTTP here
    fault.bytes = 1;
    fault.of = 1ms;
    auto one = connect();
    EXPECT_EQ(one.say("before\n"), "before\n");
    auto const before = touched();
    proxy_->set(fault);
    bool const at_once = fault.kind == fault_kind::half_open || fault.kind == fault_kind::reset || fault.kind == fault_kind::refuse;
    EXPECT_EQ(touched() - before, at_once ? 1U : 0U) << name(fault.kind);
    if (!at_once) one.through.send("x\n");
    EXPECT_TRUE(comes_true([&] { return touched() == before + 1; }, patience)) << name(fault.kind);
    proxy_->heal();
  }
}

TEST_F(fault_proxy_test, counts_the_bytes_that_pass) {
  auto one = connect();
  EXPECT_EQ(one.say("12345\n"), "12345\n");
  EXPECT_TRUE(comes_true([&] { return proxy_->figures().carried == 12; }, patience));
  EXPECT_EQ(proxy_->figures().touched, 0U);
}

TEST_F(fault_proxy_test, a_target_that_is_gone_resets) {
  proxy_options with;
  with.target_port = atone_test::closed_port();
  auto const nobody = std::move(*fault_proxy::start(with));
  client one{nobody->port()};
  EXPECT_TRUE(one.is_reset());
}

TEST_F(fault_proxy_test, one_fault_follows_another_at_any_moment) {
  for (unsigned n = 0; n < 200; ++n) {
    auto one = connect();
    one.through.send("x\n");
    network_fault next{static_cast<fault_kind>(n % fault_kinds)};
    next.bytes = 1;
    next.of = std::chrono::milliseconds{n % 3};
    proxy_->set(next);
    one.through.send("y\n");
    if (n % fault_kinds == static_cast<unsigned>(fault_kind::refuse)) proxy_->heal();
  }
  proxy_->heal();
  EXPECT_EQ(connect().say("well\n"), "well\n");
  EXPECT_TRUE(comes_true([&] { return proxy_->figures().open == 0; }, patience));
}

TEST(fault_proxy, sends_a_request_twice_and_answers_it_once) {
  std::atomic<int> served{0};
  scripted_peer target{[&](raw_connection& with) {
    while (!with.read_message().empty()) {
      auto const number = std::to_string(++served);
      with.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + number);
    }
  }};
  proxy_options with;
  with.target_port = target.port();
  auto const proxy = std::move(*fault_proxy::start(with));
  proxy->set(network_fault{fault_kind::duplicate});
  raw_connection client{raw_connection::dial(proxy->port())};
  client.send("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi");
  auto const answer = client.read_message();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK")) << answer;
  EXPECT_TRUE(comes_true([&] { return served == 2; }, patience));
  EXPECT_EQ(proxy->figures().doubled, 1U);
  EXPECT_EQ(proxy->figures().touched, 1U);
  EXPECT_EQ(target.connections(), 2U);
}

TEST(fault_proxy, says_why_it_can_not_listen) {
  scripted_peer there{[](raw_connection&) {}};
  proxy_options with;
  with.port = there.port();
  auto const taken = fault_proxy::start(with);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, errc::unavailable);
  EXPECT_THAT(taken.error().message, testing::HasSubstr("can't be listened on"));
  with.address = "localhost";
  auto const name = fault_proxy::start(with);
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().code, errc::invalid_argument);
}

}  // namespace
}  // namespace atone::drill
