// Cuts a connection whose answer does not come: libpq's blocking calls have no limit of their own, and a server that was
// stopped keeps its sockets alive. Thread rules: one watchdog serves the connections of many threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace atone::postgres {

class watchdog {
 public:
  watchdog();
  ~watchdog();
  watchdog(watchdog const&) = delete;
  watchdog& operator=(watchdog const&) = delete;

  using moment = std::chrono::steady_clock::time_point;

  // An open connection, from its making to its end.
  class enrolment {
   public:
    enrolment(watchdog& of, int socket);
    ~enrolment();
    enrolment(enrolment const&) = delete;
    enrolment& operator=(enrolment const&) = delete;

   private:
    watchdog& of_;
    int const socket_;  // a duplicate: the number stays ours when the library closes its own
    std::uint64_t const ticket_;
  };
  // Cuts every open connection that was made before then, whether it waits for an answer or not: the server it goes to may be there no
  // more.
  void cut_older(moment made_before);

  // Shuts `socket` down for reading and writing when the guard still lives after `limit`.
  class guard {
   public:
    guard(watchdog& of, int socket, std::chrono::milliseconds limit);
    ~guard();
    guard(guard const&) = delete;
    guard& operator=(guard const&) = delete;

   private:
    watchdog& of_;
    std::uint64_t const ticket_;
  };

 private:
  struct watched {
    int socket;
    moment due;
  };

  std::uint64_t arm(int socket, std::chrono::milliseconds limit);
  void disarm(std::uint64_t ticket);
  void run();
  moment cut_overdue(moment now);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, watched> armed_;
  std::map<std::uint64_t, std::pair<int, moment>> enrolled_;  // socket, and when it was made
  moment wakes_at_ = moment::max();
  std::uint64_t next_ticket_ = 1;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace atone::postgres
