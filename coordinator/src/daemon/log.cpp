#include "daemon/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atone/json.hpp>

namespace atone::daemon {
namespace {

spdlog::level::level_enum level_of(log_level level) noexcept {
  switch (level) {
    case log_level::debug: return spdlog::level::debug;
    case log_level::info: return spdlog::level::info;
    case log_level::warn: return spdlog::level::warn;
    case log_level::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

struct log::impl {
  spdlog::logger logger{"atoned", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
};

log::log(std::string const& least) : impl_(std::make_unique<impl>()) {
  impl_->logger.set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l",%v})", spdlog::pattern_time_type::utc);
  impl_->logger.set_level(spdlog::level::from_str(least));
  impl_->logger.flush_on(spdlog::level::debug);
}

log::~log() = default;

void log::write(log_level level, std::string_view message, std::initializer_list<field> fields) {
  if (!impl_->logger.should_log(level_of(level))) return;
  std::string line = R"("message":)";
  json::append_string(line, message);
  for (auto const& [name, value] : fields) {
    line += ',';
    json::append_string(line, name);
    line += ':';
    json::append_string(line, value);
  }
  impl_->logger.log(level_of(level), spdlog::string_view_t{line.data(), line.size()});
}

}  // namespace atone::daemon
