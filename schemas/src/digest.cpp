// Digests by OpenSSL: the only file of this folder that sees its headers.
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <atone/assert.hpp>
#include <atone/digest.hpp>
#include <atone/ids.hpp>

namespace atone {

content_hash content_hash::of(std::string_view content) {
  bytes digest{};
  SHA256(reinterpret_cast<unsigned char const*>(content.data()), content.size(), digest.data());
  return content_hash{digest};
}

std::string hmac_sha256(std::string_view key, std::string_view message) {
  content_hash::bytes digest{};
  unsigned size = 0;
  auto const* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<unsigned char const*>(message.data()),
                          message.size(), digest.data(), &size);
  ATONE_ASSERT(made != nullptr && size == digest.size());
  return content_hash{digest}.text();
}

}  // namespace atone
