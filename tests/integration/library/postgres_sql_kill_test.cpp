// The process killed with SIGKILL at random moments while sagas run statements in the journal's own database: each of them takes
// effect exactly once. The statements themselves would take effect twice without complaint.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <future>
#include <iostream>
#include <optional>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/coordinator.hpp>

#include "postgres_server.hpp"

namespace atone {
namespace {

using test::postgres_server;

constexpr int sagas_in_all = 250;
constexpr int refused = sagas_in_all / 5;
constexpr int kills_at_least = 5;
constexpr int rounds_max = 300;
constexpr unsigned events_between_kills_max = 60;

// Every fifth is refused by the third step and is undone.
std::string const booking = R"yaml(saga: booking
version: 1
input: {type: object, required: [n], properties: {n: {type: integer}}}
steps:
  - id: enter
    sql: "insert into public.effect(n, what) values (:n, 'enter')"
    in: {n: =input.n}
    compensate: {sql: "insert into public.effect(n, what) values (:n, 'leave')", in: {n: =input.n}}
  - id: count
    sql: "update public.counter set total = total + 1"
    in: {}
    compensate: {sql: "update public.counter set total = total - 1", in: {}}
  - id: finish
    sql: "insert into public.finished(n) values (:n)"
    in: {n: =input.n}
    compensate: {sql: "delete from public.finished where n = :n", in: {n: =input.n}}
)yaml";

std::string const tables = R"(create table public.effect(n bigint, what text);
create table public.counter(total bigint);
insert into public.counter values (0);
create table public.finished(n bigint check (n % 5 <> 0));)";

// What a child does: starts every saga again under its key and waits for all of them, unless it is killed.
class driver {
 public:
  explicit driver(std::string const& address) : opened_(coordinator::open(options{address})) {}

  int run() {
    if (!opened_) return 4;
    auto& sagas = **opened_;
    if (!sagas.publish(booking) || !sagas.run()) return 5;
    for (int n = 0; n < sagas_in_all; ++n) start(sagas, n);
    over_.get_future().wait();
    sagas.stop();
    return failed_ ? 6 : 0;
  }

 private:
  void start(coordinator& sagas, int n) {
    start_request what;
    what.saga = "booking";
    what.key = business_key{std::to_string(n)};
    what.input = R"({"n": )" + std::to_string(n) + "}";
    sagas.async_start(what, [this, &sagas](result<started> begun) {
      if (!begun) return ended(false);
      sagas.async_wait(begun->id, std::chrono::minutes{2}, [this](result<saga_view> end) { ended(end && end->ended()); });
    });
  }
  void ended(bool well) {
    failed_ = failed_ || !well;
    if (--left_ == 0) over_.set_value();
  }

  result<std::unique_ptr<coordinator>> opened_;
  int left_ = sagas_in_all;  // of the loop's thread, as what follows
  std::atomic<bool> failed_{false};
  std::promise<void> over_;
};

class child_process {
 public:
  explicit child_process(std::string const& address) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::_Exit(driver{address}.run());
  }
  ~child_process() {
    if (pid_ > 0) (void)kill();
  }
  child_process(child_process const&) = delete;
  child_process& operator=(child_process const&) = delete;

  // Its exit code, or minus the signal that ended it; nothing while it runs.
  std::optional<int> ended() { return reap(WNOHANG); }
  int kill() {
    ::kill(pid_, SIGKILL);
    return reap(0).value();
  }

 private:
  std::optional<int> reap(int how) {
    int status = 0;
    if (::waitpid(pid_, &status, how) != pid_) return std::nullopt;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  pid_t pid_ = -1;
};

class library_postgres_kill : public testing::Test {
 protected:
  std::string ask(std::string const& query) const { return postgres_server::shared().psql(query, database_); }
  long events() const { return std::stol(ask("select count(*) from atone.journal")); }

  // One life of the process; its exit code, or minus the signal.
  int live(std::mt19937& random) const {
    auto const until = events() + static_cast<long>(random() % events_between_kills_max);
    child_process child{postgres_server::shared().address(database_)};
    for (;;) {
      if (auto const code = child.ended()) return *code;
      if (events() > until) return child.kill();
    }
  }
  // How often the process was killed before it came to its end.
  int live_until_done() const {
    auto const* const given = std::getenv("ATONE_SEED");
    auto const seed = given == nullptr ? std::random_device{}() : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
    std::cout << "seed " << seed << '\n';
    std::mt19937 random{seed};
    for (int kills = 0; kills < rounds_max; ++kills) {
      int const code = live(random);
      if (code == -SIGKILL) continue;
      EXPECT_EQ(code, 0);
      return kills;
    }
    ADD_FAILURE() << "not at its end after " << rounds_max << " kills";
    return rounds_max;
  }

  std::string database_;
};

TEST_F(library_postgres_kill, statements_of_a_process_killed_again_and_again_take_effect_exactly_once) {
  ATONE_NEED_POSTGRES();
  database_ = postgres_server::shared().make_database();
  ask(tables);
  (void)coordinator::open(options{postgres_server::shared().address(database_)});  // the store's tables
  int const kills = live_until_done();
  std::cout << kills << " kills\n";
  EXPECT_GE(kills, kills_at_least);
  auto const all = std::to_string(sagas_in_all);
  auto const undone = std::to_string(refused);
  auto const done = std::to_string(sagas_in_all - refused);
  EXPECT_EQ(ask("select status, count(*) from atone.saga group by status order by status"), "5|" + done + "\n6|" + undone);
  EXPECT_EQ(ask("select n, what, count(*) from public.effect group by n, what having count(*) <> 1"), "") << "done twice";
  EXPECT_EQ(ask("select count(*) from public.effect where what = 'enter'"), all);
  EXPECT_EQ(ask("select count(*), bool_and(n % 5 = 0) from public.effect where what = 'leave'"), undone + "|t");
  EXPECT_EQ(ask("select total from public.counter"), done);
  EXPECT_EQ(ask("select count(*), count(distinct n) from public.finished"), done + "|" + done);
}

}  // namespace
}  // namespace atone
