#include "senders.hpp"

#include <atone/digest.hpp>

namespace atone::library {

std::string reply_token(std::string const& key, saga_id saga, step_path const& step, operation op, attempt n) {
  std::string named = saga.text() + '\n' + step.text() + '\n' + std::string{name(op)} + '\n' + std::to_string(n.value());
  return hmac_sha256(key, named);
}

bool same_token(std::string_view left, std::string_view right) noexcept {
  if (left.size() != right.size()) return false;
  unsigned different = 0;
  for (std::size_t at = 0; at < left.size(); ++at)
    different |= static_cast<unsigned char>(left[at]) ^ static_cast<unsigned char>(right[at]);
  return different == 0;
}

}  // namespace atone::library
