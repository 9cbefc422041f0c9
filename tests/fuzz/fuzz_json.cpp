// Any bytes: refused with a place, or parsed so that the raw text, the canonical form and the pieces agree.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <atone/json.hpp>

namespace {

using atone::json::value;

void require(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

value again(std::string_view text) {
  auto parsed = atone::json::parse(std::string{text});
  require(parsed.has_value(), "what was accepted is accepted again");
  return *parsed;
}

void check_scalar(value const& of) {
  if (of.type() == atone::json::kind::number) {
    auto const whole = of.as_int64();
    require(!whole || *whole < 0 || of.as_uint64() == static_cast<std::uint64_t>(*whole), "both integer forms agree");
    require(!whole || of.as_double(), "an integer has a double");
  }
  if (of.type() == atone::json::kind::string) {
    std::string written;
    atone::json::append_string(written, of.as_string());
    require(again(written).as_string() == of.as_string(), "a string survives writing");
  }
}

void check_pieces(value const& of) {
  check_scalar(of);
  require(of.elements().size() + of.members().size() == (of.type() >= atone::json::kind::array ? of.size() : 0), "size counts the pieces");
  for (auto const& element : of.elements()) check_scalar(element);
  for (auto const& [key, member] : of.members()) {
    auto const found = of.find(key);
    require(found && found->raw() == member.raw(), "each key finds its member");
    check_scalar(member);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const parsed = atone::json::parse(std::string{reinterpret_cast<char const*>(data), size});
  if (!parsed) {
    require(!parsed.error().message.empty(), "a refusal says why");
    return 0;
  }
  check_pieces(*parsed);
  auto const copy = again(parsed->raw());
  require(atone::json::equal(*parsed, copy), "equal to its own raw text");
  auto const once = canonical(*parsed);
  auto const reread = again(once);
  require(canonical(reread) == once, "the canonical form is its own");
  require(atone::json::equal(*parsed, reread), "equal to its canonical form");
  return 0;
}
