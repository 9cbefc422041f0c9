// A folder of its own with one SQLite file, for tests; removed with the object.
#pragma once

#include <filesystem>
#include <string>

#include "store_factory.hpp"

namespace atone::test {

class sqlite_place final : public store_place {
 public:
  sqlite_place();
  ~sqlite_place() override;
  sqlite_place(sqlite_place const&) = delete;
  sqlite_place& operator=(sqlite_place const&) = delete;

  result<std::unique_ptr<store>> open() override;
  void execute(std::string const& statements) override;
  std::string ask(std::string const& statement) override;
  void pretend_newer() override;

  std::filesystem::path const& folder() const noexcept { return folder_; }
  std::string path() const { return (folder_ / "store.db").string(); }
  std::string address() const { return "sqlite:" + path(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace atone::test
