// Structured log lines: one JSON object a line on standard error. spdlog is seen by log.cpp only.
// Thread rules: write() from any thread.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace atone::daemon {

enum class log_level : unsigned char { debug, info, warn, error };

class log {
 public:
  using field = std::pair<std::string_view, std::string_view>;

  explicit log(std::string const& least);
  ~log();
  log(log const&) = delete;
  log& operator=(log const&) = delete;

  void write(log_level level, std::string_view message, std::initializer_list<field> fields = {});

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace atone::daemon
