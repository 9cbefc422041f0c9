// Digests by OpenSSL: the only file of this folder that sees its headers.
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <array>
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

namespace {

using mac_context = std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)>;

// HMAC() looks up mac and digest by name at every call.
mac_context make_hmac() {
  std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> const found{EVP_MAC_fetch(nullptr, "HMAC", nullptr), &EVP_MAC_free};
  ATONE_ASSERT(found != nullptr);
  mac_context made{EVP_MAC_CTX_new(found.get()), &EVP_MAC_CTX_free};
  std::array<char, 7> digest{"SHA256"};
  std::array<OSSL_PARAM, 2> const with{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                                       OSSL_PARAM_construct_end()};
  ATONE_ASSERT(EVP_MAC_CTX_set_params(made.get(), with.data()) == 1);
  return made;
}

}  // namespace

std::string hmac_sha256(std::string_view key, std::string_view message) {
  thread_local mac_context const context = make_hmac();
  content_hash::bytes digest{};
  std::size_t size = 0;
  // A null key would mean the one before.
  auto const* const bytes = key.empty() ? "" : key.data();
  ATONE_ASSERT(EVP_MAC_init(context.get(), reinterpret_cast<unsigned char const*>(bytes), key.size(), nullptr) == 1);
  ATONE_ASSERT(EVP_MAC_update(context.get(), reinterpret_cast<unsigned char const*>(message.data()), message.size()) == 1);
  ATONE_ASSERT(EVP_MAC_final(context.get(), digest.data(), &size, digest.size()) == 1 && size == digest.size());
  return content_hash{digest}.text();
}

}  // namespace atone
