#include <atone/http.hpp>

namespace atone::http {
namespace {

exchange failed(std::string detail) {
  exchange made;
  made.failure = transport_failure::connect;
  made.detail = std::move(detail);
  return made;
}

}  // namespace

exchange fetch(std::string_view url, request what, duration timeout, tls_options const& tls) {
  // The path and query of the URL are the target, unless the request names one of its own.
  auto const scheme_end = url.find("://");
  auto const path_at = scheme_end == std::string_view::npos ? scheme_end : url.find_first_of("/?", scheme_end + 3);
  auto to = parse_origin(url.substr(0, path_at));
  if (!to) return failed(to.error().message);
  if (path_at != std::string_view::npos && what.target == "/") {
    what.target = url.substr(path_at);
    if (what.target.front() == '?') what.target.insert(0, "/");
  }
  client_options options;
  options.connections_max = 1;
  options.keep_all_headers = true;
  options.tls = tls;
  boost::asio::io_context io{1};
  client via{io, options};
  exchange made = failed("not finished");
  via.send(*to, std::move(what), timeout, [&](exchange done) {
    made = std::move(done);
    via.stop();
  });
  io.run();
  return made;
}

}  // namespace atone::http
