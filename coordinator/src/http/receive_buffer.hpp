// Bytes received and not yet parsed, always in one piece. Thread rules: one thread at a time.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace atone::http {

class receive_buffer {
 public:
  static constexpr std::size_t step = 8 * 1024;  // bytes free for each read

  std::string_view bytes() const noexcept { return {data_.data() + begin_, end_ - begin_}; }
  bool empty() const noexcept { return begin_ == end_; }
  void clear() noexcept { begin_ = end_ = 0; }

  // Room for the next read; what was consumed is given up.
  std::pair<char*, std::size_t> prepare() {
    if (begin_ == end_) begin_ = end_ = 0;
    if (begin_ > 0 && data_.size() - end_ < step) {
      std::memmove(data_.data(), data_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (data_.size() - end_ < step) data_.resize(end_ + step);
    return {data_.data() + end_, data_.size() - end_};
  }
  void commit(std::size_t count) noexcept { end_ += count; }
  void consume(std::size_t count) noexcept { begin_ += count; }

 private:
  std::vector<char> data_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace atone::http
