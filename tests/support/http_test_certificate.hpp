// Certificates made on the spot, for tests of TLS: nothing secret lies in the repository. Files go when the object goes.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace atone_test {

// A self-signed certificate for `names` ("DNS:localhost,IP:127.0.0.1"), which is its own authority.
class test_certificate {
 public:
  explicit test_certificate(std::string const& names) {
    std::string pattern = (std::filesystem::temp_directory_path() / "atone-tls-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error{"test_certificate: no temporary folder"};
    folder_ = pattern;
    key_type const key{::EVP_EC_gen("P-256"), &::EVP_PKEY_free};
    certificate_type const certificate{::X509_new(), &::X509_free};
    fill(certificate.get(), key.get(), names);
    write(key.get(), certificate.get());
  }
  ~test_certificate() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  test_certificate(test_certificate const&) = delete;
  test_certificate& operator=(test_certificate const&) = delete;

  std::string certificate_file() const { return (folder_ / "certificate.pem").string(); }
  std::string key_file() const { return (folder_ / "key.pem").string(); }

 private:
  using key_type = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;
  using certificate_type = std::unique_ptr<X509, decltype(&::X509_free)>;

  static void add_extension(X509* to, int which, std::string const& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    ::X509V3_set_ctx(&context, to, to, nullptr, nullptr, 0);
    auto* const extension = ::X509V3_EXT_conf_nid(nullptr, &context, which, value.c_str());
    if (!extension) throw std::runtime_error{"test_certificate: bad extension " + value};
    ::X509_add_ext(to, extension, -1);
    ::X509_EXTENSION_free(extension);
  }

  static void fill(X509* made, EVP_PKEY* key, std::string const& names) {
    ::X509_set_version(made, 2);
    ::ASN1_INTEGER_set(::X509_get_serialNumber(made), 1);
    ::X509_gmtime_adj(::X509_getm_notBefore(made), -3600);
    ::X509_gmtime_adj(::X509_getm_notAfter(made), 24 * 3600);
    ::X509_set_pubkey(made, key);
    auto const* const common = reinterpret_cast<unsigned char const*>("atone test");
    ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(made), "CN", MBSTRING_ASC, common, -1, -1, 0);
    ::X509_set_issuer_name(made, ::X509_get_subject_name(made));
    add_extension(made, NID_subject_alt_name, names);
    add_extension(made, NID_basic_constraints, "critical,CA:TRUE");
    if (::X509_sign(made, key, ::EVP_sha256()) == 0) throw std::runtime_error{"test_certificate: can't sign"};
  }

  void write(EVP_PKEY* key, X509* certificate) const {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const key_out{std::fopen(key_file().c_str(), "w"), &std::fclose};
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const certificate_out{std::fopen(certificate_file().c_str(), "w"), &std::fclose};
    bool const done = key_out && certificate_out &&
                      ::PEM_write_PrivateKey(key_out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1 &&
                      ::PEM_write_X509(certificate_out.get(), certificate) == 1;
    if (!done) throw std::runtime_error{"test_certificate: can't write"};
  }

  std::filesystem::path folder_;
};

}  // namespace atone_test
