#include "child.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include "failure.hpp"

namespace bench {
namespace {

constexpr int not_started = 127;
constexpr auto look_every = std::chrono::milliseconds{5};

void unblock_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Between fork and exec. The death signal comes after the change of user, which clears it.
[[noreturn]] void become(launch_options const& what, char* const* arguments, passwd const* user) {
  unblock_signals();
  if (what.in_own_session) ::setsid();
  if (user != nullptr && (::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0)) ::_exit(not_started);
  ::prctl(PR_SET_PDEATHSIG, what.farewell);
  int const out = ::open(what.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  int const in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (out < 0 || in < 0 || ::chdir(what.folder.c_str()) != 0) ::_exit(not_started);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execv(arguments[0], arguments);
  ::_exit(not_started);
}

}  // namespace

child child::fork_off(std::string const& title, std::function<int()> const& work) {
  pid_t const made = ::fork();
  if (made < 0) throw failure{std::string{"fork: "} + std::strerror(errno)};
  if (made > 0) return child{made};
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, title.c_str());
  unblock_signals();
  ::_exit(work());
}

child child::launch(launch_options const& what) {
  passwd const* const user = what.user.empty() ? nullptr : ::getpwnam(what.user.c_str());
  if (user == nullptr && !what.user.empty()) throw failure{"there is no user " + what.user + " to run " + what.words.front() + " as"};
  std::vector<char*> arguments;
  for (auto const& word : what.words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t const made = ::fork();
  if (made < 0) throw failure{std::string{"fork: "} + std::strerror(errno)};
  if (made == 0) become(what, arguments.data(), user);
  return child{made};
}

child& child::operator=(child&& other) noexcept {
  if (this == &other) return *this;
  kill_hard();
  pid_ = std::exchange(other.pid_, -1);
  return *this;
}
child::~child() {
  kill_hard();
}

void child::signal(int number) const noexcept {
  if (pid_ > 0) ::kill(pid_, number);
}

// False: it has not ended yet.
bool child::reap(int flags, int& exit_status) {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(pid_, &status, flags);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) return false;
  pid_ = -1;
  exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

int child::ended_within(waiter const& clock, steady::duration at_most) {
  auto const until = steady::now() + at_most;
  int exit_status = 0;
  while (pid_ > 0 && !reap(WNOHANG, exit_status)) {
    if (steady::now() >= until) return -1;
    clock.pause(std::min<steady::duration>(look_every, at_most));
  }
  return exit_status;
}

void child::stop(waiter const& clock, int number, steady::duration grace) {
  if (pid_ <= 0) return;
  signal(number);
  try {
    (void)ended_within(clock, grace);
  } catch (interrupted const&) {
    // Asked a second time: no more patience.
  }
  kill_hard();
}

void child::kill_hard() {
  if (pid_ <= 0) return;
  signal(SIGKILL);
  int ignored = 0;
  reap(0, ignored);
}

std::string file_text(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace bench
