#include "load.hpp"

#include <boost/asio/post.hpp>

#include <atone/json.hpp>

namespace atone::test {
namespace {

constexpr duration answer_max = std::chrono::seconds{2};
constexpr span repeat_after{50};

std::string id_in(std::string const& body) {
  auto const parsed = json::parse(body);
  auto const found = parsed && parsed->type() == json::kind::object ? parsed->find("id") : std::nullopt;
  return found && found->type() == json::kind::string ? found->as_string() : "";
}

}  // namespace

load::load(std::vector<std::string> sagas, int starts_a_second)
    : sagas_(std::move(sagas)),
      pause_(std::chrono::microseconds{std::chrono::seconds{1}} / starts_a_second),
      client_(io_, http::client_options{}),
      thread_([this] { io_.run(); }) {}

load::~load() {
  boost::asio::post(io_, [this] {
    timer_.cancel();
    client_.stop();
    work_.reset();
    io_.stop();
  });
  thread_.join();
}

void load::doors(std::vector<std::string> const& urls) {
  std::lock_guard const held{lock_};
  doors_.clear();
  for (auto const& one : urls) doors_.push_back(*http::parse_origin(one));
}

void load::begin() {
  std::lock_guard const held{lock_};
  starting_ = true;
  boost::asio::post(io_, [this] {
    due_ = now();
    tick();
  });
}

bool load::end(span at_most) {
  std::unique_lock held{lock_};
  starting_ = false;
  return told_.wait_for(held, at_most, [this] { return open_.empty(); });
}

std::map<long, std::string> load::acknowledged() const {
  std::lock_guard const held{lock_};
  return acknowledged_;
}

moment load::last_acknowledgement() const {
  std::lock_guard const held{lock_};
  return last_acknowledgement_;
}

std::vector<std::string> load::faults() const {
  std::lock_guard const held{lock_};
  return faults_;
}

void load::tick() {
  long const number = next_++;
  {
    std::lock_guard const held{lock_};
    if (!starting_) return;
    open_.insert(number);
  }
  start(number);
  due_ += pause_;
  timer_.expires_at(due_);
  timer_.async_wait([this](boost::system::error_code cancelled) {
    if (!cancelled) tick();
  });
}

void load::start(long number) {
  http::origin to;
  {
    std::lock_guard const held{lock_};
    to = doors_[next_door_++ % doors_.size()];
  }
  http::request what;
  what.method = "POST";
  what.target = "/v1/sagas/" + sagas_[static_cast<std::size_t>(number) % sagas_.size()];
  what.body = R"({"n": )" + std::to_string(number) + "}";
  what.headers.add("Content-Type", "application/json");
  what.headers.add("Idempotency-Key", "start-" + std::to_string(number));
  client_.send(to, std::move(what), answer_max, [this, number](http::exchange got) { answered(number, got); });
}

void load::answered(long number, http::exchange const& got) {
  auto const status = got.response.status;
  if (!got.ok() || status == 503 || status == 429) return again(number);
  auto const id = id_in(got.response.body);
  {
    std::lock_guard const held{lock_};
    if (id.empty())
      faults_.push_back("start " + std::to_string(number) + " was answered " + std::to_string(status) + ": " + got.response.body);
    acknowledged_[number] = id;
    last_acknowledgement_ = now();
    open_.erase(number);
  }
  told_.notify_all();
}

void load::again(long number) {
  auto const timer = std::make_shared<boost::asio::steady_timer>(io_, repeat_after);
  timer->async_wait([this, timer, number](boost::system::error_code cancelled) {
    if (!cancelled) start(number);
  });
}

}  // namespace atone::test
