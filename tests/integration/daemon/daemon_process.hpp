// atoned as a process of a test: started on a free port, stopped by its pid.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "atoned_process.hpp"

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

using daemon_process = atone::test::atoned_process;

}  // namespace atone_test
