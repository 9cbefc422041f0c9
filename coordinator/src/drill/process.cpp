#include "drill/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

namespace atone::drill {
namespace {

constexpr int look_every_ms = 10;
constexpr int looks_max = 1000;  // ten seconds

// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(char const* line, int log, bool bound) {
  if (bound) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  int const nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::close_range(3, ~0U, 0);
  ::execl("/bin/sh", "sh", "-c", line, nullptr);
  ::_exit(127);
}

// 'Z': it has ended, and nobody has asked how yet.
bool is_alive(pid_t pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text{std::istreambuf_iterator<char>{stat}, {}};
  auto const end = text.rfind(')');
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] != 'Z' && text[end + 2] != 'X';
}

// As one word of the shell's.
std::string quoted(std::string const& text) {
  std::string made = "'";
  for (char const each : text) made += each == '\'' ? std::string{"'\\''"} : std::string{each};
  return made + "'";
}

}  // namespace

result<command> command::start(std::string const& line, std::string const& log, bool bound) {
  auto const* const file = log.empty() ? "/dev/null" : log.c_str();
  int const to = ::open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (to < 0) return error{errc::unavailable, log + " can't be written: " + std::strerror(errno)};
  command made;
  made.pid_ = ::fork();
  if (made.pid_ == 0) become(line.c_str(), to, bound);
  ::close(to);
  if (made.pid_ < 0) return error{errc::unavailable, "`" + line + "` can't be started: " + std::strerror(errno)};
  return made;
}

bool command::running() {
  if (pid_ <= 0) return false;
  pid_t got = 0;
  do {
    got = ::waitpid(pid_, &status_, WNOHANG);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return true;
  pid_ = -1;
  return false;
}

void command::reap() {
  if (pid_ <= 0) return;
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool command::succeeded() const noexcept {
  return WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
}

std::string command::exit_text() const {
  if (WIFSIGNALED(status_)) return "ended by signal " + std::to_string(WTERMSIG(status_));
  return "ended with status " + std::to_string(WEXITSTATUS(status_));
}

void command::signal(int which) const {
  if (pid_ > 0) ::kill(pid_, which);
}

managed_process::~managed_process() {
  go_on();
  if (ours_) stop();
}

pid_t managed_process::pid() const {
  if (started_.pid() > 0) return started_.pid();
  if (plan_.pid_file.empty()) return -1;
  std::ifstream file{plan_.pid_file};
  pid_t found = -1;
  file >> found;
  return file && found > 1 ? found : -1;
}

bool managed_process::running() {
  if (started_.pid() > 0) return started_.running();
  auto const found = pid();
  return found > 0 && is_alive(found);
}

result<void> managed_process::bring_up() {
  if (running()) return {};
  if (!can_start())
    return error{errc::unavailable,
                 "process " + plan_.name + " is not running, by " + plan_.pid_file + ", and the plan has no `start` for it"};
  ours_ = true;
  return start();
}

result<void> managed_process::start() {
  auto const note = plan_.pid_file.empty() ? std::string{} : "echo $$ > " + quoted(plan_.pid_file) + " || exit 126; ";
  auto made = command::start(note + "exec " + plan_.start, plan_.log, ours_);
  if (!made) return made.error();
  started_ = *made;
  return {};
}

result<void> managed_process::send(int signal, std::string const& what) const {
  auto const to = pid();
  if (to > 0 && ::kill(to, signal) == 0) return {};
  return error{errc::unavailable,
               "process " + plan_.name + " can't be " + what + ": " + (to > 0 ? std::strerror(errno) : "it is not there")};
}

result<void> managed_process::kill() {
  auto sent = send(SIGKILL, "killed");
  paused_ = false;
  if (sent) started_.reap();
  return sent;
}

result<void> managed_process::pause() {
  auto sent = send(SIGSTOP, "stopped");
  paused_ = sent.has_value();
  return sent;
}

void managed_process::go_on() {
  if (std::exchange(paused_, false)) static_cast<void>(send(SIGCONT, "continued"));
}

void managed_process::stop() {
  if (!running()) return;
  static_cast<void>(send(SIGTERM, "ended"));
  for (int look = 0; look < looks_max && running(); ++look) ::poll(nullptr, 0, look_every_ms);
  if (running()) static_cast<void>(kill());
}

}  // namespace atone::drill
