#include "cli/audit_state.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <atone/json.hpp>

namespace atone::cli {
namespace {

constexpr std::size_t time_bytes = 6;

error wrong(std::string const& path, std::string const& what) {
  return error{errc::invalid_argument, path + ": " + what + "; expected what `atone audit --state` wrote: " +
                                           R"({"judged_up_to": "SAGA-ID", "open": ["SAGA-ID", …]})"};
}

std::optional<saga_id> id_in(json::value const& of) {
  return of.type() == json::kind::string ? saga_id::parse(of.as_string()) : std::nullopt;
}

}  // namespace

result<std::optional<audit_state>> read_audit_state(std::string const& path) {
  if (path.empty() || !std::filesystem::exists(path)) return std::optional<audit_state>{};
  std::ifstream file{path, std::ios::binary};
  auto const parsed = json::parse(std::string{std::istreambuf_iterator<char>{file}, {}});
  if (!file || !parsed) return wrong(path, parsed ? "can't be read" : parsed.error().message);
  if (parsed->type() != json::kind::object) return wrong(path, "found no object");
  audit_state made;
  auto const newest = parsed->find("judged_up_to");
  auto const id = newest ? id_in(*newest) : std::nullopt;
  if (!id) return wrong(path, "judged_up_to is no saga's id");
  made.judged_up_to = *id;
  auto const open = parsed->find("open");
  if (!open || open->type() != json::kind::array) return wrong(path, "open is no list");
  for (auto const& one : open->elements()) {
    auto const which = id_in(one);
    if (!which) return wrong(path, "open holds what is no saga's id");
    made.open.insert(*which);
  }
  return std::optional{made};
}

result<void> write_audit_state(std::string const& path, audit_state const& what) {
  json::writer to;
  to.begin_object().key("judged_up_to").string(what.judged_up_to.text()).key("open").begin_array();
  for (auto const one : what.open) to.string(one.text());
  to.end_array().end_object();
  auto const beside = path + ".new";
  std::ofstream file{beside, std::ios::binary | std::ios::trunc};
  file << to.take() << '\n';
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(beside, path, failed);
  if (file && !failed) return {};
  return error{errc::unavailable, path + ": how far this audit has come can't be written there"};
}

saga_id older_by(saga_id than, duration time) noexcept {
  std::uint64_t at = 0;
  for (std::size_t byte = 0; byte < time_bytes; ++byte) at = at << 8U | than.value()[byte];
  auto const less = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
  at -= std::min(at, less);
  saga_id::bytes made{};
  for (std::size_t byte = time_bytes; byte > 0; --byte, at >>= 8U) made[byte - 1] = static_cast<std::uint8_t>(at);
  return saga_id{made};
}

}  // namespace atone::cli
