#include "picture.hpp"

namespace atone::drawing {
namespace {

constexpr std::size_t call_code_points_max = 60;

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

std::string path_text(http_target const& http) {
  std::string out = http.method + ' ';
  for (auto const& piece : http.path) out += piece.placeholder ? '{' + piece.text + '}' : piece.text;
  return out;
}

}  // namespace

std::string shorten(std::string_view text, std::size_t code_points_max) {
  std::string out;
  std::size_t code_points = 0;
  for (char const byte : text) {
    if (!is_continuation(byte) && ++code_points > code_points_max) return out + "…";
    bool const control = static_cast<unsigned char>(byte) < 0x20U || byte == 0x7F;
    out += control ? ' ' : byte;
  }
  return out;
}

std::string call_text(target const& of) {
  if (auto const* sql = std::get_if<sql_target>(&of)) return shorten("sql " + sql->text, call_code_points_max);
  auto const& call = std::get<call_target>(of);
  auto const* http = std::get_if<http_target>(&call.how);
  std::string const what = http != nullptr ? path_text(*http) : std::get<local_target>(call.how).handler;
  return shorten(call.service + ' ' + what, call_code_points_max);
}

}  // namespace atone::drawing
