#include "cli/saga_access.hpp"

#include <algorithm>

#include "cli/figures.hpp"
#include "cli/wire.hpp"

namespace atone::cli {
namespace {

constexpr duration one_wait_max = std::chrono::seconds{20};  // of a single request
constexpr duration answer_grace = std::chrono::seconds{10};  // for the answer, beyond what the daemon was asked to wait
constexpr duration reconnect_pause = std::chrono::milliseconds{500};

style tone_of(saga_status status) noexcept {
  if (status == saga_status::completed) return style::good;
  return status == saga_status::parked ? style::bad : style::warn;
}

}  // namespace

result<target> saga_target(std::string const& typed_id, std::string_view what) {
  auto const id = saga_id::parse(typed_id);
  if (!id) return error{errc::invalid_argument, "'" + typed_id + "' is no saga id: expected 26 characters, as `atone list` shows them"};
  target out{"/v1/sagas"};
  out.segment(id->text());
  if (!what.empty()) out.segment(what);
  return out;
}

bool has_settled(saga_status status) noexcept {
  return is_final(status) || status == saga_status::parked;
}

exit_code exit_code_of(saga_status status) noexcept {
  switch (status) {
    case saga_status::completed: return exit_code::done;
    case saga_status::compensated: return exit_code::negative;
    case saga_status::parked: return exit_code::parked;
    default: return exit_code::timed_out;
  }
}

result<json::value> wait_for_saga(std::string const& id, duration timeout, surroundings const& with) {
  auto const until = with.now() + timeout;
  while (true) {
    auto const left = std::max(duration::zero(), std::chrono::duration_cast<duration>(until - with.now()));
    auto const this_time = std::min(left, one_wait_max);
    auto to = saga_target(id, "wait");
    if (!to) return to.error();
    to->query("timeout", format_duration(std::chrono::duration_cast<std::chrono::milliseconds>(this_time)));
    auto answer = daemon_client{with}.get(*to, this_time + answer_grace);
    bool const is_over = left == duration::zero();
    if (answer && (is_over || has_settled(read_saga(*answer).status))) return answer;
    if (!answer && (is_over || !answer.error().retryable())) return answer;
    if (!answer) with.pause(reconnect_pause);
  }
}

void print_outcome(json::value const& saga, terminal const& to) {
  auto const row = read_saga(saga);
  std::string words{name(row.status)};
  if (row.ended_at) words += " in " + readable(std::chrono::duration_cast<duration>(*row.ended_at - row.started_at));
  if (row.wake_at) words += ", waits until " + format_timestamp(*row.wake_at);
  to.out() << to.paint(tone_of(row.status), words) << '\n';
  if (!row.cause.empty()) to.out() << "cause   " << printable(row.cause) << '\n';
  if (!row.output.empty()) to.out() << "output  " << printable(row.output) << '\n';
}

}  // namespace atone::cli
