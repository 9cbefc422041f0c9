#include "cli/daemon_client.hpp"

#include <utility>

#include <atone/percent.hpp>

#include "cli/url.hpp"

namespace atone::cli {
namespace {

constexpr std::size_t foreign_text_max = 300;

errc code_of(std::int32_t status) noexcept {
  switch (status) {
    case 404: return errc::not_found;
    case 409: return errc::conflict;
    case 408:
    case 429:
    case 502:
    case 503:
    case 504: return errc::unavailable;
    default: return status >= 500 ? errc::internal : errc::invalid_argument;
  }
}

std::string text_at(json::value const& from, std::string_view key) {
  auto const found = from.find(key);
  return found && found->type() == json::kind::string ? found->as_string() : "";
}

std::string message_in(std::string const& body) {
  auto const parsed = json::parse(body);
  if (!parsed || parsed->type() != json::kind::object) return body.substr(0, foreign_text_max);
  auto const inner = parsed->find("error");
  if (inner && inner->type() == json::kind::object) return text_at(*inner, "message");
  auto text = text_at(*parsed, "message");
  return text.empty() ? text_at(*parsed, "error") : text;
}

error unreachable(surroundings const& with, api_answer const& came) {
  if (came.failure == transport_failure::connect) {
    return {errc::unavailable, "no daemon at " + with.url + " (" + came.detail + "): start atoned, or name it by --url or ATONE_URL"};
  }
  return {errc::outcome_unknown,
          "the daemon at " + with.url + " did not answer (" + std::string{name(came.failure)} + ": " + came.detail + ")"};
}

result<json::value> body_of(result<api_answer> answer) {
  if (!answer) return answer.error();
  if (answer->status < 200 || answer->status > 299) return error_of(*answer);
  auto parsed = json::parse(std::move(answer->body));
  if (parsed) return parsed;
  return error{errc::internal, "the daemon's answer is not JSON: " + parsed.error().message};
}

}  // namespace

target& target::segment(std::string_view value) {
  text_ += '/';
  text_ += percent_encode(value);
  return *this;
}

target& target::query(std::string_view name, std::string_view value) {
  text_ += has_query_ ? '&' : '?';
  has_query_ = true;
  text_ += percent_encode(name);
  text_ += '=';
  text_ += percent_encode(value);
  return *this;
}

error error_of(api_answer const& answer) {
  auto message = message_in(answer.body);
  if (answer.status == 401) message += (message.empty() ? "" : ": ") + std::string{"--token or ATONE_API_TOKEN"};
  if (message.empty()) message = "the daemon answered " + std::to_string(answer.status);
  return {code_of(answer.status), std::move(message)};
}

result<api_answer> daemon_client::send(api_request what, std::string const& at) const {
  if (!with_.token.empty()) what.headers.emplace_back("Authorization", "Bearer " + with_.token);
  what.url = with_.url;
  while (what.url.ends_with('/')) what.url.pop_back();
  what.url += at;
  auto came = with_.fetch(std::move(what));
  if (!came.ok()) return unreachable(with_, came);
  return came;
}

result<api_answer> daemon_client::raw(target const& from, duration timeout) const {
  api_request what;
  what.timeout = timeout;
  return send(std::move(what), from.text());
}

result<json::value> daemon_client::get(target const& from, duration timeout) const {
  return body_of(raw(from, timeout));
}

result<json::value> daemon_client::post(target const& to, std::string body, header_fields headers, duration timeout) const {
  api_request what;
  what.method = "POST";
  what.timeout = timeout;
  what.body = std::move(body);
  what.headers = std::move(headers);
  if (what.header("Content-Type").empty()) what.headers.emplace_back("Content-Type", "application/json");
  return body_of(send(std::move(what), to.text()));
}

}  // namespace atone::cli
