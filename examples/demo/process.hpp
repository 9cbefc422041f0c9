// A child process: the daemon or a service. Killed with its parent, so that an aborted demo leaves nothing behind.
// Thread rules: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include <atone/result.hpp>
#include <atone/time.hpp>

namespace demo {

class process {
 public:
  // Starts `program` with standard output and standard error in `log` (appended). Errors: not_found when it can't be started.
  static atone::result<process> start(std::string program, std::vector<std::string> arguments, std::string log);
  process() = default;
  process(process&& other) noexcept;
  process& operator=(process&& other) noexcept;
  ~process();  // ends it: SIGTERM, after a while SIGKILL

  pid_t pid() const noexcept { return pid_; }
  bool running();  // false once it has ended; then exit_text() says how
  std::string exit_text() const;

  int wait();                                                   // until it has ended by itself; its exit status, or -1 after a signal
  void kill_hard();                                             // SIGKILL, and waits
  void stop(atone::duration grace = std::chrono::seconds{10});  // SIGTERM, SIGKILL after the grace, and waits

 private:
  explicit process(pid_t pid) : pid_(pid) {}
  bool reap(bool block);

  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = true;
};

// The port a program printed as "listening on 127.0.0.1:PORT" after the first `from` bytes of its log; 0: not yet.
std::uint16_t printed_port(std::string const& log, std::size_t from);
std::size_t size_of(std::string const& file);

// Waits until the program has printed its port. Errors: unavailable when it ended or `patience` ran out; the log's end is in the message.
atone::result<std::uint16_t> wait_for_port(process& of, std::string const& log, std::size_t from, atone::duration patience);

}  // namespace demo
