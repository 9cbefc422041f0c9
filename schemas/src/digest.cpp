// SHA-256 by OpenSSL: the only file of this folder that sees its headers.
#include <openssl/sha.h>

#include <atone/ids.hpp>

namespace atone {

content_hash content_hash::of(std::string_view content) {
  bytes digest{};
  SHA256(reinterpret_cast<unsigned char const*>(content.data()), content.size(), digest.data());
  return content_hash{digest};
}

}  // namespace atone
