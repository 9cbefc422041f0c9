#include "run_sagas.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <optional>
#include <random>
#include <sstream>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atone/json.hpp>

namespace demo {
namespace {

using atone::errc;
using atone::error;
using atone::result;
using steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds draw_every{200};
constexpr std::chrono::seconds resume_max{10};

std::string seconds_text(steady::duration span) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << std::chrono::duration<double>(span).count() << " s";
  return text.str();
}

class saga_run {
 public:
  saga_run(stage& on, demo_options const& options, std::vector<purchase> const& purchases, tally& count, progress_line& line)
      : stage_(on),
        options_(options),
        all_(purchases.size()),
        tally_(count),
        line_(line),
        drawing_(io_),
        thaw_(io_),
        load_(
            io_, load_options_for(on, options), work_of(purchases), [this](outcome const& of) { ended(of); },
            [this](error why) { stop_with(std::move(why)); }) {}

  result<load_figures> run() {
    began_ = steady::now();
    draw_kills();
    draw_later();
    load_.begin();
    io_.run();
    if (failure_) return *failure_;
    line_.draw(tally_, 0, steady::now() - began_);
    line_.end();
    if (options_.kills > 1) {
      line_.say(std::to_string(killed_) + " kills; the longest time until the first saga ended was " + seconds_text(longest_pause_));
    }
    if (longest_pause_ > resume_max) return error{errc::unavailable, "it took more than 10 s until sagas went on after a kill"};
    return load_.figures();
  }

 private:
  static load_options load_options_for(stage const& on, demo_options const& options) {
    load_options made;
    made.daemon.host = "127.0.0.1";
    made.daemon.port = on.daemon_port();
    made.saga = "order-placed";
    made.in_flight = options.in_flight;
    return made;
  }

  static std::vector<work_item> work_of(std::vector<purchase> const& purchases) {
    std::vector<work_item> work;
    work.reserve(purchases.size());
    for (auto const& each : purchases) work.push_back(work_for(each));
    return work;
  }

  std::uint64_t under_way() const { return load_.figures().started - load_.figures().ended; }
  bool over() const { return failure_.has_value() || tally_.ended() == all_; }

  void draw_later() {
    drawing_.expires_after(draw_every);
    drawing_.async_wait([this](boost::system::error_code cancelled) {
      if (cancelled || over()) return;
      line_.draw(tally_, under_way(), steady::now() - began_);
      draw_later();
    });
  }

  void ended(outcome const& of) {
    tally_.add(of);
    if (resumed_at_) say_resumed();
    if (!frozen_ && options_.outage > atone::duration::zero() && tally_.ended() * 4 >= all_) freeze();
    bool const due = killed_ < kills_at_.size() && tally_.ended() >= kills_at_[killed_];
    if (due && !resumed_at_ && !over()) crash();
    if (over()) drawing_.cancel();
  }

  void freeze() {
    frozen_ = true;
    line_.say("feature service stopped for " + atone::format_duration(options_.outage) + " at " + grouped(tally_.ended()));
    stage_.freeze_features();
    thaw_.expires_after(options_.outage);
    thaw_.async_wait([this](auto) { stage_.thaw_features(); });
  }

  // After how many ended sagas the daemon is killed: half-way, or drawn from the seed.
  void draw_kills() {
    if (options_.kills == 1) kills_at_.push_back(all_ / 2);
    if (options_.kills < 2) return;
    std::mt19937_64 draw{options_.seed};
    for (std::uint32_t n = 0; n < options_.kills; ++n) kills_at_.push_back(1 + draw() % std::max<std::uint64_t>(1, all_ * 95 / 100));
    std::sort(kills_at_.begin(), kills_at_.end());
  }

  void crash() {
    ++killed_;
    crashed_at_ = tally_.ended();
    resumed_at_ = steady::now();
    if (auto restarted = stage_.crash_daemon(); !restarted) stop_with(restarted.error());
  }

  void say_resumed() {
    auto const pause = steady::now() - *resumed_at_;
    resumed_at_.reset();
    longest_pause_ = std::max(longest_pause_, pause);
    line_.say("kill -9 atoned at " + grouped(crashed_at_) + " … restarted, first saga ended after " + seconds_text(pause));
  }

  void stop_with(error why) {
    failure_ = std::move(why);
    drawing_.cancel();
    if (thaw_.cancel() > 0) stage_.thaw_features();
    io_.stop();
  }

  stage& stage_;
  demo_options const& options_;
  std::uint64_t all_;
  tally& tally_;
  progress_line& line_;
  boost::asio::io_context io_{1};
  boost::asio::steady_timer drawing_;
  boost::asio::steady_timer thaw_;
  load load_;
  steady::time_point began_;
  bool frozen_ = false;
  std::vector<std::uint64_t> kills_at_;  // in rising order
  std::size_t killed_ = 0;
  steady::duration longest_pause_{};
  std::uint64_t crashed_at_ = 0;
  std::optional<steady::time_point> resumed_at_;
  std::optional<error> failure_;
};

}  // namespace

work_item work_for(purchase const& of) {
  atone::json::writer to;
  to.begin_object().key("order_id").number(of.number).key("user_id").number(std::uint64_t{of.customer});
  to.key("amount").number(of.cents).key("quantity").number(std::uint64_t{of.quantity});
  to.key("placed_at").string(atone::format_timestamp(of.placed_at)).end_object();
  return work_item{"cdnow-" + std::to_string(of.number), to.take()};
}

result<load_figures> run_sagas(stage& on, demo_options const& options, std::vector<purchase> const& purchases, tally& count,
                               progress_line& line) {
  return saga_run{on, options, purchases, count, line}.run();
}

}  // namespace demo
