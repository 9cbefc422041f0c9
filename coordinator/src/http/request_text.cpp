#include "http/request_text.hpp"

#include <array>
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

constexpr std::size_t number_max = 20;  // digits of the largest 64-bit number
constexpr std::size_t shown_max = 100;  // bytes of what was refused, in the error

bool is_framing(std::string_view name) noexcept {
  return same_name(name, "Content-Length") || same_name(name, "Transfer-Encoding");
}

bool is_usually_with_body(std::string_view method) noexcept {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

void append_number(std::string& out, std::uint64_t value) {
  std::array<char, number_max> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

void append_host(std::string& out, origin const& to) {
  bool const address6 = to.host.find(':') != std::string::npos;
  out += address6 ? "Host: [" : "Host: ";
  out += to.host;
  if (address6) out += ']';
  if (to.port != (to.tls ? 443 : 80)) {
    out += ':';
    append_number(out, to.port);
  }
  out += "\r\n";
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

request_writer::request_writer(origin const& to, std::string_view method, std::string_view target, std::size_t room, host_line host)
    : usually_with_body_(is_usually_with_body(method)) {
  if (!is_token(method)) {
    refuse("the method", method);
    return;
  }
  if (!is_target(target) || target.front() != '/') {
    refuse("the target", target);
    return;
  }
  made_.head = method == "HEAD";
  auto& out = made_.text;
  out.reserve(room);
  out += method;
  out += ' ';
  out += to.prefix;
  out += target;
  out += " HTTP/1.1\r\n";
  if (host == host_line::written) append_host(out, to);
}

request_writer& request_writer::field(std::string_view name, std::string_view value) {
  if (made_.wrong || is_framing(name)) return *this;
  if (!is_token(name)) {
    refuse("the header name", name);
  } else if (!is_field_value(value)) {
    refuse("the value of header " + std::string{name}, printable(value));
  } else {
    made_.text += name;
    made_.text += ": ";
    made_.text += value;
    made_.text += "\r\n";
  }
  return *this;
}

request_writer& request_writer::field(std::string_view name, std::uint64_t value) {
  std::array<char, number_max> digits{};
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return field(name, std::string_view{digits.data(), static_cast<std::size_t>(end - digits.data())});
}

written_request request_writer::end(std::string_view body) {
  if (made_.wrong) return std::move(made_);
  auto& out = made_.text;
  if (!body.empty() || usually_with_body_) {
    out += "Content-Length: ";
    append_number(out, body.size());
    out += "\r\n";
  }
  out += "\r\n";
  out += body;
  return std::move(made_);
}

void request_writer::refuse(std::string_view what, std::string_view text) {
  made_.text.clear();
  made_.wrong = error{errc::invalid_argument,
                      std::string{what} + " \"" + std::string{text.substr(0, shown_max)} + "\" can't stand in an HTTP request"};
}

written_request request_text(origin const& to, request const& what) {
  auto const room = room_for(what.headers, what.body) + what.method.size() + to.prefix.size() + what.target.size() + to.host.size();
  request_writer out{to, what.method, what.target, room,
                     what.headers.has("Host") ? request_writer::host_line::left_out : request_writer::host_line::written};
  for (auto const& [name, value] : what.headers.all()) out.field(name, value);
  return out.end(what.body);
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
