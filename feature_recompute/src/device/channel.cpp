#include "device/channel.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace atone::features {
namespace {

// The one descriptor that may come with a message.
struct control_room {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))] = {};
};

int milliseconds_of(std::optional<duration> within) {
  if (!within) return -1;
  auto const count = std::chrono::duration_cast<std::chrono::milliseconds>(*within).count();
  return static_cast<int>(std::clamp<std::int64_t>(count, 0, std::numeric_limits<int>::max()));
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
  pollfd wanted{socket, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&wanted, 1, milliseconds_of(within));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return receive_failure::timeout;
  received_message made;
  iovec part{&made.message, sizeof made.message};
  control_room control;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  ssize_t taken = 0;
  do {
    taken = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (taken < 0 && errno == EINTR);
  made.file = descriptor{descriptor_in(header)};
  if (taken != static_cast<ssize_t>(sizeof made.message)) return receive_failure::closed;
  return made;
}

}  // namespace atone::features
