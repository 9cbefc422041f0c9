// Processes of the installation: found by a process id, or started by a command line; killed, stopped and continued by signals.
//
// Thread rules: one thread, that of main(): what is started ends with it at the latest (but for what was there before).
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

#include <atone/result.hpp>

#include "drill/plan.hpp"

namespace atone::drill {

// A command line under /bin/sh, in a session of its own: a Ctrl-C at the terminal does not reach it.
class command {
 public:
  // `bound`: it is killed when this program dies. What it prints is appended to `log`; empty: dropped. Errors (unavailable): no process,
  // or no log.
  static result<command> start(std::string const& line, std::string const& log, bool bound);
  command() = default;

  pid_t pid() const noexcept { return pid_; }
  bool running();  // false once it has ended; exit_text() says how
  bool succeeded() const noexcept;
  std::string exit_text() const;
  void signal(int which) const;  // to everything that it has started and that has not left its process group
  void reap();                   // waits until it has ended

 private:
  pid_t pid_ = -1;
  int status_ = 0;
};

// Which process a number means: the system gives a number again, to whoever comes.
struct process_identity {
  pid_t pid = -1;
  std::uint64_t started = 0;  // by its entry in /proc
  std::int64_t written = 0;   // when the pid file was that named it, nanoseconds

  process_identity() = default;
};

// One process of the plan.
class managed_process {
 public:
  explicit managed_process(process_plan const& of) : plan_(of) {}
  // Continues it where it is stopped; ends it when the drill brought it up.
  ~managed_process();
  managed_process(managed_process const&) = delete;
  managed_process& operator=(managed_process const&) = delete;

  process_plan const& plan() const noexcept { return plan_; }
  // Finds it running, or starts it: then it is ended at the end. Errors: it can't be started, or nobody says how.
  result<void> bring_up();
  // By its command line, which takes the shell's place. Its process id is written to the pid file, where there is one, before the program
  // begins: one that writes its own may do so.
  result<void> start();
  // From the next start on: clock_library.hpp.
  void set_clock(duration off, std::string const& library);
  // Whether this library is in it now; of one that the drill has started.
  bool has_loaded(std::string const& library) const;
  bool can_start() const noexcept { return !plan_.start.empty(); }
  bool running();
  // Of one that the drill has started and that has ended.
  std::string exit_text() const { return started_.exit_text(); }
  // Errors (unavailable): it is not there.
  result<void> kill();
  result<void> pause();
  void go_on();
  // SIGTERM, after a while SIGKILL; waits.
  void stop();

 private:
  // Whom the pid file means: only for one that the drill itself has never started. Errors: nobody, or somebody else.
  result<process_identity> named();
  result<void> send(int signal, std::string const& what);
  // What the library that gave it another clock has left behind.
  void clear_clock();

  process_plan const& plan_;
  std::string clock_;  // what gives it another clock, before its command line
  command started_;
  process_identity known_;  // by the pid file
  int clocked_ = -1;        // the process that was started with another clock
  bool by_drill_ = false;   // it was started by the drill: the pid file is looked at no more
  bool ours_ = false;       // it was not there before the drill
  bool paused_ = false;
};

}  // namespace atone::drill
