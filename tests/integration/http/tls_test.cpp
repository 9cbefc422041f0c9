// TLS on both sides: who may be talked to, under which name, and what a failure is called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "http_loop.hpp"
#include "http_scripted_peer.hpp"
#include "http_test_certificate.hpp"

namespace atone::http {
namespace {

using namespace std::chrono_literals;
using namespace atone_test;
using testing::HasSubstr;

void echo(request what, responder way) {
  way.send(response{200, std::move(what.body)});
}

server_options with_certificate(test_certificate const& of) {
  tls_options tls;
  tls.certificate_file = of.certificate_file();
  tls.key_file = of.key_file();
  server_options options;
  options.tls = tls;
  return options;
}

client_options trusting(test_certificate const& authority) {
  client_options options;
  options.tls.ca_file = authority.certificate_file();
  return options;
}

TEST(tls, calls_go_through_and_connections_are_kept) {
  test_certificate const certificate{"DNS:localhost,IP:127.0.0.1"};
  test_server server{echo, with_certificate(certificate)};
  test_client test{trusting(certificate)};
  for (auto const& url : {server.url(), "https://localhost:" + std::to_string(server.port())}) {
    for (int n = 0; n < 3; ++n) {
      auto const made = test.call(origin_of(url), make_request("POST", "/", "hello"));
      ASSERT_TRUE(made.ok()) << made.detail;
      EXPECT_EQ(made.response.body, "hello");
    }
  }
}

TEST(tls, large_bodies_go_both_ways) {
  test_certificate const certificate{"IP:127.0.0.1"};
  test_server server{echo, with_certificate(certificate)};
  test_client test{trusting(certificate)};
  std::string const large(2'000'000, 'x');
  auto const made = test.call(origin_of(server.url()), make_request("POST", "/", large));
  ASSERT_TRUE(made.ok()) << made.detail;
  EXPECT_TRUE(made.response.body == large);
}

TEST(tls, an_unknown_authority_is_refused_before_anything_leaves) {
  test_certificate const certificate{"DNS:localhost,IP:127.0.0.1"};
  test_certificate const other{"DNS:localhost,IP:127.0.0.1"};
  std::atomic<int> served{0};
  test_server server{[&](request, responder way) {
                       ++served;
                       way.send(response{200, "{}"});
                     },
                     with_certificate(certificate)};
  test_client test{trusting(other)};
  auto const made = test.call(origin_of(server.url()), make_request("POST", "/", "secret"));
  EXPECT_EQ(made.failure, transport_failure::connect);
  EXPECT_THAT(made.detail, HasSubstr("TLS handshake"));
  EXPECT_EQ(served, 0);
}

TEST(tls, a_certificate_for_another_host_is_refused) {
  test_certificate const certificate{"DNS:elsewhere.example"};
  test_server server{echo, with_certificate(certificate)};
  test_client test{trusting(certificate)};
  for (auto const& url : {server.url(), "https://localhost:" + std::to_string(server.port())}) {
    auto const made = test.call(origin_of(url), make_request("POST", "/"));
    EXPECT_EQ(made.failure, transport_failure::connect) << url;
    EXPECT_THAT(made.detail, HasSubstr("TLS handshake"));
  }
}

TEST(tls, a_server_that_wants_a_certificate_gets_the_clients) {
  test_certificate const certificate{"IP:127.0.0.1"};
  test_certificate const client_certificate{"DNS:client"};
  auto options = with_certificate(certificate);
  options.tls->ca_file = client_certificate.certificate_file();
  test_server server{echo, options};
  auto with = trusting(certificate);
  with.tls.certificate_file = client_certificate.certificate_file();
  with.tls.key_file = client_certificate.key_file();
  test_client known{with};
  auto const made = known.call(origin_of(server.url()), make_request("POST", "/", "hello"));
  EXPECT_TRUE(made.ok()) << made.detail;
  test_client unknown{trusting(certificate)};
  EXPECT_FALSE(unknown.call(origin_of(server.url()), make_request("POST", "/")).ok());
}

TEST(tls, plain_text_to_a_tls_port_is_closed) {
  test_certificate const certificate{"IP:127.0.0.1"};
  test_server server{echo, with_certificate(certificate)};
  raw_connection client{raw_connection::dial(server.port())};
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.read_to_end(), testing::Not(HasSubstr("HTTP/1.1")));
}

TEST(tls, a_handshake_that_stalls_is_connect_in_time) {
  scripted_peer peer{[](raw_connection& c) { c.stall(); }};
  test_client test;
  auto const made = test.call(origin_of("https://127.0.0.1:" + std::to_string(peer.port())), make_request("POST", "/"), 50ms);
  EXPECT_EQ(made.failure, transport_failure::connect);
}

TEST(tls, files_that_cannot_be_used_are_named) {
  boost::asio::io_context io{1};
  tls_options missing;
  missing.certificate_file = "/no/such/certificate.pem";
  missing.key_file = "/no/such/key.pem";
  server_options options;
  options.tls = missing;
  http::server made{io, options, echo};
  auto const started = made.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("/no/such/certificate.pem"));

  tls_options untrusting;
  untrusting.ca_file = "/no/such/ca.pem";
  scripted_peer peer{[](raw_connection& c) { c.stall(); }};
  auto const asked = fetch("https://127.0.0.1:" + std::to_string(peer.port()), {}, guard, untrusting);
  EXPECT_EQ(asked.failure, transport_failure::connect);
  EXPECT_THAT(asked.detail, HasSubstr("/no/such/ca.pem"));
}

TEST(tls, fetch_trusts_the_named_authority) {
  test_certificate const certificate{"IP:127.0.0.1"};
  test_server server{echo, with_certificate(certificate)};
  tls_options tls;
  tls.ca_file = certificate.certificate_file();
  EXPECT_TRUE(fetch(server.url(), {}, guard, tls).ok());
  EXPECT_FALSE(fetch(server.url(), {}, guard).ok()) << "the system's authorities don't know it";
}

}  // namespace
}  // namespace atone::http
