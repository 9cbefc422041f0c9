#include "device/channel.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace atone::features {
namespace {

// The one descriptor that may come with a message.
struct control_room {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))] = {};
};

// The kernel keeps the deadline: a signal, which ends a wait, does not begin it anew.
descriptor timer_of(duration within) {
  descriptor timer{timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
  auto const microseconds = std::max<std::int64_t>(within.count(), 1);  // 0 would be: never
  itimerspec until{};
  until.it_value.tv_sec = microseconds / 1'000'000;
  until.it_value.tv_nsec = microseconds % 1'000'000 * 1000;
  if (timer && timerfd_settime(timer.get(), 0, &until, nullptr) != 0) return descriptor{};
  return timer;
}

// Nothing: there is something to take, or the end.
std::optional<receive_failure> wait_for(int socket, int timer) {
  std::array<pollfd, 2> wanted{pollfd{socket, POLLIN, 0}, pollfd{timer, POLLIN, 0}};
  int ready = 0;
  do {
    ready = poll(wanted.data(), wanted.size(), -1);
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0 || (wanted[0].revents & POLLNVAL) != 0) return receive_failure::closed;
  if (wanted[0].revents == 0) return receive_failure::timeout;
  return std::nullopt;
}

int descriptor_in(msghdr& header) {
  for (auto* one = CMSG_FIRSTHDR(&header); one != nullptr; one = CMSG_NXTHDR(&header, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    int file = -1;
    std::memcpy(&file, CMSG_DATA(one), sizeof file);
    return file;
  }
  return -1;
}

}  // namespace

descriptor::~descriptor() {
  if (of_ >= 0) close(of_);
}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  std::swap(of_, other.of_);
  return *this;
}

std::optional<shared_memory> shared_memory::make(std::size_t size) {
  descriptor file{memfd_create("atone", MFD_CLOEXEC)};
  if (!file || ftruncate(file.get(), static_cast<off_t>(size)) != 0) return std::nullopt;
  return see(std::move(file), size);
}

std::optional<shared_memory> shared_memory::see(descriptor file, std::size_t size) {
  auto* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) return std::nullopt;
  shared_memory made;
  made.file_ = std::move(file);
  made.at_ = static_cast<unsigned char*>(at);
  made.size_ = size;
  return made;
}

shared_memory::~shared_memory() {
  if (at_ != nullptr) munmap(at_, size_);
}

shared_memory::shared_memory(shared_memory&& other) noexcept
    : file_(std::move(other.file_)), at_(std::exchange(other.at_, nullptr)), size_(std::exchange(other.size_, 0)) {}

shared_memory& shared_memory::operator=(shared_memory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(at_, other.at_);
  std::swap(size_, other.size_);
  return *this;
}

bool send_message(int socket, worker_message const& message, int file) {
  iovec part{const_cast<worker_message*>(&message), sizeof message};
  control_room control;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (file >= 0) {
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof control.bytes;
    auto* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(rights), &file, sizeof file);
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof message);
}

result<received_message, receive_failure> receive_message(int socket, std::optional<duration> within) {
  auto const timer = within ? timer_of(*within) : descriptor{};
  if (socket < 0 || (within && !timer)) return receive_failure::closed;
  received_message made;
  iovec part{&made.message, sizeof made.message};
  control_room control;
  msghdr header{};
  ssize_t taken = 0;
  do {
    if (auto const failure = wait_for(socket, timer.get())) return *failure;
    header = msghdr{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof control.bytes;
    taken = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (taken < 0 && (errno == EINTR || errno == EAGAIN));
  if (taken >= 0) made.file = descriptor{descriptor_in(header)};
  if (taken != static_cast<ssize_t>(sizeof made.message) || (header.msg_flags & MSG_TRUNC) != 0) return receive_failure::closed;
  return made;
}

}  // namespace atone::features
