#include <atone/coordinator.hpp>

#include <fstream>
#include <future>
#include <sstream>

#include "impl.hpp"

namespace atone {
namespace {

constexpr duration lease_min = std::chrono::milliseconds{500};
constexpr duration lease_max = std::chrono::hours{1};

constexpr duration retention_min = std::chrono::seconds{1};

result<void> check_retention(options const& with) {
  if (with.key_retention < duration{0} || with.key_retention > duration_max) {
    return error{errc::invalid_argument,
                 "key_retention: found " + format_duration(with.key_retention) + ", expected 0s to " + format_duration(duration_max)};
  }
  if (with.retention == duration{0} || (with.retention >= retention_min && with.retention <= duration_max)) return {};
  return error{errc::invalid_argument, "retention: found " + format_duration(with.retention) + ", expected 0s (for ever), or 1s to " +
                                           format_duration(duration_max)};
}

// The blocking form of an asynchronous one. Called from the loop itself it would wait for ever: refused.
template <class T, class Impl, class Begin>
result<T> block_on(Impl const& on, Begin const& begin) {
  if (on.loop_id.load() == std::this_thread::get_id()) {
    return error{errc::conflict, "a blocking form was called from the coordinator's own thread; use the asynchronous one"};
  }
  std::promise<result<T>> promise;
  auto told = promise.get_future();
  begin([&promise](result<T> outcome) { promise.set_value(std::move(outcome)); });
  return told.get();
}

}  // namespace

answer done(std::string json) {
  return answer{answer::kind_of::done, std::move(json), {}};
}
answer refused(std::string reason) {
  return answer{answer::kind_of::refused, "null", std::move(reason)};
}
answer unavailable(std::string reason) {
  return answer{answer::kind_of::unavailable, "null", std::move(reason)};
}
answer unknown(std::string reason) {
  return answer{answer::kind_of::unknown, "null", std::move(reason)};
}

coordinator::coordinator(std::unique_ptr<impl> of) : impl_(std::move(of)) {}
coordinator::~coordinator() {
  stop();
}

// The node's own writer, its place among the others, and the shards that are its own.
result<coordinator::impl::opened> coordinator::impl::take_over(std::unique_ptr<store> from, options& with) {
  opened made;
  auto to = from->open_journal();
  if (!to) return to.error();
  if (with.node.value().empty()) with.node = node_id{library::host_name()};
  auto const owner = (*to)->take_over(with.node);
  if (!owner) return owner.error();
  auto const now = (*to)->now();
  if (!now) return now.error();
  auto member_of = from->open_membership(*owner);
  if (!member_of) return member_of.error();
  if (*member_of) {
    if (with.token_key.empty()) {
      auto key = (*member_of)->token_key();
      if (!key) return key.error();
      with.token_key = std::move(*key);
    }
    if (with.lease < lease_min || with.lease > lease_max) {
      return error{errc::invalid_argument, "the lease must be from half a second to an hour"};
    }
    library::lease_settings how;
    how.address = with.address;
    how.lease = with.lease;
    made.lease = std::make_unique<library::lease_keeper>(std::move(*member_of), std::move(how));
    auto first = made.lease->begin();
    if (!first) return first.error();
    made.first = std::move(*first);
  }
  made.owner = *owner;
  made.now = *now;
  made.shards = (*to)->shards();
  made.to = std::move(*to);
  made.from = std::move(from);
  return made;
}

result<std::unique_ptr<coordinator>> coordinator::open(options with) {
  if (auto fine = check_retention(with); !fine) return fine.error();
  auto from = open_store(with.store);
  if (!from) return from.error();
  if (with.migrate) {
    if (auto migrated = (*from)->migrate(); !migrated) return migrated.error();
  } else {
    auto const found = (*from)->status();
    if (!found) return found.error();
    if (found->found != found->expected) {
      return error{errc::conflict, "the store's tables are at migration " + std::to_string(found->found) + ", this build expects " +
                                       std::to_string(found->expected) + ": run `atone db migrate`"};
    }
  }
  auto what = impl::take_over(std::move(*from), with);
  if (!what) return what.error();
  auto made = std::make_unique<impl>(std::move(with), std::move(*what));
  if (auto loaded = made->load(); !loaded) return loaded.error();
  made->run_loop();
  return std::unique_ptr<coordinator>{new coordinator{std::move(made)}};
}

void coordinator::handle(std::string_view group, std::string_view name, handler function) {
  handle_async(group, name, [function = std::move(function)](call const& of, auto const& reply) { reply(function(of)); });
}

void coordinator::handle_async(std::string_view group, std::string_view name, async_handler function) {
  auto bound = std::string{group} + '.' + std::string{name};
  impl_->on_loop([this, bound = std::move(bound), function = std::move(function)] {
    impl_->local.handle(bound, function);
    impl_->engine->handlers_changed();
  });
}

result<void> coordinator::run() {
  return block_on<void>(*impl_, [this](auto then) {
    impl_->enter(then, [this](auto told) {
      if (!impl_->running) {
        impl_->running = true;
        impl_->engine->go(impl_->owner);
        impl_->look_around();
      }
      told(result<void>{});
    });
  });
}

void coordinator::stop(duration grace) {
  impl_->stop(grace);
}

result<coordinator::published> coordinator::publish(std::string_view yaml) {
  if (impl_->loop_id.load() == std::this_thread::get_id()) {
    return error{errc::conflict, "publish waits for the store, and was called from the coordinator's own thread"};
  }
  return impl_->publish(yaml);
}

result<coordinator::published> coordinator::publish_file(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return error{errc::not_found, "can't read " + path};
  std::ostringstream text;
  text << file.rdbuf();
  return publish(text.str());
}

result<started> coordinator::start(start_request what) {
  return block_on<started>(*impl_, [&](auto then) { async_start(std::move(what), then); });
}

result<saga_view> coordinator::wait(saga_id id, duration timeout) {
  return block_on<saga_view>(*impl_, [&](auto then) { async_wait(id, timeout, then); });
}

result<saga_view> coordinator::run(std::string_view saga, business_key key, std::string input, duration timeout) {
  start_request what;
  what.saga = saga;
  what.key = std::move(key);
  what.input = std::move(input);
  auto const begun = start(std::move(what));
  if (!begun) return begun.error();
  return wait(begun->id, timeout);
}

result<saga_view> coordinator::get(saga_id id) {
  return block_on<saga_view>(*impl_, [&](auto then) { async_get(id, then); });
}

result<saga_view> coordinator::act(operator_request what) {
  return block_on<saga_view>(*impl_, [&](auto then) { async_act(std::move(what), then); });
}

void coordinator::async_start(start_request what, std::function<void(result<started>)> then) {
  impl_->enter(std::move(then), [this, what = std::move(what)](auto told) mutable { impl_->start(std::move(what), std::move(told)); });
}

void coordinator::async_wait(saga_id id, duration timeout, std::function<void(result<saga_view>)> then) {
  impl_->enter(std::move(then), [this, id, timeout](auto told) { impl_->wait(id, timeout, std::move(told)); });
}

void coordinator::async_get(saga_id id, std::function<void(result<saga_view>)> then) {
  impl_->enter(std::move(then), [this, id](auto told) {
    impl_->engine->view(id, [this, id, then = std::move(told)](result<std::optional<saga_view>> found) {
      if (!found) return then(found.error());
      if (*found) return then(std::move(**found));
      impl_->answer_from_store(id, then);
    });
  });
}

void coordinator::async_act(operator_request what, std::function<void(result<saga_view>)> then) {
  impl_->enter(std::move(then), [this, what = std::move(what)](auto told) mutable { impl_->act(std::move(what), std::move(told)); });
}

void coordinator::async_report(saga_id id, step_path step, operation op, attempt n, std::string token, std::int32_t status,
                               std::string body, std::function<void(result<void>)> then) {
  impl_->enter(std::move(then),
               [this, id, step = std::move(step), op, n, token = std::move(token), status, body = std::move(body)](auto told) mutable {
                 if (!library::same_token(token, library::reply_token(impl_->settings.token_key, id, step, op, n))) {
                   return told(error{errc::invalid_argument, "the token is not the one that went out with this attempt"});
                 }
                 if (classify_status(status) == answer_class::still_working) {
                   return told(error{errc::invalid_argument, "status 202 is no result: report once the work is done or refused"});
                 }
                 auto answer = library::answer_of_status(status, std::move(body));
                 impl_->report(id, std::move(step), op, n, std::move(answer), std::move(told));
               });
}

void coordinator::async_driver_of(saga_id id, std::function<void(result<driver>)> then) {
  impl_->enter(std::move(then), [this, id](auto told) { impl_->driver_of(id, std::move(told)); });
}

result<std::vector<node_view>> coordinator::nodes() const {
  return block_on<std::vector<node_view>>(*impl_, [this](auto then) { impl_->enter(then, [this](auto told) { told(impl_->nodes()); }); });
}

result<void> coordinator::read(std::function<result<void>(journal_reader&)> const& work) {
  std::promise<result<void>> promise;
  auto told = promise.get_future();
  impl_->reader.post(work, [&promise](result<void> outcome) { promise.set_value(std::move(outcome)); });
  return told.get();
}

engine_figures coordinator::figures() const {
  auto const now =
      block_on<engine_figures>(*impl_, [this](auto then) { impl_->enter(then, [this](auto told) { told(impl_->engine->figures()); }); });
  auto figures = now ? *now : engine_figures{};
  figures.writable = figures.writable && impl_->writer.healthy();
  return figures;
}

result<void> coordinator::check_writable() {
  auto const promise = std::make_shared<std::promise<result<void>>>();
  auto told = promise->get_future();
  impl_->writer.check([promise](result<void> outcome) { promise->set_value(std::move(outcome)); });
  // The writer may be in the middle of waiting for the store: that is an answer too.
  if (told.wait_for(std::chrono::seconds{2}) != std::future_status::ready) {
    return error{errc::unavailable, "a write has not gone through for two seconds"};
  }
  return told.get();
}

std::string coordinator::store_description() const {
  return impl_->from->description();
}

}  // namespace atone
