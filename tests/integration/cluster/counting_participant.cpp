#include "counting_participant.hpp"

#include <algorithm>

#include <boost/asio/steady_timer.hpp>

namespace atone::test {
namespace {

constexpr std::int32_t fine = 200;
constexpr std::int32_t refusal = 409;
constexpr long refused_each = 5;

long number_in(std::string const& body) {
  auto const at = body.find_first_of("0123456789");
  return at == std::string::npos ? 1 : std::stol(body.substr(at));
}

}  // namespace

counting_participant::counting_participant(span answers_after)
    : answers_after_(answers_after),
      server_(std::make_unique<atone_test::test_server>([this](http::request what, http::responder way) { take(what, std::move(way)); })) {}
counting_participant::~counting_participant() = default;

void counting_participant::hold(std::string const& step, bool on) {
  std::vector<std::pair<std::string, std::function<void()>>> freed;
  {
    std::lock_guard const held{lock_};
    if (on) return static_cast<void>(held_.insert(step));
    held_.erase(step);
    freed = std::exchange(kept_, {});
  }
  for (auto const& [of, send] : freed) send();
}

void counting_participant::refuse(std::string const& path) {
  std::lock_guard const held{lock_};
  refused_.insert(path);
}

std::vector<arrival> counting_participant::arrivals() const {
  std::lock_guard const held{lock_};
  return arrivals_;
}

std::size_t counting_participant::count() const {
  std::lock_guard const held{lock_};
  return arrivals_.size();
}

bool counting_participant::comes_true(std::function<bool(std::vector<arrival> const&)> const& condition, span at_most) const {
  std::unique_lock held{lock_};
  return came_.wait_for(held, at_most, [&] { return condition(arrivals_); });
}

void counting_participant::ended(std::vector<std::string> const& sagas) {
  std::lock_guard const held{lock_};
  ended_.insert(sagas.begin(), sagas.end());
}

int counting_participant::net(std::string const& saga, std::string const& step) const {
  std::lock_guard const held{lock_};
  auto const found = stand_.find({saga, step});
  if (found == stand_.end()) return 0;
  return static_cast<int>(found->second.done.size()) - static_cast<int>(found->second.undone.size());
}

std::vector<std::string> counting_participant::faults() const {
  std::lock_guard const held{lock_};
  return faults_;
}

void counting_participant::take(http::request const& what, http::responder way) {
  arrival one;
  one.at = now();
  one.saga = what.headers.get(headers::saga);
  one.step = what.headers.get(headers::step);
  one.key = what.headers.get(headers::idempotency_key);
  one.undo = what.headers.get(headers::op) == name(operation::compensate);
  one.epoch = std::stoull(std::string{what.headers.get(headers::epoch)});
  one.node = what.headers.get(headers::node);
  auto const step = one.step;
  std::int32_t status = fine;
  {
    std::lock_guard const held{lock_};
    one.repeated = answers_.contains(one.key);
    if (ended_.contains(one.saga)) {
      faults_.push_back("saga " + one.saga + " had ended, and its step " + one.step + " was asked for under epoch " +
                        std::to_string(one.epoch));
    }
    if (!one.repeated) answers_.emplace(one.key, refused_.contains(what.target) ? refusal : act(one, what.body));
    status = answers_.at(one.key);
    arrivals_.push_back(std::move(one));
  }
  came_.notify_all();
  answer(std::move(way), status, step);
}

std::int32_t counting_participant::act(arrival const& what, std::string const& body) {
  auto& of = stand_[{what.saga, what.step}];
  if (what.undo) {
    if (of.done.empty()) {
      of.refuses = true;  // nothing to undo: the action is refused should it still come
    } else {
      of.undone.insert(what.key);
    }
  } else {
    if (of.refuses || (what.step == "s3" && number_in(body) % refused_each == 0)) return refusal;
    of.done.insert(what.key);
  }
  if (of.done.size() > 1 || of.undone.size() > 1)
    faults_.push_back("saga " + what.saga + ": the effect of " + what.step + " was made twice");
  return fine;
}

// Called on the server's thread.
void counting_participant::answer(http::responder way, std::int32_t status, std::string const& step) {
  std::function<void()> const send = [way = std::move(way), status]() mutable {
    way.send(http::response{status, status == fine ? "{}" : R"({"reason":"no"})"});
  };
  {
    std::lock_guard const held{lock_};
    if (held_.contains(step)) return static_cast<void>(kept_.emplace_back(step, send));
  }
  auto const timer = std::make_shared<boost::asio::steady_timer>(server_->io(), answers_after_.load());
  timer->async_wait([timer, send](boost::system::error_code) { send(); });
}

}  // namespace atone::test
