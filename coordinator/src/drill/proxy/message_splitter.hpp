// Where one HTTP message ends and the next begins, for whoever must send one again. Reads lengths only; understands no more of HTTP.
// Thread rules: plain values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace atone::drill {

class message_splitter {
 public:
  static constexpr std::size_t message_max = 1024 * 1024;  // bytes kept of a message that is not whole yet

  // The messages that these bytes complete, whole. What can't be followed (no HTTP, no Content-Length but chunks, too large) is said by
  // lost(): from then on nothing comes any more.
  std::vector<std::string> add(std::string_view bytes);
  bool lost() const noexcept { return lost_; }

 private:
  bool take_one(std::vector<std::string>& out);

  std::string kept_;
  bool lost_ = false;
};

}  // namespace atone::drill
