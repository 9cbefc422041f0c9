#include "validator.hpp"

namespace atone::schema_detail {
namespace {

// In code points; the text is UTF-8 already checked.
std::size_t length_of(std::string_view text) {
  std::size_t length = 0;
  for (char const byte : text) length += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U ? 1 : 0;
  return length;
}

}  // namespace

bool validator::check_number(subschema const& with, json::value const& of, place const& at) {
  bool const bounded = with.minimum || with.maximum || with.exclusive_minimum || with.exclusive_maximum || with.multiple_of;
  if (!bounded) return true;
  auto const number = exact_number::of(of.raw());
  if (!number) return fail(at, [&] { return "expected an exponent of at most 17 digits, found " + describe(of); });
  bool valid = true;
  auto const broken = [&](std::string_view what, std::string const& text) {
    valid = fail(at, [&] { return "expected " + std::string{what} + ' ' + text + ", found " + describe(of); });
  };
  if (with.minimum && compare(*number, with.minimum->value) < 0) broken("at least", with.minimum->text);
  if (with.maximum && compare(*number, with.maximum->value) > 0) broken("at most", with.maximum->text);
  if (with.exclusive_minimum && compare(*number, with.exclusive_minimum->value) <= 0) broken("more than", with.exclusive_minimum->text);
  if (with.exclusive_maximum && compare(*number, with.exclusive_maximum->value) >= 0) broken("less than", with.exclusive_maximum->text);
  if (with.multiple_of && !with.multiple_of->first.divides(*number)) broken("a multiple of", with.multiple_of->second);
  return valid;
}

bool validator::check_string(subschema const& with, json::value const& of, place const& at) {
  if (!with.min_length && !with.max_length && !with.pattern && with.format == nullptr) return true;
  spend(of.raw().size() / 16, at);
  auto const text = of.as_string();
  bool valid = true;
  auto const broken = [&](std::string const& what) { valid = fail(at, [&] { return "expected " + what + ", found " + describe(of); }); };
  auto const length = length_of(text);
  if (with.min_length && length < *with.min_length) broken("at least " + std::to_string(*with.min_length) + " characters");
  if (with.max_length && length > *with.max_length) broken("at most " + std::to_string(*with.max_length) + " characters");
  if (with.pattern && !with.pattern->found_in(text)) broken("text that matches the pattern " + quoted(with.pattern->text()));
  if (with.format != nullptr && !with.format->holds(text)) {
    broken("the format " + std::string{with.format->name} + " (such as " + std::string{with.format->example} + ")");
  }
  return valid;
}

}  // namespace atone::schema_detail
