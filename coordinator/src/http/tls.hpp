// TLS settings as OpenSSL wants them. Thread rules: a context is made once and then only read.
#pragma once

#include <memory>

#include <boost/asio/ssl/context.hpp>

#include <atone/http.hpp>

namespace atone::http {

using tls_context = std::shared_ptr<boost::asio::ssl::context>;

// TLS 1.2 at least; the peer's chain is always checked. Errors name the file that can't be used.
result<tls_context> make_client_tls(tls_options const& options);
// TLS 1.2 at least; with a `ca_file` clients must show a certificate from it.
result<tls_context> make_server_tls(tls_options const& options);

}  // namespace atone::http
