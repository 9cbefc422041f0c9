#include "daemon/daemon.hpp"

#include <csignal>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atone/coordinator.hpp>

#include "api/service.hpp"
#include "daemon/feature_sets.hpp"
#include "library/environment.hpp"

namespace atone::daemon {
namespace {

constexpr duration catch_up_every = std::chrono::minutes{1};

http::server_options server_settings(settings const& of) {
  http::server_options made;
  made.address = of.address;
  made.port = of.port;
  made.tls = of.tls;
  return made;
}

options coordinator_settings(settings const& of, std::string const& url) {
  options made{of.store};
  made.node = node_id{node_name(of)};
  made.address = node_address(of, url);
  made.lease = of.lease;
  made.handler_threads = of.handler_threads;
  made.open_max = of.open_max;
  made.retention = of.retention;
  made.key_retention = of.key_retention;
  made.migrate = of.migrate;
  made.addresses = of.addresses;
  made.token_key = of.token_key;
  // Beyond loopback our own name is not known to us: there it must be told.
  made.callback_base = of.callback_base.empty() && is_loopback(of.address) ? url : of.callback_base;
  return made;
}

api::service_options service_settings(settings const& of) {
  api::service_options made;
  made.tokens = of.tokens;
  made.local_only = is_loopback(of.address);
  made.forward.node = node_name(of);
  made.forward.tls = node_tls(of);
  made.forward.patience = driver_patience(of);
  made.version = ATONE_VERSION;
  return made;
}

// What happens to sagas, as log lines; and the word that this process drives none any more.
class saga_log final : public observer {
 public:
  saga_log(log& to, std::function<void(error const&)> over) : log_(to), over_(std::move(over)) {}

  void saga_started(saga_row const& row) override {
    auto const id = row.id.text();
    log_.write(log_level::debug, "saga started", {{"saga", id}, {"definition", row.definition.name}, {"key", row.key.value()}});
  }
  void saga_ended(saga_row const& row) override {
    auto const id = row.id.text();
    log_.write(
        log_level::info, "saga ended",
        {{"saga", id}, {"definition", row.definition.name}, {"key", row.key.value()}, {"status", name(row.status)}, {"cause", row.cause}});
  }
  void saga_parked(saga_row const& row) override {
    auto const id = row.id.text();
    log_.write(log_level::error, "saga parked",
               {{"saga", id}, {"definition", row.definition.name}, {"key", row.key.value()}, {"cause", row.cause}});
  }
  void alerted(alert_row const& row) override {
    auto const id = row.saga.text();
    log_.write(log_level::warn, "alert",
               {{"saga", id}, {"step", row.step.text()}, {"kind", row.kind}, {"level", name(row.level)}, {"text", row.text}});
  }
  void answer_late(saga_id saga, step_path const& step, operation op, attempt n) override {
    auto const id = saga.text();
    auto const number = std::to_string(n.value());
    log_.write(log_level::debug, "late answer", {{"saga", id}, {"step", step.text()}, {"op", name(op)}, {"attempt", number}});
  }
  void stopped_driving(error const& why) override {
    log_.write(log_level::error, "this process drives sagas no more", {{"code", name(why.code)}, {"why", why.message}});
    over_(why);
  }

 private:
  log& log_;
  std::function<void(error const&)> over_;
};

// The parts in the order they depend on each other; stopped the other way round.
class running_daemon {
 public:
  running_daemon(settings const& with, log& to)
      : settings_(with),
        log_(to),
        server_(io_, server_settings(with), [this](http::request what, http::responder way) { answer(std::move(what), std::move(way)); }),
        signals_(io_, SIGTERM, SIGINT),
        catch_up_timer_(io_) {}

  result<void> open() {
    // The address first: its port is part of what participants are told. Nothing is answered before the loop runs.
    if (auto bound = server_.start(); !bound) return bound;
    url_ = own_url(settings_, server_.port());
    auto with = coordinator_settings(settings_, url_);
    with.observer = std::make_shared<saga_log>(log_, [this](error const& why) { boost::asio::post(io_, [this, why] { give_up(why); }); });
    auto made = coordinator::open(std::move(with));
    if (!made) return made.error();
    sagas_ = *std::move(made);
    if (auto opened = open_features(); !opened) return opened;
    auto shown = service_settings(settings_);
    shown.features = features_;
    service_ = std::make_unique<api::service>(*sagas_, std::move(shown));
    return sagas_->run();
  }

  void serve() {
    wait_for_signal();
    io_.run();
    service_->stop();
    sagas_->stop(hurried_ ? duration::zero() : settings_.grace);
    service_.reset();
    for (auto const& [name, one] : features_) one->stop();
  }

  // Why it stopped without being asked; nothing otherwise.
  std::optional<error> const& lost() const noexcept { return lost_; }
  std::string const& url() const noexcept { return url_; }
  std::string store() const { return sagas_->store_description(); }

 private:
  void answer(http::request what, http::responder way) {
    service_->handle(std::move(what), [way = std::move(way)](http::response made) mutable { way.send(std::move(made)); });
  }

  // Before the first saga goes on: a step whose service is missing would wait for it.
  result<void> open_features() {
    if (settings_.features.empty()) return {};
    feature_sets_options with;
    with.folder = settings_.features;
    with.gpus = settings_.feature_gpus;
    with.now = library::wall_time;
    with.alert = [this](std::string const& set, std::string const& words) {
      log_.write(log_level::warn, "features", {{"set", set}, {"text", words}});
    };
    auto opened = open_feature_sets(with);
    if (!opened) return opened.error();
    features_ = *std::move(opened);
    bind_features(*sagas_, features_);
    catch_up();
    return {};
  }

  // What fell behind while nobody asked, or while this process was away.
  void catch_up() {
    for (auto const& [name, one] : features_) {
      auto const begun = std::to_string(one->catch_up());
      if (begun != "0") log_.write(log_level::info, "stale features are computed anew", {{"set", name}, {"entities", begun}});
    }
    catch_up_timer_.expires_after(catch_up_every);
    catch_up_timer_.async_wait([this](boost::system::error_code ec) {
      if (!ec && !stopping_) catch_up();
    });
  }

  void wait_for_signal() {
    signals_.async_wait([this](boost::system::error_code ec, int which) {
      if (ec) return;
      if (stopping_) return hurry();
      log_.write(log_level::info, "stopping", {{"signal", which == SIGTERM ? "SIGTERM" : "SIGINT"}});
      begin_stopping();
      wait_for_signal();
    });
  }

  void begin_stopping() {
    stopping_ = true;
    catch_up_timer_.cancel();
    service_->release_waiting();
    server_.stop(settings_.grace, [this] { signals_.cancel(); });
  }

  // Another process owns the store now, or it can't be trusted: who starts us decides what then.
  void give_up(error const& why) {
    lost_ = why;
    if (!stopping_) begin_stopping();
  }

  void hurry() {
    log_.write(log_level::warn, "stopping at once: a second signal came");
    hurried_ = true;
    io_.stop();
  }

  settings const& settings_;
  log& log_;
  boost::asio::io_context io_{1};
  http::server server_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer catch_up_timer_;
  feature_services features_;  // shared with the handlers of `sagas_` and with `service_`
  std::unique_ptr<coordinator> sagas_;
  std::unique_ptr<api::service> service_;
  std::string url_;
  std::optional<error> lost_;
  bool stopping_ = false;
  bool hurried_ = false;
};

}  // namespace

result<void> run(settings const& with, log& to, std::function<void(std::string const& url)> const& listening) {
  std::signal(SIGPIPE, SIG_IGN);
  running_daemon made{with, to};
  if (auto opened = made.open(); !opened) return opened;
  to.write(log_level::info, "listening",
           {{"url", made.url()},
            {"store", made.store()},
            {"node", node_name(with)},
            {"address", node_address(with, made.url())},
            {"version", ATONE_VERSION},
            {"tokens", std::to_string(with.tokens.size())}});
  if (with.insecure && !is_loopback(with.address)) to.write(log_level::warn, "the door is open: --insecure was given");
  listening(made.url());
  made.serve();
  to.write(log_level::info, "stopped");
  if (made.lost()) return *made.lost();
  return {};
}

}  // namespace atone::daemon
