#include "sqlite_place.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>

namespace atone::test {
namespace {

std::filesystem::path make_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "atone-sqlite-XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  return pattern;
}

int first_value(void* to, int count, char** values, char**) {
  auto& answer = *static_cast<std::string*>(to);
  if (answer.empty() && count > 0 && values[0] != nullptr) answer = values[0];
  return 0;
}

std::string run(std::string const& path, std::string const& statements) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  sqlite3_busy_timeout(database, 5'000);
  std::string answer;
  char* failure = nullptr;
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), first_value, &answer, &failure), SQLITE_OK) << failure << " in " << statements;
  sqlite3_free(failure);
  sqlite3_close(database);
  return answer;
}

}  // namespace

sqlite_place::sqlite_place() : folder_(make_folder()) {}

sqlite_place::~sqlite_place() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

result<std::unique_ptr<store>> sqlite_place::open() {
  return open_store(address());
}
void sqlite_place::execute(std::string const& statements) {
  run(path(), statements);
}
std::string sqlite_place::ask(std::string const& statement) {
  return run(path(), statement);
}
void sqlite_place::pretend_newer() {
  execute("INSERT INTO atone_migration (number, name, applied_at) VALUES (9001, 'from the future', 0)");
}

store_factory sqlite_factory() {
  store_factory made;
  made.name = "sqlite";
  made.make = [] { return std::unique_ptr<store_place>(new sqlite_place); };
  return made;
}

}  // namespace atone::test
