#include "writer_thread.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace atone::library {
namespace {

constexpr duration retry_first = std::chrono::milliseconds{20};
constexpr duration retry_cap = std::chrono::seconds{1};

}  // namespace

// A journal whose commits last out an outage: a batch is repeated under its own number until the store says what became of it.
class writer_thread::retrying final : public journal {
 public:
  // `again`: the first call already repeats one whose answer was lost.
  explicit retrying(writer_thread& of, bool again = false) : of_(of), again_(again) {}

  result<epoch> take_over(node_id const& node) override { return of_.journal_->take_over(node); }
  result<commit_report> commit(journal_batch const& batch, batch_number number) override {
    return repeat([&] { return of_.journal_->commit(batch, number); });
  }
  result<commit_report> commit_with_sql(sql_statement const& statement, answer_to_batch const& on_success, batch_number number) override {
    return repeat([&] { return of_.journal_->commit_with_sql(statement, on_success, number); });
  }
  result<void> load_open(std::vector<shard> const& of, saga_sink const& sink) override { return of_.journal_->load_open(of, sink); }
  result<void> publish(definition_row const& row) override { return of_.journal_->publish(row); }
  result<timestamp> now() override { return of_.journal_->now(); }
  std::uint16_t shards() const override { return of_.journal_->shards(); }

 private:
  template <class Work>
  result<commit_report> repeat(Work const& work) {
    auto wait = retry_first;
    for (bool first = !again_;; first = false) {
      auto const asked = boot_time();
      auto done = work();
      if (done || !done.error().retryable()) {
        bool const of_the_data = !done && (done.error().code == errc::bad_data || done.error().code == errc::statement_failed);
        of_.healthy_.store(done.has_value() || of_the_data, std::memory_order_relaxed);
        // One that is answered again was committed before `asked`: it says nothing of now.
        if (done && first) of_.clock_.observe(done->database_time, asked, boot_time());
        if (done && first && of_.passed_) of_.passed_(asked);
        return done;
      }
      of_.healthy_.store(false, std::memory_order_relaxed);
      if (!of_.queue_.pause(wait)) return done;
      wait = std::min(wait * 2, retry_cap);
    }
  }

  writer_thread& of_;
  bool const again_;
};

writer_thread::writer_thread(boost::asio::io_context& loop, std::unique_ptr<journal> to, database_clock& clock)
    : loop_(loop), clock_(clock), journal_(std::move(to)) {}
writer_thread::~writer_thread() {
  stop(duration{0});
}

void writer_thread::commit(journal_batch batch, completion done) {
  auto const told = std::make_shared<completion>(std::move(done));
  bool const queued = queue_.push([this, batch = std::make_shared<journal_batch>(std::move(batch)), told] {
    result<isolating_report> outcome = isolating_report{};
    if (!batch->empty()) {  // an empty one writes nothing, but its turn comes after what is being written
      retrying to{*this};
      outcome = commit_isolating(to, *batch, batch_number{last_number_ + 1});
      if (outcome) last_number_ = outcome->last.value();
    }
    tell([told, outcome = std::move(outcome)]() mutable { (*told)(std::move(outcome)); });
  });
  if (!queued) tell([told] { (*told)(stopped_error()); });
}

void writer_thread::commit_sql(sql_statement statement, journal::answer_to_batch on_success, sql_completion done) {
  auto const told = std::make_shared<sql_completion>(std::move(done));
  bool const queued = queue_.push([this, statement = std::move(statement), on_success = std::move(on_success), told] {
    retrying to{*this};
    sql_outcome made;
    // When the answer to the COMMIT is lost, a repeat reports that it took effect without running the statement again: the
    // answer is the one of the time before.
    auto const keep_answer = [&](std::string_view answer) {
      made.answer = std::string{answer};
      return on_success(answer);
    };
    auto outcome = to.commit_with_sql(statement, keep_answer, batch_number{last_number_ + 1});
    result<sql_outcome> answer = made;
    if (outcome) {
      ++last_number_;
    } else if (outcome.error().code == errc::bad_data || outcome.error().code == errc::statement_failed) {
      made.answer.reset();
      made.refusal = outcome.error().message;
      made.may_pass = outcome.error().code == errc::statement_failed;
      answer = made;
    } else {
      answer = outcome.error();
    }
    tell([told, answer = std::move(answer)]() mutable { (*told)(std::move(answer)); });
  });
  if (!queued) tell([told] { (*told)(stopped_error()); });
}

void writer_thread::hand_over(std::vector<shard_move> moves, std::function<void(result<void>)> done) {
  auto const told = std::make_shared<std::function<void(result<void>)>>(std::move(done));
  bool const queued = queue_.push([this, moves = std::move(moves), told] {
    auto wait = retry_first;
    auto given = journal_->hand_over(moves);
    while (!given && given.error().retryable() && queue_.pause(wait)) {
      wait = std::min(wait * 2, retry_cap);
      given = journal_->hand_over(moves);
    }
    tell([told, given = std::move(given)] { (*told)(given); });
  });
  if (!queued) tell([told] { (*told)(stopped_error()); });
}

bool writer_thread::post(std::function<void(journal&)> work) {
  return queue_.push([this, work = std::move(work)] { work(*journal_); });
}

// A check that fails is told at once, and then repeated until its fate is known: its number must not be used for another batch.
void writer_thread::check(std::function<void(result<void>)> done) {
  bool const queued = queue_.push([this, done] {
    auto const number = batch_number{last_number_ + 1};
    auto const first = journal_->commit(journal_batch{}, number);
    healthy_.store(first.has_value(), std::memory_order_relaxed);
    done(first ? result<void>{} : result<void>{first.error()});
    bool taken = first.has_value();
    if (!taken && first.error().retryable()) {
      retrying to{*this, true};
      taken = to.commit(journal_batch{}, number).has_value();
    }
    if (taken) ++last_number_;
  });
  if (!queued) done(stopped_error());
}

void writer_thread::tell(std::function<void()> news) {
  {
    std::lock_guard const held{news_lock_};
    news_.push_back(std::move(news));
    has_news_.store(true, std::memory_order_release);
  }
  boost::asio::post(loop_, [this] { tell_news(); });
}

void writer_thread::tell_news() {
  if (!has_news_.load(std::memory_order_acquire)) return;
  std::vector<std::function<void()>> heard;
  {
    std::lock_guard const held{news_lock_};
    heard.swap(news_);
    has_news_.store(false, std::memory_order_release);
  }
  for (auto const& one : heard) one();
}

void writer_thread::stop(duration grace) {
  queue_.stop(grace);
}

}  // namespace atone::library
