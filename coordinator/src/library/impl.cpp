#include "impl_parts.hpp"

#include <algorithm>
#include <array>
#include <future>

#include <boost/asio/post.hpp>

namespace atone {
namespace {

library::http_sender_options sender_options(options const& with) {
  library::http_sender_options made;
  made.breaker_open = with.breaker_open;
  made.poll_limit = with.poll_limit;
  made.callback_base = with.callback_base;
  made.token_key = with.token_key;
  return made;
}

// What of a name may stand in a header.
std::string header_text(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char one) { return one < ' ' || one > '~'; }, '_');
  return text;
}

constexpr duration read_pause_first = std::chrono::milliseconds{50};
constexpr duration clock_offset_max = std::chrono::milliseconds{50};

result<std::optional<runtime::store_lookup::key_holder>> read_holder(journal_reader& in, std::string const& saga_name,
                                                                     business_key const& key) {
  auto const claim = in.claim_of(saga_name, key);
  if (!claim) return claim.error();
  if (!*claim) return std::optional<runtime::store_lookup::key_holder>{};
  runtime::store_lookup::key_holder found;
  found.saga = (*claim)->holder;
  found.body = (*claim)->body;
  return std::optional{found};
}

library::retention_terms terms_of(options const& with) {
  library::retention_terms made;
  made.sagas = with.retention;
  made.keys = std::max(with.retention, with.key_retention);
  return made;
}

std::string all_of(std::vector<diagnostic> const& diagnostics) {
  std::string text;
  for (auto const& one : diagnostics) text += (text.empty() ? "" : "\n") + format(one, "definition");
  return text;
}

}  // namespace

coordinator::impl::impl(options with, opened what)
    : settings(std::move(with)),
      from(std::move(what.from)),
      owner(what.owner),
      lease(std::move(what.lease)),
      first_look(std::move(what.first)),
      clock(what.now),
      reader(*from),
      engines_reader(*from),
      writer(loop, std::move(what.to), clock),
      remote(
          loop,
          [this] {
            if (settings.token_key.empty()) settings.token_key = library::secret_key();
            auto with_node = sender_options(settings);
            if (lease) with_node.node = header_text(settings.node.value());
            return with_node;
          }(),
          tenure()),
      local(loop, std::max<std::uint32_t>(1, settings.handler_threads), tenure()),
      happenings(settings.observer),
      deleting(terms_of(settings), retention_ports()) {
  runtime::engine_settings made;
  made.open_max = settings.open_max;
  made.rest_least = settings.rest_least;
  made.shards = what.shards;
  made.leased = lease != nullptr;
  made.suspects_max = std::max<std::uint32_t>(1, settings.handler_threads);
  made.addresses = settings.addresses;
  runtime::engine_ports const ports{clock, random, ids, router, writer, *this, *this, happenings, tenure()};
  engine = std::make_unique<runtime::engine>(std::move(made), ports);
  if (!lease) return;
  shards = std::make_unique<library::shard_table>(loop, *from, *engine, writer, clock);
  shards->begin(first_look);
  writer.on_passed([this](duration asked) { lease->extend(asked); });
  lease->run(loop, [this](library::lease_news news) { heard(std::move(news)); }, [this](error const& why) { engine->lose(why); });
}

coordinator::impl::~impl() {
  stop(duration{0});
}

void coordinator::impl::on_loop(std::function<void()> work) {
  boost::asio::post(loop, std::move(work));
}
void coordinator::impl::defer(std::function<void()> work) {
  boost::asio::post(loop, std::move(work));
}

void coordinator::impl::wake_at(std::optional<timestamp> due) {
  alarm.cancel();
  if (!due) return;
  auto const left = std::max(duration{0}, std::chrono::duration_cast<duration>(*due - clock.now()));
  alarm.expires_after(left);
  alarm.async_wait([this](boost::system::error_code cancelled) {
    if (!cancelled) engine->on_wake();
  });
}

void coordinator::impl::last_output(std::string saga_name, step_path step, std::string key,
                                    std::function<void(result<std::optional<last_output_row>>)> then) {
  read_through<std::optional<last_output_row>>([saga_name = std::move(saga_name), step = std::move(step),
                                                key = std::move(key)](journal_reader& in) { return in.last_output(saga_name, step, key); },
                                               std::move(then), read_pause_first);
}

void coordinator::impl::reload(saga_id saga, std::function<void(result<std::optional<open_saga>>)> then) {
  read_through<std::optional<open_saga>>(
      [saga](journal_reader& in) { return read_saga(in, saga); },
      [this, then = std::move(then)](result<std::optional<open_saga>> found) {
        bool const known = !shards || !found || !*found ||
                           engine->find_definition((*found)->row.definition.name, (*found)->row.definition.version) != nullptr;
        if (known) return then(std::move(found));
        shards->refresh_definitions([then, found = std::move(found)](result<void>) mutable { then(std::move(found)); });
      },
      read_pause_first);
}

void coordinator::impl::load(std::vector<saga_place> which, std::function<void(result<std::vector<open_saga>>)> then) {
  // An outage is waited out; what fails while the store answers otherwise is these sagas' own, and holds up nobody else.
  auto const read = [which = std::move(which)](journal_reader& in) -> result<std::vector<open_saga>> {
    auto found = in.load(which);
    if (found || !found.error().retryable() || !in.definition("", std::nullopt)) return found;
    return error{errc::corrupt, found.error().message};
  };
  read_through<std::vector<open_saga>>(read, std::move(then), read_pause_first);
}

void coordinator::impl::holder_of(std::string saga_name, business_key key, std::function<void(result<std::optional<key_holder>>)> then) {
  read_once<std::optional<key_holder>>(
      [saga_name = std::move(saga_name), key = std::move(key)](journal_reader& in) { return read_holder(in, saga_name, key); },
      std::move(then));
}

void coordinator::impl::look_around() {
  constexpr auto tick_time = std::chrono::milliseconds{250};
  constexpr unsigned missing_ticks_max = 40;  // ten seconds, then a person is told
  tick.expires_after(tick_time);
  tick.async_wait([this](boost::system::error_code cancelled) {
    if (!cancelled) look_around();
  });
  std::map<std::string, unsigned> still;
  auto missing = local.missing();
  for (auto const& [handler_name, calls] : engine->unserved()) missing[handler_name] += calls;
  for (auto const& [handler_name, calls] : missing) {
    auto const ticks = missing_ticks[handler_name] + 1;
    still.emplace(handler_name, ticks);
    if (ticks != missing_ticks_max) continue;
    alert_row missed;
    missed.kind = "handler missing: " + handler_name;
    missed.text = std::to_string(calls) + " calls wait for the local handler " + handler_name + ", which nobody has registered";
    missed.raised_at = clock.now();
    engine->raise(std::move(missed));
  }
  missing_ticks = std::move(still);
}

void coordinator::impl::heard(library::lease_news news) {
  if (stopped.load()) return;
  note_clock(news.clock_offset);
  engine->lease_renewed();
  remote.resume();
  local.resume();
  shards->take(std::move(news));
  ask_inbox();
}

// Told when it passes the limit, and again only after it was below.
void coordinator::impl::note_clock(duration offset) {
  bool const off = offset > clock_offset_max || offset < -clock_offset_max;
  clock_offset = offset;
  if (off == std::exchange(clock_is_off, off) || !off || !engine->driving()) return;
  alert_row told;
  told.kind = "clock: " + settings.node.value();
  told.text = "the clock of node " + settings.node.value() + " is " +
              std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(offset).count()) +
              " ms off the database's; sagas go by the database's, people who compare logs do not";
  told.raised_at = clock.now();
  engine->raise(std::move(told));
}

void coordinator::impl::ask_inbox() {
  if (!engine->driving() || inbox_asked) return;
  inbox_asked = shards->look_into_inbox(inbox_after, [this](result<std::vector<inbox_start>> waiting) {
    inbox_asked = false;
    if (!waiting) return;  // the store is away: the next tick asks again
    // Those that wait for their definition stay at the front: the next look goes on behind them, and then begins anew.
    inbox_after = waiting->size() < inbox_start::take_max ? 0 : waiting->back().number;
    for (auto const& one : *waiting) engine->start_from_inbox(one);
  });
}

// Before the loop runs: nobody else is on these threads yet.
result<void> coordinator::impl::load() {
  auto reading = from->open_reader();
  if (!reading) return reading.error();
  runtime::loaded_sagas sagas;
  std::promise<result<void>> promise;
  auto done = promise.get_future();
  bool const asked = writer.post([&](journal& in) {
    auto const which = shards ? shards->held() : in.every_shard();
    promise.set_value(in.load_open(which, [&](open_saga&& one) { sagas.add(std::move(one)); }));
  });
  ATONE_ASSERT(asked);
  if (auto loaded = done.get(); !loaded) return loaded;
  auto const deleted = (*reading)->deletions();
  if (!deleted) return deleted.error();
  newest_deleted = deleted->newest;
  // After the sagas: what they are bound to was published before they began.
  auto const rows = (*reading)->definitions();
  if (!rows) return rows.error();
  library::add_definitions(*engine, *rows);
  engine->recover(std::move(sagas));
  return {};
}

void coordinator::impl::run_loop() {
  loop_thread = std::thread{[this] {
    loop_id.store(std::this_thread::get_id());
    while (loop.run_one() > 0) writer.tell_news();
  }};
  deleting.start();
}

void coordinator::impl::halt_senders() {
  if (!loop_thread.joinable()) return;
  std::promise<void> halted;
  auto done = halted.get_future();
  on_loop([this, &halted] {
    shards->stop();
    router.halt();
    halted.set_value();
  });
  done.wait();
}

void coordinator::impl::stop(duration grace) {
  // It waits for both, so from either it would wait for itself.
  ATONE_ASSERT(loop_id.load() != std::this_thread::get_id());
  ATONE_ASSERT(!local.in_handler());
  std::lock_guard const held{stop_lock};
  if (stopped.exchange(true)) return;
  deleting.ask_to_stop();
  auto const over = library::boot_time() + grace;
  if (loop_thread.joinable()) {
    auto const nothing_out = std::make_shared<std::promise<void>>();
    auto nothing_is_out = nothing_out->get_future();
    on_loop([this, nothing_out] {
      engine->stop([nothing_out] { nothing_out->set_value(); });
      if (shards) shards->give_all();
    });
    // What has not answered by then is asked again, under the same key, at the next start.
    (void)nothing_is_out.wait_for(grace);
    local.stop();
  }
  writer.stop(std::max(duration{0}, over - library::boot_time()));
  deleting.join();  // while the loop still answers it
  // Behind the last write, and when nothing leaves any more: what is still out is asked again by whoever takes these sagas over, under the
  // same keys.
  if (lease) {
    halt_senders();
    lease->stop(true);
  }
  reader.stop();
  engines_reader.stop();
  {
    std::lock_guard const door{door_lock};
    closed = true;
  }
  if (loop_thread.joinable()) {
    on_loop([this] {
      engine->shut(error{errc::unavailable, "the coordinator is stopping"});
      for (auto const& one : std::exchange(in_store, {})) one->finish(library::stopped_error());
      remote.stop();
      if (shards) shards->stop();
      alarm.cancel();
      tick.cancel();
      guard.reset();
      loop.stop();
    });
    loop_thread.join();
    // What was let in before the door closed, and found the rest stopped, is told so here.
    loop.restart();
    loop.poll();
  }
}

result<coordinator::published> coordinator::impl::publish(std::string_view yaml) {
  auto made = load_definition(yaml);
  if (!made.ok()) return error{errc::invalid_argument, all_of(made.diagnostics)};
  definition_row row;
  row.ref = made.definition->ref;
  row.text = made.definition->text;
  row.published_at = clock.now();
  std::promise<result<void>> stored;
  auto outcome_of = stored.get_future();
  if (!writer.post([&](journal& in) { stored.set_value(in.publish(row)); })) {
    return library::stopped_error();
  }
  if (auto const outcome = outcome_of.get(); !outcome) return outcome.error();
  std::promise<result<void>> added;
  auto known = added.get_future();
  enter([&](result<void> told) { added.set_value(std::move(told)); },
        [&](auto then) {
          engine->add_definition(made.definition);
          then(result<void>{});
        });
  if (auto const told = known.get(); !told) return told.error();
  published report;
  report.ref = row.ref;
  report.diagnostics = std::move(made.diagnostics);
  return report;
}

}  // namespace atone
