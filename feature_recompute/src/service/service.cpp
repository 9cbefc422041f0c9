#include <atone/features/service.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "service/batch.hpp"

namespace atone::features {
namespace {

constexpr std::size_t name_bytes_max = std::size_t{1} << 20;  // of a key or an entity

error stopped() {
  return error{errc::unavailable, "the feature service has been stopped"};
}

// Waits for what a callback form tells.
template <class T, class Begin>
result<T> blocking(Begin const& begin) {
  std::promise<result<T>> told;
  auto answer = told.get_future();
  begin([&told](result<T> made) { told.set_value(std::move(made)); });
  return answer.get();
}

// What an alert throws is lost.
std::function<void(std::string const&)> guarded(std::function<void(std::string const&)> alert) {
  return [alert = std::move(alert)](std::string const& words) {
    if (!alert) return;
    try {
      alert(words);
    } catch (...) {
    }
  };
}

// A batch that is never large enough for a GPU would leave it idle without a word.
feature_service_options completed(feature_service_options of) {
  of.alert = guarded(std::move(of.alert));
  of.recompute.now = of.now;
  of.recompute.alert = of.alert;
  if (!of.recompute.gpus.empty()) of.batch_requests = std::max(of.batch_requests, of.recompute.gpu_rows_least);
  return of;
}

}  // namespace

struct feature_service::impl {
  feature_set_ptr set;
  feature_service_options options;
  job_queue queue;
  std::unique_ptr<feature_store> store;
  std::unique_ptr<batch_worker> worker;
  std::mutex stale_guard;
  bool is_stale_said = false;  // under stale_guard
  std::thread thread;

  impl(feature_set_ptr of, feature_service_options with) : set(std::move(of)), options(completed(std::move(with))), queue(options) {}

  result<void> open() {
    auto engine = recomputer::make(set, options.recompute);
    if (!engine) return engine.error();
    auto opened = feature_store::open(set, options, [this] { queue.wake(); });
    if (!opened) return opened.error();
    store = *std::move(opened);
    worker = std::make_unique<batch_worker>(set, *store, *std::move(engine), options.now, options.alert);
    if (store->cut_off() > 0) {
      options.alert(store->path() + ": " + std::to_string(store->cut_off()) +
                    " bytes of a write torn by a crash were cut off; nobody had been told of it");
    }
    thread = std::thread{[this] { work(); }};
    return {};
  }

  // Looks when it is time, whatever comes in.
  void work() {
    using clock = std::chrono::steady_clock;
    auto const next_look = [this]() -> std::optional<clock::time_point> {
      if (options.look_every == duration{}) return std::nullopt;
      return clock::now() + options.look_every;
    };
    for (auto next = next_look(); !queue.is_closed();) {
      auto batch = queue.take(next, [this] { return !store->is_idle(); });
      if (!batch.empty()) worker->run(std::move(batch));
      bool const is_due = next && clock::now() >= *next;
      if (queue.is_closed() || (!queue.was_interrupted() && !is_due)) continue;
      worker->heartbeat();
      look_at_freshness();
      next = next_look();
    }
  }

  void push(feature_job job) {
    if (std::max(job.what.key.size(), job.what.entity.size()) > name_bytes_max) {
      return job.then(
          error{errc::invalid_argument, "key or entity is too long: expected at most " + std::to_string(name_bytes_max) + " bytes"});
    }
    job.rows = job.is_undo ? 0 : store->rows_of(job.what.entity);
    if (queue.push(job)) return;
    job.then(queue.is_closed() ? stopped() : error{errc::exhausted, "too many recomputes wait; ask again"});
  }

  std::optional<duration> freshness() const {
    auto const newest = store->newest_applied();
    if (!newest) return std::nullopt;
    return options.now() - *newest;
  }

  void look_at_freshness() {
    auto const is = freshness();
    if (!is) return;
    std::string words;
    {
      std::lock_guard const guard{stale_guard};
      if (std::exchange(is_stale_said, *is > options.freshness_max) == (*is > options.freshness_max)) return;
      words = is_stale_said ? "features are stale: the newest event in a published version is " + format_duration(*is) +
                                  " old, more than " + format_duration(options.freshness_max)
                            : "features are fresh again";
    }
    options.alert(words);
  }

  void stop() {
    for (auto& one : queue.close()) one.then(stopped());
    if (thread.joinable()) thread.join();
    store->stop();
  }
};

feature_service::feature_service(std::unique_ptr<impl> of) : impl_(std::move(of)) {}

feature_service::~feature_service() {
  stop();
}

result<std::unique_ptr<feature_service>> feature_service::open(feature_set_ptr set, feature_service_options options) {
  if (set == nullptr) return error{errc::invalid_argument, "feature_service: there is no set"};
  if (!options.now) return error{errc::invalid_argument, "feature_service_options: there is no clock ('now')"};
  try {
    auto made = std::make_unique<impl>(std::move(set), std::move(options));
    if (auto done = made->open(); !done) return done.error();
    return std::unique_ptr<feature_service>{new feature_service{std::move(made)}};
  } catch (std::system_error const& thrown) {
    return error{errc::unavailable, std::string{"feature_service: a thread can't be had: "} + thrown.what()};
  }
}

feature_set const& feature_service::set() const noexcept {
  return *impl_->set;
}

timestamp feature_service::now() const {
  return impl_->options.now();
}

void feature_service::async_append(event_table const& rows, std::function<void(result<append_outcome>)> then) {
  impl_->store->append(rows, std::move(then));
}

result<append_outcome> feature_service::append(event_table const& rows) {
  return blocking<append_outcome>([&](auto then) { async_append(rows, std::move(then)); });
}

void feature_service::async_recompute(recompute_request what, std::function<void(result<recompute_answer>)> then) {
  feature_job job;
  job.what = std::move(what);
  job.then = reply_once{std::move(then)};
  impl_->push(std::move(job));
}

result<recompute_answer> feature_service::recompute(recompute_request what) {
  return blocking<recompute_answer>([&](auto then) { async_recompute(std::move(what), std::move(then)); });
}

void feature_service::async_republish(std::string key, std::string entity, std::function<void(result<recompute_answer>)> then) {
  if (key.empty()) return then(error{errc::invalid_argument, "republish: there is no key, and so nothing to undo"});
  feature_job job;
  job.is_undo = true;
  job.what.key = std::move(key);
  job.what.entity = std::move(entity);
  job.then = reply_once{std::move(then)};
  impl_->push(std::move(job));
}

result<recompute_answer> feature_service::republish(std::string key, std::string entity) {
  return blocking<recompute_answer>([&](auto then) { async_republish(std::move(key), std::move(entity), std::move(then)); });
}

result<served_features> feature_service::read(std::string_view entity) const {
  auto const found = impl_->store->served(entity);
  if (!found) return error{errc::not_found, "no features of entity '" + std::string{entity.substr(0, 60)} + "' have been published"};
  served_features made;
  made.version = found->version;
  made.age = impl_->options.now() - found->version.published_at;
  made.stale = impl_->store->is_stale(*found);
  return made;
}

// What was begun before comes first: it would be begun twice. Stale ones have the input that they had: whoever numbers inputs goes on from
// there. An event that lies in the future can't be counted yet.
std::size_t feature_service::catch_up() {
  std::size_t begun = 0;
  if (!impl_->queue.is_caught_up()) return begun;
  auto const now = impl_->options.now();
  for (auto const& one : impl_->store->stale()) {
    auto const& version = one->version;
    recompute_request what;
    what.entity = one->entity;
    what.input = version.input;
    what.as_of = std::max(version.as_of, impl_->store->newest_event(one->entity, now).value_or(version.as_of));
    bool const is_same = what.as_of == version.as_of && one->rows_seen == impl_->store->rows_of(one->entity);
    bool const is_known_now = !one->next_known || now < *one->next_known;
    if (is_same && is_known_now && version.tag == version_tag::current && version.set == impl_->set->hash) continue;
    feature_job job;
    job.rows = impl_->store->rows_of(what.entity);
    job.what = std::move(what);
    job.then = reply_once{[](auto const&) {}};
    if (!impl_->queue.push_behind(job)) break;
    ++begun;
  }
  return begun;
}

void feature_service::look_after() {
  impl_->look_at_freshness();
  impl_->queue.interrupt();
}

result<void> feature_service::rewrite() {
  std::promise<result<void>> told;
  auto answer = told.get_future();
  impl_->store->rewrite([&told](result<void> made) { told.set_value(std::move(made)); });
  return answer.get();
}

feature_figures feature_service::figures() const {
  feature_figures made;
  impl_->worker->add_figures(made);
  impl_->store->add_figures(made);
  made.freshness = impl_->freshness();
  return made;
}

std::uint64_t feature_service::cut_off() const {
  return impl_->store->cut_off();
}

std::string const& feature_service::path() const {
  return impl_->store->path();
}

void feature_service::stop() {
  impl_->stop();
}

}  // namespace atone::features
