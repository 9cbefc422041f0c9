// A participant that counts effects by Idempotency-Key as one with a barrier does, and notes every request that came: when, under which
// epoch, for which saga. Steps s1 … s5 of the cluster's definitions; s3 refuses every fifth number.
// Thread rules: any thread; its server has one of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "http_loop.hpp"
#include "pace.hpp"

namespace atone::test {

// A request as it came.
struct arrival {
  moment at;
  std::string saga, step, key;
  std::uint64_t epoch = 0;
  std::string node;
  bool undo = false;
  bool repeated = false;  // its key had come before

  arrival() = default;
};

class counting_participant {
 public:
  explicit counting_participant(span answers_after);
  ~counting_participant();
  counting_participant(counting_participant const&) = delete;
  counting_participant& operator=(counting_participant const&) = delete;

  std::string url() const { return server_->url(); }
  // How long each answer takes from here on.
  void answer_after(span time) { answers_after_ = time; }
  // Requests to this path are refused from here on.
  void refuse(std::string const& path);
  // Answers to this step are kept back from here on, until `false`.
  void hold(std::string const& step, bool on);

  std::vector<arrival> arrivals() const;
  std::size_t count() const;
  // True once it holds of what has come; false when it did not within `at_most`.
  bool comes_true(std::function<bool(std::vector<arrival> const&)> const& condition, span at_most) const;
  // These sagas have ended: no request for one of them may come any more.
  void ended(std::vector<std::string> const& sagas);

  // Applied actions minus applied compensations of a step; 0 where nothing came.
  int net(std::string const& saga, std::string const& step) const;
  // What must never happen: an effect that stands twice, a request for a saga that has ended.
  std::vector<std::string> faults() const;

 private:
  struct standing {
    std::set<std::string> done, undone;  // keys
    bool refuses = false;                // its compensation came first

    standing() = default;
  };

  void take(http::request const& what, http::responder way);
  // The answer's status, after the effect.
  std::int32_t act(arrival const& what, std::string const& body);
  void answer(http::responder way, std::int32_t status, std::string const& step);

  std::atomic<span> answers_after_;
  mutable std::mutex lock_;
  mutable std::condition_variable came_;
  std::vector<arrival> arrivals_;
  std::map<std::string, std::int32_t> answers_;                      // by key
  std::map<std::pair<std::string, std::string>, standing> stand_;    // by saga and step
  std::set<std::string> ended_, held_, refused_;                     // sagas; steps; paths
  std::vector<std::pair<std::string, std::function<void()>>> kept_;  // answers of held steps
  std::vector<std::string> faults_;
  std::unique_ptr<atone_test::test_server> server_;  // last: it works with the members above
};

}  // namespace atone::test
