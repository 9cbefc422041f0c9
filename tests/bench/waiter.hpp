// How the main thread waits: for time, or for another thread's bell, or for Ctrl-C, whichever comes first.
#pragma once

#include <chrono>
#include <exception>

namespace bench {

using steady = std::chrono::steady_clock;

// Somebody pressed Ctrl-C or sent SIGTERM: thrown by a waiter, so that everything started is stopped on the way out.
class interrupted : public std::exception {
 public:
  char const* what() const noexcept override { return "interrupted"; }
};

// Rung once by any thread; heard by the main thread.
class bell {
 public:
  bell();
  ~bell();
  bell(bell const&) = delete;
  bell& operator=(bell const&) = delete;

  void ring() noexcept;
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

// Make it before any thread: those it starts inherit the blocked signals.
class waiter {
 public:
  waiter();
  ~waiter();
  waiter(waiter const&) = delete;
  waiter& operator=(waiter const&) = delete;

  // Returns at once when the moment has passed.
  void pause_until(steady::time_point moment) const;
  void pause(steady::duration for_time) const { pause_until(steady::now() + for_time); }
  // True: the descriptor became readable. False: the time passed first.
  bool hear(int descriptor, steady::duration at_most) const;

 private:
  bool wait(int descriptor, steady::time_point until) const;

  int signals_;
};

}  // namespace bench
