// kill -9 of a coordinator with many open sagas, and how soon they go on under the next one.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>

#include "commands.hpp"
#include "failure.hpp"
#include "load.hpp"
#include "report.hpp"

namespace bench {
namespace {

constexpr std::uint64_t count_default = 10'000;
constexpr auto phase_max = std::chrono::minutes{10};
constexpr auto look_every = std::chrono::milliseconds{2};
constexpr std::size_t hanging_step = 1;

// One line of bytes from the child: when what happened.
struct told_times {
  double loaded_s = 0;  // open sagas are in memory
  double first_s = 0;   // the first of them has ended
  double all_s = 0;     // all have

  told_times() = default;
};

class one_way {
 public:
  one_way() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw failure{"no pipe"};
  }
  ~one_way() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  one_way(one_way const&) = delete;
  one_way& operator=(one_way const&) = delete;

  void tell(told_times const& what) const {
    if (::write(ends_[1], &what, sizeof what) != sizeof what) throw failure{"the pipe is broken"};
  }
  told_times hear(waiter const& clock) const {
    told_times what;
    if (!clock.hear(ends_[0], phase_max) || ::read(ends_[0], &what, sizeof what) != sizeof what) {
      throw failure{"the coordinator's process said nothing"};
    }
    return what;
  }

 private:
  std::array<int, 2> ends_{};
};

class counting_observer final : public atone::observer {
 public:
  explicit counting_observer(std::uint64_t wanted) : wanted_(wanted) {}

  void saga_ended(atone::saga_row const&) override {
    auto const now = ++ended_;
    if (now == 1) first_ = steady::now();
    if (now != wanted_) return;
    all_ = steady::now();
    bell_.ring();
  }
  bell const& all_ended() const noexcept { return bell_; }
  steady::time_point first() const noexcept { return first_; }
  steady::time_point all() const noexcept { return all_; }

 private:
  std::uint64_t wanted_;
  std::uint64_t ended_ = 0;
  steady::time_point first_;
  steady::time_point all_;
  bell bell_;
};

atone::options coordinator_options(stage const& on, place const& in, std::uint64_t count) {
  atone::options made{in.address};
  made.open_max = static_cast<std::uint32_t>(count) + 1000;
  made.addresses = on.addresses();
  return made;
}

// Starts the sagas, and tells when each waits in the step that does not answer; then it waits to be killed.
int first_life(stage const& on, place const& in, std::uint64_t count, one_way const& to) {
  auto const sagas = need(atone::coordinator::open(coordinator_options(on, in, count)), "opening the coordinator");
  (void)need(sagas->publish(definition_text(callee::http, false)), "publishing the definition");
  need(sagas->run(), "driving sagas");
  std::atomic<std::uint64_t> refused{0};
  for (std::uint64_t number = 1; number <= count; ++number) {
    atone::start_request what;
    what.saga = saga_name(callee::http, false);
    what.input = input_of(number);
    sagas->async_start(std::move(what), [&refused](atone::result<atone::started> const& begun) { refused += begun ? 0 : 1; });
  }
  waiter const clock;
  while (sagas->figures().events < 2 * count && refused == 0) clock.pause(look_every);
  if (refused > 0) return 1;
  to.tell(told_times{});
  clock.pause(phase_max);
  return 0;
}

int second_life(stage const& on, place const& in, std::uint64_t count, one_way const& to) {
  auto const begun = steady::now();
  auto const since = [begun](steady::time_point moment) { return std::chrono::duration<double>{moment - begun}.count(); };
  auto const watching = std::make_shared<counting_observer>(count);
  auto with = coordinator_options(on, in, count);
  with.observer = watching;
  auto const sagas = need(atone::coordinator::open(std::move(with)), "opening the coordinator");
  told_times times;
  times.loaded_s = since(steady::now());
  need(sagas->run(), "driving sagas");
  waiter const clock;
  if (!clock.hear(watching->all_ended().descriptor(), phase_max)) return 1;
  times.first_s = since(watching->first());
  times.all_s = since(watching->all());
  to.tell(times);
  return 0;
}

// In the child nothing of the parent's may be unwound: it would stop the parent's servers.
child live(std::string const& title, int (*life)(stage const&, place const&, std::uint64_t, one_way const&), stage const& on,
           place const& in, std::uint64_t count, one_way const& to) {
  return child::fork_off(title, [&] {
    try {
      return life(on, in, count, to);
    } catch (std::exception const& why) {
      std::fprintf(stderr, "bench: %s\n", why.what());
      return 1;
    }
  });
}

}  // namespace

void recovery(stage& on) {
  auto const& with = on.options();
  auto const count = with.count == 0 ? count_default : with.count;
  auto const kind = wanted_store(with, store_kind::postgresql);
  auto const in = on.make_place(kind);
  one_way line;
  on.replace_participant(hanging_step, manner::silent);
  auto before = live("coordinator", first_life, on, in, count, line);
  (void)line.hear(on.clock());
  before.kill_hard();
  on.replace_participant(hanging_step, manner::answers);
  auto after = live("coordinator", second_life, on, in, count, line);
  auto const times = line.hear(on.clock());
  table figures{{"after kill -9 with open sagas", "s"}};
  figures.add({"all in memory", figure(times.loaded_s)});
  figures.add({"first has ended", figure(times.first_s)});
  figures.add({"all have ended", figure(times.all_s)});
  std::printf("%s\n%s, %llu sagas\n%s", machine_text(on).c_str(), std::string{name(kind)}.c_str(), static_cast<unsigned long long>(count),
              figures.text().c_str());
  atone::json::writer document;
  begin_document(document, on.options());
  document.key("store").string(name(kind)).key("sagas").number(count).key("loaded_s").number(times.loaded_s);
  document.key("first_ended_s").number(times.first_s).key("all_ended_s").number(times.all_s);
  finish_document(document, on);
}

}  // namespace bench
