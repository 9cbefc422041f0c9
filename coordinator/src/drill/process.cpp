#include "drill/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "drill/clock_library.hpp"

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
  ::signal(SIGHUP, SIG_DFL);
  int const nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::close_range(3, ~0U, 0);
  ::execl("/bin/sh", "sh", "-c", line, nullptr);
  ::_exit(127);
}

constexpr auto older_at_most = std::chrono::seconds{5};  // a pid file than the process that it names

// When the process was started, in ticks since the machine was; nothing: there is none, or it has ended and nobody has asked how yet.
std::optional<std::uint64_t> start_of(pid_t pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text{std::istreambuf_iterator<char>{stat}, {}};
  auto const end = text.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream fields{text.substr(end + 1)};
  constexpr int between = 18;  // the state is field 3, the start 22
  std::string state;
  std::string passed;
  fields >> state;
  for (int n = 0; n < between; ++n) fields >> passed;
  std::uint64_t started = 0;
  fields >> started;
  return !fields || state == "Z" || state == "X" ? std::nullopt : std::optional{started};
}

// How long ago that was.
std::chrono::nanoseconds age_of(std::uint64_t started) {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  auto const up = std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
  return up - std::chrono::nanoseconds{std::chrono::seconds{1}} * static_cast<std::int64_t>(started) / ::sysconf(_SC_CLK_TCK);
}

std::optional<std::int64_t> written_at(std::string const& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return found.st_mtim.tv_sec * std::int64_t{1'000'000'000} + found.st_mtim.tv_nsec;
}

std::chrono::nanoseconds age_of_file(std::int64_t written) {
  return std::chrono::system_clock::now().time_since_epoch() - std::chrono::nanoseconds{written};
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
  if (pid_ <= 0) return;
  if (::kill(-pid_, which) != 0) ::kill(pid_, which);  // it has not become a group yet
}

managed_process::~managed_process() {
  go_on();
  if (ours_) stop();
}

result<process_identity> managed_process::named() {
  error const nobody{errc::not_found, "it is not there"};
  auto const written = plan_.pid_file.empty() ? std::nullopt : written_at(plan_.pid_file);
  if (!written) return nobody;
  process_identity found;
  std::ifstream file{plan_.pid_file};
  file >> found.pid;
  auto const started = file && found.pid > 1 ? start_of(found.pid) : std::nullopt;
  if (!started) return nobody;
  found.started = *started;
  found.written = *written;
  auto const number = std::to_string(found.pid);
  bool const known = found.pid == known_.pid && found.written == known_.written;
  if (known && found.started != known_.started) return error{errc::conflict, "process " + number + " is another one by now"};
  if (!known && age_of_file(found.written) > age_of(found.started) + older_at_most) {
    return error{errc::conflict, "process " + number + " was started after " + plan_.pid_file +
                                     " was written, so it is not the one that is meant; remove the file"};
  }
  known_ = found;
  return found;
}

bool managed_process::running() {
  return by_drill_ ? started_.running() : named().has_value();
}

result<void> managed_process::bring_up() {
  auto const there = named();
  if (there) return {};
  if (there.error().code == errc::conflict) return error{errc::conflict, "process " + plan_.name + ": " + there.error().message};
  if (!can_start())
    return error{errc::unavailable,
                 "process " + plan_.name + " is not running, by " + plan_.pid_file + ", and the plan has no `start` for it"};
  ours_ = true;
  return start();
}

result<void> managed_process::start() {
  auto const note = plan_.pid_file.empty() ? std::string{} : "echo $$ > " + quoted(plan_.pid_file) + " || exit 126; ";
  auto made = command::start(note + "exec " + clock_ + plan_.start, plan_.log, ours_);
  if (!made) return made.error();
  started_ = *made;
  by_drill_ = true;
  clear_clock();
  if (!clock_.empty()) clocked_ = started_.pid();
  return {};
}

void managed_process::set_clock(duration off, std::string const& library) {
  clock_ = clock_prefix(off, library);
}

bool managed_process::has_loaded(std::string const& library) const {
  std::ifstream maps{"/proc/" + std::to_string(started_.pid()) + "/maps"};
  auto const name = library.substr(library.rfind('/') + 1);
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with('/' + name)) return true;
  }
  return false;
}

void managed_process::clear_clock() {
  if (clocked_ > 0) forget_clock(std::exchange(clocked_, -1));
}

result<void> managed_process::send(int signal, std::string const& what) {
  auto const failed = [&](std::string const& why) {
    return error{errc::unavailable, "process " + plan_.name + " can't be " + what + ": " + why};
  };
  if (by_drill_) {
    if (started_.pid() <= 0) return failed("it is not there");
    started_.signal(signal);
    return {};
  }
  auto const to = named();
  if (!to) return failed(to.error().message);
  if (::kill(to->pid, signal) == 0) return {};
  return failed(std::strerror(errno));
}

result<void> managed_process::kill() {
  auto sent = send(SIGKILL, "killed");
  paused_ = false;
  if (sent) started_.reap();
  clear_clock();
  return sent;
}

result<void> managed_process::pause() {
  auto sent = send(SIGSTOP, "stopped");
  paused_ = sent.has_value();
  return sent;
}

void managed_process::go_on() {
  if (!std::exchange(paused_, false)) return;
  // Whoever was stopped, whatever the pid file says by now.
  bool const same = !by_drill_ && start_of(known_.pid) == known_.started;
  if (by_drill_) started_.signal(SIGCONT);
  if (same) ::kill(known_.pid, SIGCONT);
}

void managed_process::stop() {
  if (running()) static_cast<void>(send(SIGTERM, "ended"));
  for (int look = 0; look < looks_max && running(); ++look) ::poll(nullptr, 0, look_every_ms);
  if (running()) static_cast<void>(kill());
  clear_clock();
}

}  // namespace atone::drill
