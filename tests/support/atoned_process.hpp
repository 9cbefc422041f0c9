// atoned as a process of its own: started on a free port, signalled and awaited by its pid, killed with the test program at the latest.
// The program's path is ATONED, which the build defines. Thread rules: one thread, that of main(): the process dies with it.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace atone::test {

class atoned_process {
 public:
  // `environment`: entries NAME=VALUE beside those of the test program.
  atoned_process(std::vector<std::string> flags, std::string log_file, std::vector<std::string> environment = {})
      : log_(std::move(log_file)) {
    flags.insert(flags.begin(), {ATONED, "--listen", "127.0.0.1:0"});
    auto words = pointers(flags);
    for (auto* const* one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
    auto values = pointers(environment);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error{"pipe"};
    int const log = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(ends[1], 1);
      ::dup2(log, 2);
      ::close_range(3, ~0U, 0);  // sockets of the test's own servers among them
      ::execve(ATONED, words.data(), values.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    ::close(log);
    out_ = ends[0];
    if (pid_ < 0) throw std::runtime_error{"can't start " ATONED};
  }
  ~atoned_process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      static_cast<void>(wait());
    }
    ::close(out_);
  }
  atoned_process(atoned_process const&) = delete;
  atoned_process& operator=(atoned_process const&) = delete;

  // Where it listens, once it says so; empty when it ended instead.
  std::string const& url() {
    if (!url_.empty()) return url_;
    std::string line;
    char c = 0;
    while (::read(out_, &c, 1) == 1 && c != '\n') line += c;
    auto const at = line.find('(');
    if (line.starts_with("listening on ") && line.ends_with(')')) url_ = line.substr(at + 1, line.size() - at - 2);
    return url_;
  }
  void signal(int which) const { ::kill(pid_, which); }
  bool running() const noexcept { return pid_ > 0; }
  // Its exit code; negative: the signal that ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return code_of(status);
  }
  // The same, or nothing when it has not ended by then: its standard output closes with it.
  std::optional<int> wait_for(std::chrono::milliseconds at_most) {
    auto const end = std::chrono::steady_clock::now() + at_most;
    char dropped[256];
    for (;;) {
      auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
      pollfd watched{out_, POLLIN, 0};
      if (left < 0 || ::poll(&watched, 1, static_cast<int>(left)) <= 0) return std::nullopt;
      if (::read(out_, dropped, sizeof dropped) <= 0) return wait();
    }
  }
  std::string log() const {
    std::ifstream file{log_};
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& of) {
    std::vector<char*> made;
    for (auto& one : of) made.push_back(one.data());
    made.push_back(nullptr);
    return made;
  }
  static int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

  pid_t pid_ = -1;
  int out_ = -1;
  std::string log_;
  std::string url_;
};

}  // namespace atone::test
