#include <optional>

#include "http/parser_common.hpp"
#include "http/readers.hpp"

namespace atone::http {
namespace {

class parser final : public body_collecting_parser<true> {
 public:
  request made;
  bool expects_continue = false;
  bool unknown_expectation = false;
  bool unknown_coding = false;

 private:
  void on_request_impl(beast_http::verb, beast_text method, beast_text target, int version, parse_error&) override {
    made.method.assign(method.data(), method.size());
    made.target.assign(target.data(), target.size());
    http11_ = version == 11;
  }
  void on_response_impl(int, beast_text, int, parse_error&) override {}
  void on_field_impl(beast_http::field field, beast_text name, beast_text value, parse_error& ec) override {
    if (header_complete) return;  // trailers
    check_framing(field, value, ec);
    unknown_coding = unknown_coding || static_cast<bool>(ec);
    if (field == beast_http::field::expect && http11_) {
      expects_continue = same_name(view(value), "100-continue");
      unknown_expectation = !expects_continue;
    }
    made.headers.add(view(name), view(value));
  }

  bool http11_ = true;
};

struct refusal {
  std::int32_t status = 400;
  std::string text;
};

refusal explain(parser const& from, parse_error const& ec, read_limits const& bounds) {
  if (from.unknown_coding) return {501, "Transfer-Encoding: only \"chunked\" is understood"};
  if (ec == beast_http::error::header_limit) return {431, "the header is larger than " + std::to_string(bounds.header_max) + " bytes"};
  if (ec == beast_http::error::body_limit) return {413, "the body is larger than " + std::to_string(bounds.body_max) + " bytes"};
  if (ec == beast_http::error::bad_version) return {505, "expected HTTP/1.1 (or 1.0)"};
  return {400, "not readable as HTTP/1.1: " + ec.message()};
}

}  // namespace

struct request_reader::impl {
  read_limits bounds;
  std::optional<parser> reading;

  explicit impl(read_limits limits) : bounds(limits) {}
};

request_reader::request_reader(read_limits bounds) : impl_(std::make_unique<impl>(bounds)) {
  begin();
}
request_reader::~request_reader() = default;

void request_reader::begin() {
  impl_->reading.emplace();
  impl_->reading->header_limit(static_cast<std::uint32_t>(impl_->bounds.header_max));
  impl_->reading->body_limit(impl_->bounds.body_max);
  impl_->reading->eager(true);
}

read_progress request_reader::feed(std::string_view bytes) {
  read_progress at;
  auto fail = [&](std::int32_t code, std::string why) {
    status_ = code;
    problem_ = std::move(why);
    at.state = read_state::failed;
    return at;
  };
  // A stray line end between two requests is passed over, as RFC 9112 asks.
  while (!started() && bytes.substr(at.consumed, 2) == "\r\n") at.consumed += 2;
  if (!started() && bytes.substr(at.consumed) == "\r") return at;
  auto const rest = bytes.substr(at.consumed);
  if (rest.empty()) return at;
  parse_error ec;
  at.consumed += impl_->reading->put(boost::asio::buffer(rest.data(), rest.size()), ec);
  if (ec && ec != beast_http::error::need_more) {
    auto why = explain(*impl_->reading, ec, impl_->bounds);
    return fail(why.status, std::move(why.text));
  }
  if (impl_->reading->unknown_expectation) return fail(417, "Expect: only \"100-continue\" is understood");
  if (impl_->reading->is_done()) at.state = read_state::done;
  if (at.state != read_state::done && bytes.size() - at.consumed > unparsed_max(impl_->bounds)) {
    return fail(431, "a chunk's head is above the limit");
  }
  return at;
}

bool request_reader::started() const noexcept {
  return impl_->reading->got_some();
}

bool request_reader::take_expectation() noexcept {
  if (!impl_->reading->header_complete || !impl_->reading->expects_continue || impl_->reading->is_done()) return false;
  impl_->reading->expects_continue = false;
  return impl_->reading->body.empty();
}

bool request_reader::keep_alive() const noexcept {
  return impl_->reading->is_done() && impl_->reading->keep_alive();
}

request request_reader::take() {
  impl_->reading->made.body = std::move(impl_->reading->body);
  return std::move(impl_->reading->made);
}

}  // namespace atone::http
