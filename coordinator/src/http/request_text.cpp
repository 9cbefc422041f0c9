#include "http/request_text.hpp"

#include <charconv>
#include <cstring>
#include <utility>

#include <atone/assert.hpp>

#include "http/text.hpp"

namespace atone::http {
namespace {

// Writes into room that was measured before, without asking for more at each piece.
class pieces {
 public:
  explicit pieces(std::size_t room) : out_(room, '\0'), at_(out_.data()) {}

  pieces& operator<<(std::string_view piece) {
    ATONE_ASSERT(piece.size() <= left());
    std::memcpy(at_, piece.data(), piece.size());
    at_ += piece.size();
    return *this;
  }
  pieces& operator<<(char c) { return *this << std::string_view{&c, 1}; }
  pieces& operator<<(std::size_t value) {
    at_ = std::to_chars(at_, at_ + left(), value).ptr;
    return *this;
  }
  std::string take() {
    out_.resize(out_.size() - left());
    return std::move(out_);
  }

 private:
  std::size_t left() const noexcept { return static_cast<std::size_t>(out_.data() + out_.size() - at_); }

  std::string out_;
  char* at_;
};

constexpr std::size_t number_max = 20;  // digits of the largest std::size_t

error cannot_send(std::string_view what, std::string_view text) {
  return {errc::invalid_argument, std::string{what} + " \"" + std::string{text.substr(0, 100)} + "\" can't stand in an HTTP request"};
}

bool is_framing(std::string_view name) noexcept {
  return same_name(name, "Content-Length") || same_name(name, "Transfer-Encoding");
}

bool is_usually_with_body(std::string_view method) noexcept {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

void append_host(pieces& out, origin const& to) {
  bool const address6 = to.host.find(':') != std::string::npos;
  out << "Host: " << (address6 ? "[" : "") << to.host << (address6 ? "]" : "");
  if (to.port != (to.tls ? 443 : 80)) out << ':' << std::size_t{to.port};
  out << "\r\n";
}

constexpr std::size_t fixed_parts_max = 192;  // versions, phrases, and the lines that are added here, without host and date

std::size_t room_for(header_list const& headers, std::string_view body) {
  std::size_t size = body.size() + fixed_parts_max + 2 * number_max;
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
  pieces out{room_for(what.headers, what.body) + what.method.size() + to.prefix.size() + what.target.size() + to.host.size()};
  out << what.method << ' ' << to.prefix << what.target << " HTTP/1.1\r\n";
  if (!what.headers.has("Host")) append_host(out, to);
  for (auto const& [name, value] : what.headers.all()) {
    if (!is_token(name)) return cannot_send("the header name", name);
    if (!is_field_value(value)) return cannot_send("the value of header " + name, printable(value));
    if (!is_framing(name)) out << name << ": " << value << "\r\n";
  }
  if (!what.body.empty() || is_usually_with_body(what.method)) out << "Content-Length: " << what.body.size() << "\r\n";
  out << "\r\n" << what.body;
  return out.take();
}

std::string response_text(response const& what, answer_form const& form) {
  bool const bodiless = what.status == 204 || what.status == 304 || what.status < 200;
  pieces out{room_for(what.headers, what.body) + form.date.size()};
  out << "HTTP/1.1 " << static_cast<std::size_t>(what.status) << ' ' << reason_phrase(what.status) << "\r\n";
  for (auto const& [name, value] : what.headers.all()) {
    if (!is_token(name) || is_framing(name) || same_name(name, "Connection") || same_name(name, "Date")) continue;
    out << name << ": " << (is_field_value(value) ? value : printable(value)) << "\r\n";
  }
  out << "Date: " << form.date << "\r\n";
  if (!bodiless) out << "Content-Length: " << what.body.size() << "\r\n";
  out << (form.close ? "Connection: close\r\n" : "") << "\r\n";
  if (!bodiless && !form.head) out << what.body;
  return out.take();
}

}  // namespace atone::http
