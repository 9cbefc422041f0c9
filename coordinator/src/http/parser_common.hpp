// What both readers share of Beast. Included by response_reader.cpp and request_reader.cpp only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "http/text.hpp"

namespace atone::http {

namespace beast_http = boost::beast::http;
using parse_error = boost::system::error_code;
using beast_text = boost::beast::string_view;

inline std::string_view view(beast_text text) noexcept {
  return {text.data(), text.size()};
}

// A length that was only promised reserves no more than this.
constexpr std::size_t reserve_max = 1024 * 1024;

// Takes the parts of a body, whatever its framing.
template <bool is_request>
class body_collecting_parser : public beast_http::basic_parser<is_request> {
 public:
  std::string body;
  bool header_complete = false;

 protected:
  // Only "chunked" has a meaning here; any other coding would make us disagree with the sender about where the message ends.
  static void check_framing(beast_http::field field, beast_text value, parse_error& ec) {
    if (field == beast_http::field::transfer_encoding && !same_name(view(value), "chunked")) {
      ec = beast_http::error::bad_transfer_encoding;
    }
  }

 private:
  using length = boost::optional<std::uint64_t>;

  void on_header_impl(parse_error&) override { header_complete = true; }
  void on_body_init_impl(length const& size, parse_error&) override {
    if (size) body.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(*size, reserve_max)));
  }
  std::size_t on_body_impl(beast_text part, parse_error&) override {
    body.append(part.data(), part.size());
    return part.size();
  }
  void on_chunk_header_impl(std::uint64_t, beast_text, parse_error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast_text part, parse_error&) override {
    body.append(part.data(), part.size());
    return part.size();
  }
  void on_finish_impl(parse_error&) override {}
};

}  // namespace atone::http
