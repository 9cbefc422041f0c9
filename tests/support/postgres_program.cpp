// atone_test_postgres: starts a private PostgreSQL server, runs a command with its address, and stops the server.
//   atone_test_postgres [--print] COMMAND [ARGUMENT …]
// In the command's environment ATONE_TEST_POSTGRES is the address of an empty database; `{}` in an argument is replaced
// by it. Ends with the command's exit code; 77 where PostgreSQL is missing (1 when CI is set).
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "postgres_server.hpp"

namespace {

constexpr int skipped = 77;

std::string with_address(std::string word, std::string const& address) {
  for (auto at = word.find("{}"); at != std::string::npos; at = word.find("{}", at + address.size())) word.replace(at, 2, address);
  return word;
}

int run(std::vector<std::string> const& command) {
  std::vector<char*> arguments;
  for (auto const& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t const child = ::fork();
  if (child == 0) {
    ::execvp(arguments[0], arguments.data());
    std::perror(arguments[0]);
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) return 126;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int count, char** values) {
  std::vector<std::string> words(values + 1, values + count);
  bool const print = !words.empty() && words.front() == "--print";
  if (print) words.erase(words.begin());
  if (words.empty()) {
    std::fprintf(stderr, "usage: atone_test_postgres [--print] COMMAND [ARGUMENT …]   ({} stands for the database's address)\n");
    return 2;
  }
  if (auto const why = atone::test::postgres_server::missing(); !why.empty()) {
    std::fprintf(stderr, "skipped, because %s\n", why.c_str());
    return std::getenv("CI") != nullptr ? 1 : skipped;
  }
  atone::test::postgres_server server;
  auto const address = server.address(server.make_database());
  ::setenv("ATONE_TEST_POSTGRES", address.c_str(), 1);
  if (print) {
    std::printf("%s\n", address.c_str());
    std::fflush(stdout);
  }
  for (auto& word : words) word = with_address(std::move(word), address);
  return run(words);
}
