// Numbers and texts as bytes of the log: little-endian, of fixed width, a text after its length.
// Thread rules: plain values.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace atone::features {

template <class T>
void put(std::string& out, T value) {
  for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * byte) & 0xFF));
  }
}

inline void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out.append(text);
}

// Reads what put() wrote. What is not there reads as zero or nothing, and the reader says from then on that it failed.
class byte_reader {
 public:
  explicit byte_reader(std::string_view from) : left_(from) {}

  template <class T>
  T number() {
    auto const bytes = take(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[byte])) << (8 * byte);
    }
    return static_cast<T>(value);
  }
  std::string_view text() { return take(number<std::uint32_t>()); }
  std::string_view take(std::size_t size) {
    if (size > left_.size()) {
      failed_ = true;
      left_ = {};
      return {};
    }
    auto const taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  bool at_end() const noexcept { return left_.empty(); }
  // Everything was there that was asked for.
  bool good() const noexcept { return !failed_; }

 private:
  std::string_view left_;
  bool failed_ = false;
};

}  // namespace atone::features
