// Digests by OpenSSL: the only file of this folder that sees its headers.
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <memory>

#include <atone/assert.hpp>
#include <atone/digest.hpp>
#include <atone/ids.hpp>

namespace atone {

namespace {

// SHA256() looks its implementation up at every call, which costs a third of a short text's hash.
EVP_MD const* sha256() {
  static EVP_MD const* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);  // never freed: as long as the process
  ATONE_ASSERT(found != nullptr);
  return found;
}

}  // namespace

content_hash content_hash::of(std::string_view content) {
  // Making and freeing a context costs more than a short text's hash.
  thread_local std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> const context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
  bytes digest{};
  ATONE_ASSERT(EVP_DigestInit_ex2(context.get(), sha256(), nullptr) == 1);
  ATONE_ASSERT(EVP_DigestUpdate(context.get(), content.data(), content.size()) == 1);
  ATONE_ASSERT(EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1);
  return content_hash{digest};
}

std::string hmac_sha256(std::string_view key, std::string_view message) {
  content_hash::bytes digest{};
  unsigned size = 0;
  auto const* made = HMAC(sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<unsigned char const*>(message.data()),
                          message.size(), digest.data(), &size);
  ATONE_ASSERT(made != nullptr && size == digest.size());
  return content_hash{digest}.text();
}

}  // namespace atone
