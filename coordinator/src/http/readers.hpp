// Lean readers of HTTP/1.1 on Beast's basic_parser: they keep what we use and nothing else (measured: Beast's message and
// fields types halve the rate). Beast itself is seen by response_reader.cpp and request_reader.cpp only.
// Thread rules: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <atone/http.hpp>

namespace atone::http {

enum class read_state : std::uint8_t { need_more, done, failed };

struct read_progress {
  std::size_t consumed = 0;  // bytes taken from the front; the rest is passed again, with more behind it
  read_state state = read_state::need_more;
};

struct read_limits {
  std::size_t header_max = 0;
  std::size_t body_max = 0;
};

// Largest part of a message that must lie in one piece: its header, or the head of a chunk.
constexpr std::size_t unparsed_max(read_limits const& bounds) noexcept {
  return bounds.header_max + 4096;
}

// Reads one answer after another. 1xx answers are passed over.
class response_reader {
 public:
  response_reader(read_limits bounds, bool keep_all_headers);
  ~response_reader();
  response_reader(response_reader const&) = delete;
  response_reader& operator=(response_reader const&) = delete;

  // Before the first byte of an answer; `head`: it answers HEAD and so has no body.
  void begin(bool head);
  read_progress feed(std::string_view bytes);
  // The peer closed: done when the answer's end was the connection's end, else failed.
  read_state end();
  bool started() const noexcept;     // some byte of the answer came
  bool keep_alive() const noexcept;  // once done
  response take();
  std::string const& problem() const noexcept { return problem_; }  // once failed

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
  std::string problem_;
};

// Reads one request after another.
class request_reader {
 public:
  explicit request_reader(read_limits bounds);
  ~request_reader();
  request_reader(request_reader const&) = delete;
  request_reader& operator=(request_reader const&) = delete;

  void begin();
  read_progress feed(std::string_view bytes);
  bool started() const noexcept;
  // True once a request: its header asked for "100 Continue" and its body has not come yet.
  bool take_expectation() noexcept;
  bool keep_alive() const noexcept;  // once done
  request take();
  // Once failed: what to answer.
  std::int32_t status() const noexcept { return status_; }
  std::string const& problem() const noexcept { return problem_; }

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
  std::int32_t status_ = 400;
  std::string problem_;
};

}  // namespace atone::http
