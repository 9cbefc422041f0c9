#include "daemon/settings.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "library/environment.hpp"

namespace atone::daemon {
namespace {

constexpr std::size_t secret_size_min = 16;  // bytes: shorter ones can be guessed
constexpr std::size_t token_lines_max = 1000;
constexpr duration patience_max = std::chrono::seconds{15};  // callers wait some 30 s for an answer

error bad(std::string_view what, std::string_view found, std::string_view expected) {
  return {errc::invalid_argument, std::string{what} + ": found \"" + std::string{found} + "\", expected " + std::string{expected}};
}

}  // namespace

result<void> read_listen(std::string_view text, settings& into) {
  auto const expected = "ADDRESS:PORT, for example 127.0.0.1:7070 or [::1]:7070";
  auto const colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return bad("listen", text, expected);
  auto host = text.substr(0, colon);
  bool const in_brackets = host.front() == '[' && host.back() == ']';
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (host.empty() || (!in_brackets && host.find(':') != std::string_view::npos)) return bad("listen", text, expected);
  auto const digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  auto const [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || failure != std::errc{} || end != digits.data() + digits.size()) return bad("listen", text, expected);
  into.address = host == "localhost" ? "127.0.0.1" : std::string{host};
  into.port = port;
  return {};
}

result<api::token> read_token(std::string_view text) {
  auto const colon = text.find(':');
  auto const name = colon == std::string_view::npos ? std::string_view{"token"} : text.substr(0, colon);
  auto const secret = colon == std::string_view::npos ? text : text.substr(colon + 1);
  if (name.empty()) return error{errc::invalid_argument, "token: its name is empty, expected NAME:SECRET"};
  if (secret.size() < secret_size_min) {
    return error{errc::invalid_argument, "token \"" + std::string{name} + "\": the secret has " + std::to_string(secret.size()) +
                                             " characters, expected at least " + std::to_string(secret_size_min)};
  }
  return api::token{std::string{name}, std::string{secret}};
}

result<std::vector<api::token>> read_token_file(std::string const& path) {
  std::ifstream file{path};
  if (!file) return error{errc::invalid_argument, "token file \"" + path + "\" can't be read"};
  std::vector<api::token> made;
  std::string line;
  std::size_t number = 0;
  while (std::getline(file, line)) {
    if (++number > token_lines_max) return error{errc::invalid_argument, path + ": more than 1000 lines"};
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    auto one = read_token(line);
    if (!one) return error{errc::invalid_argument, path + ":" + std::to_string(number) + ": " + one.error().message};
    made.push_back(*std::move(one));
  }
  if (made.empty()) return error{errc::invalid_argument, "token file \"" + path + "\" holds no token"};
  return made;
}

result<void> read_service(std::string_view text, settings& into) {
  auto const equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return bad("service", text, "NAME=URL");
  auto const url = text.substr(equals + 1);
  if (auto const read = http::parse_origin(url); !read) return error{read.error().code, "service: " + read.error().message};
  into.addresses.insert_or_assign(std::string{text.substr(0, equals)}, std::string{url});
  return {};
}

result<std::vector<int>> read_devices(std::string_view text) {
  std::vector<int> made;
  for (auto left = text;;) {
    auto const comma = left.find(',');
    auto const word = left.substr(0, comma);
    int device = -1;
    auto const [end, failure] = std::from_chars(word.data(), word.data() + word.size(), device);
    bool const is_number = failure == std::errc{} && end == word.data() + word.size() && device >= 0;
    if (!is_number || std::find(made.begin(), made.end(), device) != made.end())
      return bad("feature-gpus", text, "devices as 0,1, each once");
    made.push_back(device);
    if (comma == std::string_view::npos) return made;
    left.remove_prefix(comma + 1);
  }
}

bool is_loopback(std::string_view address) noexcept {
  return address.starts_with("127.") || address == "::1";
}

result<void> check_doors(settings const& of) {
  if (is_loopback(of.address) || of.insecure) return {};
  std::string missing;
  if (of.tokens.empty()) missing = "a token (--token-file)";
  if (!of.tls) missing += (missing.empty() ? "" : " and ") + std::string{"TLS (--tls-certificate, --tls-key)"};
  if (missing.empty()) return {};
  return error{errc::invalid_argument, "listening on " + of.address + " would open this daemon to the network; it needs " + missing +
                                           ", or --insecure if that is meant"};
}

std::string node_name(settings const& of) {
  if (!of.node.empty()) return of.node;
  return library::host_name() + (of.port == 0 ? std::string{} : ":" + std::to_string(of.port));
}

std::string node_address(settings const& of, std::string const& url) {
  if (!of.advertise.empty()) return of.advertise;
  bool const every = of.address == "0.0.0.0" || of.address == "::";
  return every ? std::string{} : url;
}

duration driver_patience(settings const& of) noexcept {
  constexpr duration take_over = std::chrono::seconds{5};  // from the end of the lease, on a busy machine
  return std::min(of.lease + take_over, patience_max);
}

http::tls_options node_tls(settings const& of) {
  auto made = of.tls.value_or(http::tls_options{});
  if (!of.node_ca.empty()) made.ca_file = of.node_ca;
  return made;
}

std::string own_url(settings const& of, std::uint16_t port) {
  bool const address6 = of.address.find(':') != std::string::npos;
  return std::string{of.tls ? "https://" : "http://"} + (address6 ? "[" : "") + of.address + (address6 ? "]" : "") + ":" +
         std::to_string(port);
}

}  // namespace atone::daemon
