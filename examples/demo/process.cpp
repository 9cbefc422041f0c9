#include "process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

namespace demo {
namespace {

using atone::errc;
using atone::error;
using atone::result;

constexpr std::string_view announcement = "listening on 127.0.0.1:";
constexpr atone::duration look_every = std::chrono::milliseconds{10};
constexpr int not_started = 127;

std::string text_of(std::string const& file, std::size_t from) {
  std::ifstream in{file, std::ios::binary};
  in.seekg(static_cast<std::streamoff>(from));
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* arguments, int log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execv(arguments[0], arguments);
  _exit(not_started);
}

}  // namespace

result<process> process::start(std::string program, std::vector<std::string> arguments, std::string log) {
  if (access(program.c_str(), X_OK) != 0) return error{errc::not_found, program + " can't be run: " + std::strerror(errno)};
  int const to = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (to < 0) return error{errc::unavailable, log + " can't be written: " + std::strerror(errno)};
  std::vector<char*> words{program.data()};
  for (auto& each : arguments) words.push_back(each.data());
  words.push_back(nullptr);
  pid_t const child = fork();
  if (child == 0) become(words.data(), to);
  close(to);
  if (child < 0) return error{errc::unavailable, program + " can't be started: " + std::strerror(errno)};
  process made{child};
  made.ended_ = false;
  return made;
}

process::process(process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(other.status_), ended_(std::exchange(other.ended_, true)) {}

process& process::operator=(process&& other) noexcept {
  if (this == &other) return *this;
  stop();
  pid_ = std::exchange(other.pid_, -1);
  status_ = other.status_;
  ended_ = std::exchange(other.ended_, true);
  return *this;
}

process::~process() {
  stop();
}

bool process::reap(bool block) {
  if (ended_) return true;
  pid_t got = 0;
  do {
    got = waitpid(pid_, &status_, block ? 0 : WNOHANG);
  } while (got < 0 && errno == EINTR);
  ended_ = got != 0;
  return ended_;
}

bool process::running() {
  return !reap(false);
}

std::string process::exit_text() const {
  if (WIFSIGNALED(status_)) return "ended by signal " + std::to_string(WTERMSIG(status_));
  return "ended with status " + std::to_string(WEXITSTATUS(status_));
}

int process::wait() {
  reap(true);
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
}

void process::kill_hard() {
  if (ended_) return;
  kill(pid_, SIGKILL);
  reap(true);
}

void process::stop(atone::duration grace) {
  if (ended_ || reap(false)) return;
  kill(pid_, SIGTERM);
  for (atone::duration waited{}; waited < grace; waited += look_every) {
    if (reap(false)) return;
    std::this_thread::sleep_for(look_every);
  }
  kill_hard();
}

std::size_t size_of(std::string const& file) {
  struct stat found{};
  return stat(file.c_str(), &found) == 0 ? static_cast<std::size_t>(found.st_size) : 0;
}

std::uint16_t printed_port(std::string const& log, std::size_t from) {
  auto const text = text_of(log, from);
  auto const at = text.find(announcement);
  auto const end = at == std::string::npos ? at : text.find('\n', at);
  if (end == std::string::npos) return 0;  // not printed, or only half of it
  return static_cast<std::uint16_t>(std::strtoul(text.c_str() + at + announcement.size(), nullptr, 10));
}

result<std::uint16_t> wait_for_port(process& of, std::string const& log, std::size_t from, atone::duration patience) {
  for (atone::duration waited{}; waited < patience; waited += look_every) {
    if (auto const port = printed_port(log, from); port != 0) return port;
    if (!of.running()) return error{errc::unavailable, of.exit_text() + ": " + text_of(log, from)};
    std::this_thread::sleep_for(look_every);
  }
  return error{errc::unavailable, "it printed no port within " + atone::format_duration(patience) + ": " + text_of(log, from)};
}

}  // namespace demo
