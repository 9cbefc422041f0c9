#include "device/worker_process.hpp"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace atone::features {
namespace {

// How long a killed worker may take to go; beyond, it is parked.
constexpr duration gone_within = std::chrono::seconds{2};

error gone(std::string const& what) {
  return error{errc::unavailable, "the GPU's worker " + what};
}

std::string ended_as(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return "was killed";
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::optional<int> reap(pid_t process, duration within) noexcept {
  int status = 0;
  for (auto left = std::chrono::duration_cast<std::chrono::milliseconds>(within).count(); left >= 0; --left) {
    auto const ended = waitpid(process, &status, WNOHANG);
    if (ended == process) return status;
    if (ended < 0 && errno != EINTR) return 0;  // somebody else has reaped it
    if (left > 0) poll(nullptr, 0, 1);
  }
  return std::nullopt;
}

bool parked_process::is_gone() noexcept {
  if (process_ >= 0 && reap(process_, duration{})) process_ = -1;
  return process_ < 0;
}

result<std::unique_ptr<worker_process>> worker_process::start(gpu_worker_options const& options, std::shared_ptr<parked_process> parked) {
  if (!parked->is_gone()) return gone("before, process " + std::to_string(parked->process()) + ", was killed and is still there");
  std::unique_ptr<worker_process> made{new worker_process{options, std::move(parked)}};
  if (auto done = made->spawn(); !done) return done.error();
  worker_message open;
  open.word = worker_word::open;
  open.device = options.gpu.device;
  open.tuning.thread_rows = options.gpu.thread_rows;
  open.tuning.warp_rows = options.gpu.warp_rows;
  open.tuning.block_threads = options.gpu.block_threads;
  open.tuning.scratch_bytes = options.gpu.scratch_bytes;
  open.tuning.result_bytes = options.gpu.result_bytes;
  if (auto done = made->ask(open, false, options.start_within); !done) return done.error();
  return made;
}

worker_process::~worker_process() {
  kill_it();
}

result<void> worker_process::spawn() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return gone("can't be started: no sockets");
  socket_ = descriptor{ends[0]};
  descriptor const theirs{ends[1]};
  std::string program = options_.program;
  std::string plugin = options_.gpu.plugin;
  std::array<char*, 3> words{program.data(), plugin.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);  // its standard input
  auto const failed = posix_spawn(&process_, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return {};
  process_ = -1;
  return gone("'" + program + "' can't be started: " + std::strerror(failed));
}

std::optional<int> worker_process::kill_it() noexcept {
  if (process_ < 0) return std::nullopt;
  is_asked_ = false;
  // Of one that is ending already this changes nothing: how it ended is settled before its socket closes.
  kill(process_, SIGKILL);
  socket_ = descriptor{};
  auto const status = reap(process_, gone_within);
  if (!status) parked_->put(process_);
  process_ = -1;
  return status;
}

std::string worker_process::end() {
  auto const process = process_;
  if (process < 0) return "has ended";
  auto const status = kill_it();
  return status ? ended_as(*status) : "was killed, and its process " + std::to_string(process) + " is still there";
}

// A worker that was asked and not heard may be writing still, and its next answer would be one to something else.
result<void> worker_process::be_idle() {
  if (!is_asked_) return {};
  end();
  return gone("was asked again before it was heard, and was ended");
}

result<void> worker_process::tell(worker_message message, bool with_room) {
  if (process_ < 0) return gone("has ended");
  message.number = ++number_;
  if (with_room) message.bytes = room_.size();
  if (!send_message(socket_.get(), message, with_room ? room_.file() : -1)) return gone(end());
  is_asked_ = true;
  return {};
}

result<void> worker_process::hear(duration within) {
  if (process_ < 0) return gone("has ended");
  auto answer = receive_message(socket_.get(), within);
  if (!answer) {
    auto const how = end();
    if (answer.error() == receive_failure::closed) return gone(how);
    return gone("did not answer within " + format_duration(within) + " and " + (parked_->process() < 0 ? "was ended" : how));
  }
  is_asked_ = false;
  auto& said = answer->message;
  said.why.text[sizeof said.why.text - 1] = 0;
  bool const is_ours = said.layout == device_layout();
  bool const is_its = is_ours && said.number == number_;
  if (is_its && said.status == device_status::done) return {};
  if (is_its && said.status == device_status::refused) return error{errc::exhausted, std::string{"the GPU refuses this: "} + said.why.text};
  end();
  if (!is_ours) return gone("is of another version");
  if (!is_its) return gone("answered another question and was ended");
  auto given_up = gone(std::string{"gave up: "} + said.why.text);
  if (said.status == device_status::unfit) given_up.code = errc::unsupported;
  return given_up;
}

result<void> worker_process::ask(worker_message message, bool with_room, duration within) {
  if (auto done = tell(message, with_room); !done) return done;
  return hear(within);
}

bool worker_process::make_room(std::size_t bytes) {
  if (room_.size() >= bytes) return true;
  room_ = shared_memory{};
  auto made = shared_memory::make(bytes);
  if (made) room_ = std::move(*made);
  return made.has_value();
}

result<void> worker_process::keep(flat_store const& store) {
  if (auto idle = be_idle(); !idle) return idle;
  arena measured;
  place_store(measured, store);
  if (!make_room(measured.size())) return error{errc::exhausted, "no memory to hand a store to the GPU's worker"};
  arena placed{room_.at()};
  to_distances(*place_store(placed, store));
  worker_message message;
  message.word = worker_word::keep;
  return ask(message, true, options_.answer_within);
}

result<void> worker_process::begin(device_job const& job) {
  if (auto idle = be_idle(); !idle) return idle;
  arena measured;
  place_job(measured, job);
  if (!make_room(measured.size())) return error{errc::exhausted, "no memory to hand a job to the GPU's worker"};
  arena placed{room_.at()};
  auto* const image = place_job(placed, job);
  results_.assign(image->job.results.at, image->job.results.at + image->job.results.size);
  to_distances(*image);
  worker_message message;
  message.word = worker_word::compute;
  return tell(message, true);
}

result<std::vector<flat_result>> worker_process::finish() {
  if (auto done = hear(options_.answer_within); !done) return done.error();
  return results_;
}

result<void> worker_process::heartbeat() {
  if (auto idle = be_idle(); !idle) return idle;
  worker_message message;
  message.word = worker_word::heartbeat;
  return ask(message, false, options_.answer_within);
}

}  // namespace atone::features
