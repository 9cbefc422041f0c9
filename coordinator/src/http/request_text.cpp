#include "http/request_text.hpp"

#include <array>
#include <charconv>

#include "http/text.hpp"

namespace atone::http {
namespace {

void append(std::string& out, std::initializer_list<std::string_view> parts) {
  for (auto const part : parts) out += part;
}

void append_number(std::string& out, std::size_t value) {
  std::array<char, 24> digits{};
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

error cannot_send(std::string_view what, std::string_view text) {
  return {errc::invalid_argument, std::string{what} + " \"" + std::string{text.substr(0, 100)} + "\" can't stand in an HTTP request"};
}

bool is_framing(std::string_view name) noexcept {
  return same_name(name, "Content-Length") || same_name(name, "Transfer-Encoding");
}

bool is_usually_with_body(std::string_view method) noexcept {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

void append_host(std::string& out, origin const& to) {
  bool const address6 = to.host.find(':') != std::string::npos;
  append(out, {"Host: ", address6 ? "[" : "", to.host, address6 ? "]" : ""});
  if (to.port != (to.tls ? 443 : 80)) {
    out += ':';
    append_number(out, to.port);
  }
  out += "\r\n";
}

std::size_t estimate(std::string_view first, header_list const& headers, std::string_view body) {
  std::size_t size = first.size() + body.size() + 192;
  for (auto const& [name, value] : headers.all()) size += name.size() + value.size() + 4;
  return size;
}

std::string printable(std::string_view value) {
  std::string made{value};
  for (auto& c : made) {
    if (!is_field_value({&c, 1})) c = ' ';
  }
  return made;
}

}  // namespace

result<std::string> request_text(origin const& to, request const& what) {
  if (!is_token(what.method)) return cannot_send("the method", what.method);
  if (!is_target(what.target) || what.target.front() != '/') return cannot_send("the target", what.target);
  std::string out;
  out.reserve(estimate(what.target, what.headers, what.body));
  append(out, {what.method, " ", to.prefix, what.target, " HTTP/1.1\r\n"});
  if (!what.headers.has("Host")) append_host(out, to);
  for (auto const& [name, value] : what.headers.all()) {
    if (!is_token(name)) return cannot_send("the header name", name);
    if (!is_field_value(value)) return cannot_send("the value of header " + name, printable(value));
    if (!is_framing(name)) append(out, {name, ": ", value, "\r\n"});
  }
  if (!what.body.empty() || is_usually_with_body(what.method)) {
    out += "Content-Length: ";
    append_number(out, what.body.size());
    out += "\r\n";
  }
  append(out, {"\r\n", what.body});
  return out;
}

std::string response_text(response const& what, answer_form const& form) {
  bool const bodiless = what.status == 204 || what.status == 304 || what.status < 200;
  std::string out;
  out.reserve(estimate("", what.headers, what.body));
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::size_t>(what.status));
  append(out, {" ", reason_phrase(what.status), "\r\n"});
  for (auto const& [name, value] : what.headers.all()) {
    if (!is_token(name) || is_framing(name) || same_name(name, "Connection") || same_name(name, "Date")) continue;
    append(out, {name, ": ", is_field_value(value) ? value : printable(value), "\r\n"});
  }
  append(out, {"Date: ", form.date, "\r\n"});
  if (!bodiless) {
    out += "Content-Length: ";
    append_number(out, what.body.size());
    out += "\r\n";
  }
  append(out, {form.close ? "Connection: close\r\n" : "", "\r\n"});
  if (!bodiless && !form.head) out += what.body;
  return out;
}

}  // namespace atone::http
