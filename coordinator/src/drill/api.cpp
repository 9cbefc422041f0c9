#include "drill/api.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <atone/json.hpp>
#include <atone/percent.hpp>

namespace atone::drill {
namespace {

constexpr duration look_max = std::chrono::seconds{1};
constexpr duration answer_max = std::chrono::seconds{10};

http::request request_as(api_access const& at) {
  http::request made;
  if (!at.token.empty()) made.headers.add("Authorization", "Bearer " + at.token);
  return made;
}

std::string text_at(json::value const& of, std::string_view key) {
  auto const found = of.find(key);
  return found && found->type() == json::kind::string ? found->as_string() : std::string{};
}

error refused(std::string const& what, http::exchange const& came) {
  if (!came.ok()) return error{errc::unavailable, what + ": no answer: " + came.detail};
  return error{errc::invalid_argument, what + " was answered " + std::to_string(came.response.status) + ": " + came.response.body};
}

// One page of the list, and where the next one begins (empty: there is none).
result<std::string> list_page(api_access const& at, std::string const& target, std::vector<held_key>& into) {
  auto const came = http::fetch(at.url + target, request_as(at), answer_max, at.tls);
  if (!came.ok() || came.response.status != 200) return refused("GET /v1/sagas", came);
  auto const parsed = json::parse(came.response.body);
  auto const list = parsed && parsed->type() == json::kind::object ? parsed->find("sagas") : std::nullopt;
  if (!list || list->type() != json::kind::array) return error{errc::internal, "the coordinator's list of sagas can't be read"};
  for (auto const& each : list->elements()) {
    auto const id = saga_id::parse(text_at(each, "id"));
    if (!id) return error{errc::internal, "the coordinator's list of sagas has one without an id"};
    into.emplace_back();
    into.back().key = text_at(each, "key");
    into.back().id = *id;
  }
  auto next = text_at(*parsed, "next");
  if (!next.empty() && list->elements().empty()) return error{errc::internal, "the coordinator's list of sagas does not end"};
  return next;
}

constexpr std::string_view plain = "tcp://";

// Whether somebody takes a connection at "host:port".
bool takes_connections(std::string_view at) {
  using boost::asio::ip::tcp;
  boost::asio::io_context io{1};
  tcp::resolver resolver{io};
  tcp::socket socket{io};
  auto const colon = at.rfind(':');
  if (colon == std::string_view::npos) return false;
  boost::system::error_code failed;
  auto const found = resolver.resolve(at.substr(0, colon), at.substr(colon + 1), failed);
  if (failed) return false;
  bool connected = false;
  boost::asio::async_connect(socket, found, [&](boost::system::error_code why, tcp::endpoint const&) { connected = !why; });
  io.run_for(look_max);
  return connected;
}

}  // namespace

bool is_ready(std::string const& url, http::tls_options const& tls) {
  if (url.starts_with(plain)) return takes_connections(std::string_view{url}.substr(plain.size()));
  auto const came = http::fetch(url, http::request{}, look_max, tls);
  return came.ok() && came.response.status == 200;
}

result<void> publish(api_access const& at, std::string const& yaml) {
  auto send = request_as(at);
  send.method = "POST";
  send.headers.add("Content-Type", "application/yaml");
  send.body = yaml;
  auto const came = http::fetch(at.url + "/v1/definitions", std::move(send), answer_max, at.tls);
  if (came.ok() && came.response.status >= 200 && came.response.status <= 299) return {};
  return refused("publishing the definition", came);
}

result<std::vector<held_key>> list_keys(api_access const& at, std::string const& prefix) {
  std::vector<held_key> made;
  auto const first = "/v1/sagas?limit=1000&key_prefix=" + percent_encode(prefix);
  auto next = list_page(at, first, made);
  while (next && !next->empty()) {
    auto const before = *next;
    next = list_page(at, first + "&before=" + before, made);
    if (next && *next == before) return error{errc::internal, "the coordinator's list of sagas does not end"};
  }
  if (!next) return next.error();
  return made;
}

result<std::map<std::string, std::uint64_t>> count_alerts(api_access const& at, std::set<saga_id> const& of) {
  auto const came = http::fetch(at.url + "/v1/alerts?limit=1000", request_as(at), answer_max, at.tls);
  if (!came.ok() || came.response.status != 200) return refused("GET /v1/alerts", came);
  auto const parsed = json::parse(came.response.body);
  auto const list = parsed && parsed->type() == json::kind::object ? parsed->find("alerts") : std::nullopt;
  if (!list || list->type() != json::kind::array) return error{errc::internal, "the coordinator's list of alerts can't be read"};
  std::map<std::string, std::uint64_t> counts;
  for (auto const& each : list->elements()) {
    auto const saga = saga_id::parse(text_at(each, "saga"));
    if (saga && of.contains(*saga)) ++counts[text_at(each, "kind")];
  }
  return counts;
}

}  // namespace atone::drill
