// HTTP/1.1 for Atone's own doors and for its calls to participants: plain requests and responses, Beast hidden behind them.
//
// Thread rules: a client and a server belong to the thread that runs their io_context; a `responder` may be called from any
// thread. Whoever makes them stops them before the io_context ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <atone/participant_protocol.hpp>
#include <atone/result.hpp>
#include <atone/time.hpp>

namespace atone::http {

// Header fields in order; names compare without case.
class header_list {
 public:
  // Appends, also beside one of the same name. What can't stand in HTTP is found when it is sent.
  void add(std::string_view name, std::string_view value) { fields_.emplace_back(name, value); }
  void reserve(std::size_t fields) { fields_.reserve(fields); }
  std::string_view get(std::string_view name) const noexcept;  // first one, or empty
  bool has(std::string_view name) const noexcept;
  std::vector<std::pair<std::string, std::string>> const& all() const noexcept { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// One request: as a handler gets it, or as a client is to send it.
struct request {
  std::string method = "GET";
  std::string target = "/";  // path and query as sent
  header_list headers;
  std::string body;

  request() = default;
};

// One response: as a handler answers it, or as a client got it.
struct response {
  std::int32_t status = 200;
  header_list headers;  // Content-Length, Connection, Date are set by the server
  std::string body;

  response() = default;
  response(std::int32_t code, std::string json);  // with Content-Type application/json
};

// Where to connect: scheme, host and port of an absolute URL, and its path as a prefix.
struct origin {
  bool tls = false;
  std::string host;
  std::uint16_t port = 80;
  std::string prefix;  // "" or "/base", put before each target

  origin() = default;
  friend bool operator==(origin const&, origin const&) = default;
};
// "http://127.0.0.1:7001", "https://host/base", at most 2048 bytes; without a port 80 or 443. User names, queries and fragments are
// refused. Errors (invalid_argument) say what was expected.
result<origin> parse_origin(std::string_view url);

// A request as the bytes that leave. Made by request_writer.
struct written_request {
  std::string text;
  bool head = false;           // a HEAD: its answer has no body
  std::optional<error> wrong;  // what can't stand in HTTP; then there is no text

  written_request() = default;
};

// Writes a request piece by piece, for whoever sends many: the same checks and bytes as for a `request`, without the values in between.
// The first piece that can't stand in HTTP is remembered, what comes after it is ignored.
class request_writer {
 public:
  enum class host_line : std::uint8_t { written, left_out };

  // `room`: how many bytes the whole may take; a wrong guess costs time only.
  request_writer(origin const& to, std::string_view method, std::string_view target, std::size_t room, host_line host = host_line::written);
  request_writer& field(std::string_view name, std::string_view value);
  request_writer& field(std::string_view name, std::uint64_t value);
  // Ends it. Content-Length is written where there is a body or the method usually has one.
  written_request end(std::string_view body);

 private:
  void refuse(std::string_view what, std::string_view text);

  written_request made_;
  bool usually_with_body_ = false;
};

// PEM files for TLS 1.2 and newer. A client always checks the peer's certificate and its name.
struct tls_options {
  std::string certificate_file;  // server: chain; client: own certificate, may be empty
  std::string key_file;          // of the certificate
  std::string ca_file;           // whom to trust; empty: a client trusts the system's, a server asks nobody for a certificate

  tls_options() = default;
};

// Bounds of one client.
struct client_options {
  std::uint32_t connections_max = 256;           // an origin; further requests wait their turn within their timeout
  std::uint32_t waiting_max = 100'000;           // an origin; above it a request fails at once as `connect`
  std::size_t body_max = 16 * 1024 * 1024;       // bytes of an answer; above it the exchange is `malformed`
  std::size_t header_max = 64 * 1024;            // bytes, likewise
  duration idle_max = std::chrono::seconds{30};  // a kept connection is closed after this
  // False: only Retry-After, Date, Location, Content-Type, WWW-Authenticate, Allow and ETag of an answer are kept.
  bool keep_all_headers = false;
  tls_options tls;

  client_options() = default;
};

// What came of one request: a response, or which way it failed.
struct exchange {
  transport_failure failure = transport_failure::none;
  std::string detail;       // the system's words for the failure
  http::response response;  // any status; default-made after a failure

  exchange() = default;
  bool ok() const noexcept { return failure == transport_failure::none; }  // a whole answer came, whatever its status
};

// Keep-alive pools, one an origin. A request of which a byte may have left is never reported as `connect` and never silently
// sent twice: one that found its kept connection closed by the peer before any byte of the answer came is `lost`. A kept
// connection that is seen to be closed before the request leaves is replaced by another.
class client {
 public:
  using completion = std::function<void(exchange)>;
  // Names one request so that it can be given up; 0 is none.
  using ticket = std::uint64_t;

  client(boost::asio::io_context& io, client_options options);
  ~client();
  client(client const&) = delete;
  client& operator=(client const&) = delete;

  // `done` is called exactly once, from the io_context, never from inside send(). `timeout` covers connect, waiting for a
  // connection, sending and the whole answer; when it passes before anything has left, the failure is `connect`, else `timeout`.
  // What can't be written as a request (a line break in a header value) fails as `connect`. Content-Length is set here, Host where the
  // request has none. Redirects are not followed.
  ticket send(origin const& to, request what, duration timeout, completion done);
  ticket send(origin const& to, written_request what, duration timeout, completion done);
  // Gives the request up: its connection is closed, `done` is called with `lost` (or `connect` when nothing had left), from the
  // io_context. A ticket that has ended is ignored.
  void cancel(ticket which);
  // Closes every connection; pending requests end as if cancelled, later ones fail as `connect`.
  void stop();

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

// One request from a thread without io_context (command line, tests): blocks up to `timeout`. The URL's path and query are the target
// unless `what` names one. A URL that can't be read fails as `connect`; all headers of the answer are kept.
exchange fetch(std::string_view url, request what, duration timeout, tls_options const& tls = {});

// Where a server listens, and its bounds.
struct server_options {
  std::string address = "127.0.0.1";                // an IP address, no name
  std::uint16_t port = 0;                           // 0: any free one, see server::port()
  std::size_t body_max = 16 * 1024 * 1024;          // bytes of a request; above it 413
  std::size_t header_max = 64 * 1024;               // bytes; above it 431
  std::uint32_t connections_max = 4096;             // a further one waits until one ends, or one idle for a second is closed for it
  duration idle_max = std::chrono::seconds{60};     // between requests, and for taking an answer
  duration request_max = std::chrono::seconds{60};  // from a request's first byte to its last; later it is answered 408
  std::optional<tls_options> tls;                   // with a ca_file clients must show a certificate

  server_options() = default;
};

// Answers one request, once, from any thread; later answers are ignored, and so are those to a client that is gone or a server
// that has stopped. Copies answer the same request; when the last one is destroyed unanswered, the connection is closed
// without an answer.
class responder {
 public:
  responder() = default;
  void send(response with);
  void drop();  // close without an answer, as a crash would
  // False for a default-made one, which answers nobody.
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  friend class server_session;
  struct state;
  explicit responder(std::shared_ptr<state> of) : state_(std::move(of)) {}
  std::shared_ptr<state> state_;
};

// Requests of one connection are handled one after another, in order, pipelined ones too. Requests that break the limits or the
// grammar are answered here (400, 408, 413, 417, 431, 501, 505, with a JSON body); every other one goes to the handler, whatever its
// method. A handler that throws is answered 500.
class server {
 public:
  // Called on the io_context's thread: must not block. It may answer later, and from elsewhere, through the responder.
  using handler = std::function<void(request, responder)>;

  server(boost::asio::io_context& io, server_options options, handler answer);
  ~server();
  server(server const&) = delete;
  server& operator=(server const&) = delete;

  // Binds and listens; call once. Errors name the address or the file: invalid_argument (no IP address, TLS files), unavailable (the
  // port is taken).
  result<void> start();
  std::uint16_t port() const noexcept;  // the one that is bound; 0 before start()
  // Stops accepting; open requests get up to `grace` to be answered, then connections are closed. `done` is called from the
  // io_context once nothing is left. Destroying the server closes everything at once.
  void stop(duration grace, std::function<void()> done);

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

// Path without the query, still percent-encoded, and the decoded query parameters in order.
struct split_target {
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;

  split_target() = default;
};
// Nothing when it does not begin with '/', holds a space or a control character, or its query a broken escape. '+' in a query is a
// space, a fragment is left out.
std::optional<split_target> parse_target(std::string_view target);

}  // namespace atone::http
