// atoned as a process of a test: started on a free port, stopped by its pid.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace atone_test {

// A folder of its own, gone at the end.
class scratch {
 public:
  scratch() {
    auto pattern = (std::filesystem::temp_directory_path() / "atone-daemon-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~scratch() { std::filesystem::remove_all(path_); }
  std::string file(std::string const& name) const { return path_ + "/" + name; }
  std::string store() const { return "sqlite:" + file("sagas.db"); }

 private:
  std::string path_;
};

class daemon_process {
 public:
  explicit daemon_process(std::vector<std::string> flags, std::string log_file) : log_(std::move(log_file)) {
    flags.insert(flags.begin(), {ATONED, "--listen", "127.0.0.1:0"});
    std::vector<char*> words;
    for (auto& flag : flags) words.push_back(flag.data());
    words.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error{"pipe"};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    auto const failed = ::posix_spawn(&pid_, ATONED, &actions, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    out_ = ends[0];
    if (failed != 0) throw std::runtime_error{"can't start " ATONED};
  }
  ~daemon_process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
    ::close(out_);
  }
  daemon_process(daemon_process const&) = delete;
  daemon_process& operator=(daemon_process const&) = delete;

  // The line that says where it listens; empty when it ended instead.
  std::string url() {
    std::string line;
    char c = 0;
    while (::read(out_, &c, 1) == 1 && c != '\n') line += c;
    auto const at = line.find('(');
    return line.starts_with("listening on 127.0.0.1:") && line.ends_with(')') ? line.substr(at + 1, line.size() - at - 2) : "";
  }
  void signal(int which) const { ::kill(pid_, which); }
  // Its exit code; negative: the signal that ended it.
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string log() const {
    std::ifstream file{log_};
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  std::string log_;
};

}  // namespace atone_test
