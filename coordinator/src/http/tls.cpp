#include "http/tls.hpp"

#include <boost/asio/ssl.hpp>

namespace atone::http {
namespace {

namespace ssl = boost::asio::ssl;

error bad_file(std::string_view what, std::string const& path, boost::system::error_code const& ec) {
  return {errc::invalid_argument, "TLS: the " + std::string{what} + " \"" + path + "\" can't be used: " + ec.message()};
}

result<void> use_own_certificate(ssl::context& context, tls_options const& options) {
  boost::system::error_code ec;
  context.use_certificate_chain_file(options.certificate_file, ec);
  if (ec) return bad_file("certificate file", options.certificate_file, ec);
  context.use_private_key_file(options.key_file, ssl::context::pem, ec);
  if (ec) return bad_file("key file", options.key_file, ec);
  return {};
}

tls_context make_context(ssl::context::method method) {
  auto context = std::make_shared<ssl::context>(method);
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                       ssl::context::no_tlsv1_1 | ssl::context::no_compression | ssl::context::single_dh_use);
  ::SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  return context;
}

}  // namespace

result<tls_context> make_client_tls(tls_options const& options) {
  auto context = make_context(ssl::context::tls_client);
  boost::system::error_code ec;
  context->set_verify_mode(ssl::verify_peer);
  if (options.ca_file.empty()) {
    context->set_default_verify_paths(ec);
    if (ec) return error{errc::unavailable, "TLS: the system's certificates can't be read: " + ec.message()};
  } else {
    context->load_verify_file(options.ca_file, ec);
    if (ec) return bad_file("CA file", options.ca_file, ec);
  }
  if (!options.certificate_file.empty()) {
    if (auto done = use_own_certificate(*context, options); !done) return done.error();
  }
  return context;
}

result<tls_context> make_server_tls(tls_options const& options) {
  if (options.certificate_file.empty() || options.key_file.empty()) {
    return error{errc::invalid_argument, "TLS: a server needs a certificate file and a key file"};
  }
  auto context = make_context(ssl::context::tls_server);
  if (auto done = use_own_certificate(*context, options); !done) return done.error();
  if (!options.ca_file.empty()) {
    boost::system::error_code ec;
    context->load_verify_file(options.ca_file, ec);
    if (ec) return bad_file("CA file", options.ca_file, ec);
    context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
  }
  return context;
}

}  // namespace atone::http
