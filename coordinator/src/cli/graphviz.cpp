#include "cli/graphviz.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <vector>

extern char** environ;

namespace atone::cli {
namespace {

constexpr std::size_t chunk = 65536;

struct closing {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using file_ptr = std::unique_ptr<std::FILE, closing>;

// Files without a name as its input and output: no pipe to fill up, nothing to clean up.
struct exchange_files {
  file_ptr in{std::tmpfile()};
  file_ptr out{std::tmpfile()};

  exchange_files() = default;
  bool ok() const noexcept { return in != nullptr && out != nullptr; }
};

class file_actions {
 public:
  file_actions() { posix_spawn_file_actions_init(&actions_); }
  ~file_actions() { posix_spawn_file_actions_destroy(&actions_); }
  file_actions(file_actions const&) = delete;
  file_actions& operator=(file_actions const&) = delete;
  void connect(std::FILE* file, int to) { posix_spawn_file_actions_adddup2(&actions_, fileno(file), to); }
  posix_spawn_file_actions_t const* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

std::string read_all(std::FILE* from) {
  std::rewind(from);
  std::string text;
  std::array<char, chunk> part{};
  for (auto size = std::fread(part.data(), 1, part.size(), from); size > 0; size = std::fread(part.data(), 1, part.size(), from)) {
    text.append(part.data(), size);
  }
  return text;
}

error failed(std::string const& why) {
  return {errc::internal, "graphviz's dot failed: " + why};
}

}  // namespace

result<std::string> run_graphviz(std::string_view dot_text, std::string const& format) {
  exchange_files files;
  if (!files.ok()) return failed("no temporary file");
  if (std::fwrite(dot_text.data(), 1, dot_text.size(), files.in.get()) != dot_text.size()) return failed("the temporary file is full");
  std::rewind(files.in.get());
  file_actions actions;
  actions.connect(files.in.get(), STDIN_FILENO);
  actions.connect(files.out.get(), STDOUT_FILENO);
  std::string program = "dot";
  std::string option = "-T" + format;
  std::vector<char*> words{program.data(), option.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, program.c_str(), actions.get(), nullptr, words.data(), environ) != 0) {
    return error{errc::unsupported, "graphviz (its program `dot`) is not installed: .dot and .mmd need nothing else"};
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return failed("exit status " + std::to_string(WEXITSTATUS(status)));
  return read_all(files.out.get());
}

}  // namespace atone::cli
