// Between the core and a GPU's worker: one message a request and one an answer, over a socket pair; what is large lies in memory that both
// see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <atone/result.hpp>
#include <atone/time.hpp>

#include "device/interface.hpp"

namespace atone::features {

// A file descriptor that is closed with its owner.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int of) : of_(of) {}
  ~descriptor();
  descriptor(descriptor&& other) noexcept : of_(other.of_) { other.of_ = -1; }
  descriptor& operator=(descriptor&& other) noexcept;
  int get() const noexcept { return of_; }
  explicit operator bool() const noexcept { return of_ >= 0; }

 private:
  int of_ = -1;
};

// Memory that can be passed to another process.
class shared_memory {
 public:
  shared_memory() = default;
  static std::optional<shared_memory> make(std::size_t size);
  // What another process has passed.
  static std::optional<shared_memory> see(descriptor file, std::size_t size);
  ~shared_memory();
  shared_memory(shared_memory&& other) noexcept;
  shared_memory& operator=(shared_memory&& other) noexcept;

  unsigned char* at() const noexcept { return at_; }
  std::size_t size() const noexcept { return size_; }
  int file() const noexcept { return file_.get(); }

 private:
  descriptor file_;
  unsigned char* at_ = nullptr;
  std::size_t size_ = 0;
};

enum class worker_word : std::uint32_t { open = 1, keep = 2, compute = 3, heartbeat = 4, answer = 5 };

struct worker_message {
  std::uint32_t layout = device_layout();
  worker_word word = worker_word::answer;
  device_status status = device_status::done;
  std::int32_t device = 0;   // of open
  device_tuning tuning;      // of open
  std::uint64_t bytes = 0;   // of the memory that comes with it; 0: none
  std::uint64_t number = 0;  // of a request, and of the answer to it
  device_words why;          // of an answer
};

// False: the other side is gone.
bool send_message(int socket, worker_message const& message, int file = -1);

struct received_message {
  worker_message message;
  descriptor file;
};
enum class receive_failure : std::uint8_t { closed, timeout };
// Waits at most so long, however many signals come; nothing: for ever. What can't be waited for is closed.
result<received_message, receive_failure> receive_message(int socket, std::optional<duration> within);

}  // namespace atone::features
