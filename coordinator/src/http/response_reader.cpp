#include <array>
#include <optional>

#include "http/parser_common.hpp"
#include "http/readers.hpp"

namespace atone::http {
namespace {

constexpr std::uint32_t interim_answers_max = 32;  // 1xx answers before the real one

// What the engine and the command line look at; everything else is dropped unread.
constexpr std::array<beast_http::field, 7> kept_fields{
    beast_http::field::retry_after,      beast_http::field::date,  beast_http::field::location, beast_http::field::content_type,
    beast_http::field::www_authenticate, beast_http::field::allow, beast_http::field::etag};

constexpr std::size_t kept_usual = 2;  // content type and date

class parser final : public body_collecting_parser<false> {
 public:
  explicit parser(bool keep_all) : keep_all_(keep_all) { headers.reserve(kept_usual); }
  header_list headers;
  int code = 0;

 private:
  void on_request_impl(beast_http::verb, beast_text, beast_text, int, parse_error&) override {}
  void on_response_impl(int status, beast_text, int, parse_error&) override { code = status; }
  void on_field_impl(beast_http::field field, beast_text name, beast_text value, parse_error& ec) override {
    if (header_complete) return;  // trailers
    check_framing(field, value, ec);
    bool const kept = keep_all_ || std::find(kept_fields.begin(), kept_fields.end(), field) != kept_fields.end();
    if (kept && !ec) headers.add(view(name), view(value));
  }

  bool keep_all_;
};

}  // namespace

struct response_reader::impl {
  read_limits bounds;
  bool keep_all = false;
  bool head = false;
  bool any_byte = false;
  std::uint32_t interim = 0;
  std::optional<parser> reading;

  impl(read_limits limits, bool all) : bounds(limits), keep_all(all) {}

  void renew() {
    reading.emplace(keep_all);
    reading->header_limit(static_cast<std::uint32_t>(bounds.header_max));
    reading->body_limit(bounds.body_max);
    reading->eager(true);
    reading->skip(head);
  }
};

response_reader::response_reader(read_limits bounds, bool keep_all_headers) : impl_(std::make_unique<impl>(bounds, keep_all_headers)) {}
response_reader::~response_reader() = default;

void response_reader::begin(bool head) {
  impl_->head = head;
  impl_->any_byte = false;
  impl_->interim = 0;
  impl_->renew();
}

read_progress response_reader::feed(std::string_view bytes) {
  read_progress at;
  auto fail = [&](std::string why) {
    problem_ = std::move(why);
    at.state = read_state::failed;
    return at;
  };
  impl_->any_byte = impl_->any_byte || !bytes.empty();
  while (at.consumed < bytes.size()) {
    parse_error ec;
    auto const rest = bytes.substr(at.consumed);
    at.consumed += impl_->reading->put(boost::asio::buffer(rest.data(), rest.size()), ec);
    if (ec == beast_http::error::need_more) break;
    if (ec) return fail("the answer is not readable as HTTP/1.1: " + ec.message());
    if (impl_->reading->header_complete && impl_->reading->code < 100) {
      return fail("the answer has status " + std::to_string(impl_->reading->code));
    }
    if (!impl_->reading->is_done()) continue;
    if (impl_->reading->code == 101) return fail("the answer switches protocols (101), which was not asked for");
    if (impl_->reading->code >= 200) {
      at.state = read_state::done;
      return at;
    }
    if (++impl_->interim > interim_answers_max) return fail("more than 32 interim (1xx) answers");
    impl_->renew();
  }
  if (bytes.size() - at.consumed > unparsed_max(impl_->bounds)) return fail("a chunk's head is above the limit");
  return at;
}

read_state response_reader::end() {
  parse_error ec;
  if (!impl_->reading->got_some()) return read_state::failed;
  impl_->reading->put_eof(ec);
  return !ec && impl_->reading->is_done() ? read_state::done : read_state::failed;
}

bool response_reader::started() const noexcept {
  return impl_->any_byte;
}
bool response_reader::keep_alive() const noexcept {
  return impl_->reading->is_done() && impl_->reading->keep_alive();
}

response response_reader::take() {
  response made;
  made.status = impl_->reading->code;
  made.headers = std::move(impl_->reading->headers);
  made.body = std::move(impl_->reading->body);
  return made;
}

}  // namespace atone::http
