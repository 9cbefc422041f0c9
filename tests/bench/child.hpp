// A process that the bench started and stops, by its id; it dies with the bench.
// Thread rules: one thread. `fork_off` only while the bench has no other thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "waiter.hpp"

namespace bench {

struct launch_options {
  std::vector<std::string> words;  // program and arguments
  std::string log;                 // both outputs, appended
  std::string folder = "/";
  std::string user;             // run as this user; empty: as we are
  int farewell = 9;             // signal it gets when the bench dies
  bool in_own_session = false;  // Ctrl-C at the terminal does not reach it

  launch_options() = default;
};

class child {
 public:
  child() = default;
  // Runs `work` in a copy of this process; its value is the exit status. `title` is what ps and perf show.
  static child fork_off(std::string const& title, std::function<int()> const& work);
  static child launch(launch_options const& what);
  child(child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  child& operator=(child&& other) noexcept;
  ~child();  // SIGKILL

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const noexcept;
  // Its exit status (128 + the signal that ended it) once it has ended, or -1 when the time passed first.
  int ended_within(waiter const& clock, steady::duration at_most);
  // Sends the signal, waits, and kills what has not ended by then.
  void stop(waiter const& clock, int number, steady::duration grace);
  void kill_hard();

 private:
  explicit child(pid_t pid) : pid_(pid) {}
  bool reap(int flags, int& exit_status);

  pid_t pid_ = -1;
};

std::string file_text(std::string const& path);

}  // namespace bench
