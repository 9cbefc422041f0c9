// What deleting finished sagas needs of the coordinator, and what is said of those that are gone.
#include <algorithm>
#include <future>

#include "impl.hpp"

namespace atone {

template <class Value>
Value coordinator::impl::ask_loop(std::function<Value()> question) {
  std::promise<Value> promise;
  auto told = promise.get_future();
  on_loop([&] { promise.set_value(question()); });
  return told.get();
}

library::retention_ports coordinator::impl::retention_ports() {
  library::retention_ports made;
  made.with_store = [this](library::retention_ports::store_work const& work) { return with_retention(work); };
  made.held = [this] {
    return ask_loop<std::vector<shard>>([this] {
      if (!engine->driving()) return std::vector<shard>{};
      return shards ? shards->held() : std::vector<shard>{shard{0}};
    });
  };
  // A saga that has ended stays in memory until its end is durable and told; until then something may still be added to its history.
  made.at_rest = [this](std::vector<finished_saga> sagas) {
    return ask_loop<std::vector<finished_saga>>([&] {
      std::erase_if(sagas, [this](finished_saga const& one) { return engine->under_way(one.id); });
      return sagas;
    });
  };
  made.stuck = [this](error const& why) {
    on_loop([this, why] {
      if (!engine->driving()) return;
      alert_row told;
      told.kind = "retention: " + settings.node.value();
      told.text = "finished sagas are not deleted: " + why.message;
      told.raised_at = clock.now();
      engine->raise(std::move(told));
    });
  };
  return made;
}

// On the deleting thread; the work runs there, or, where nothing may write beside the writer, between two of its commits.
result<void> coordinator::impl::with_retention(library::retention_ports::store_work const& work) {
  if (deletes_beside) return work(*deletes_beside);
  auto beside = from->open_retention(owner);
  if (!beside) return beside.error();
  deletes_beside = std::move(*beside);
  if (deletes_beside) return work(*deletes_beside);
  std::promise<result<void>> promise;
  auto told = promise.get_future();
  bool const posted = writer.post([&](journal& in) {
    auto* const own = in.own_retention();
    promise.set_value(own != nullptr ? work(*own) : error{errc::unsupported, "this store can't delete finished sagas"});
  });
  if (!posted) return library::stopped_error();
  return told.get();
}

// Asked before the store is: starts that are repeated soon after the first time, as most are, never wait for a look.
bool coordinator::impl::may_be_deleted(saga_id id) {
  if (newest_deleted && id <= *newest_deleted) return true;
  return settings.retention > duration{0} && id < first_id_at(clock.now() - settings.retention);
}

void coordinator::impl::tell_started(result<started> outcome, std::function<void(result<started>)> then) {
  bool const look = outcome && outcome->replayed && may_be_deleted(outcome->id) && !engine->under_way(outcome->id);
  if (!look) return then(std::move(outcome));
  read_once<std::optional<saga_row>>([id = outcome->id](journal_reader& in) { return in.find(id); },
                                     [answer = *outcome, then = std::move(then)](result<std::optional<saga_row>> row) mutable {
                                       if (!row) return then(row.error());
                                       answer.gone = !*row;
                                       then(answer);
                                     });
}

retention_figures coordinator::deletions() const {
  return impl_->deleting.figures();
}

}  // namespace atone
