// JSON as Atone carries it: parsed once, never rewritten. A `value` is a view into its own text, so that a payload that
// is only passed on leaves byte for byte as it came (9007199254740993, 1E400, 0.1 and -0 included).
// Thread rules: values are immutable and may be shared between threads; a writer belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <atone/result.hpp>

namespace atone::json {

// The six kinds of JSON value.
enum class kind : std::uint8_t { null, boolean, number, string, array, object };

std::string_view name(kind of) noexcept;  // "null", "boolean" …

// Bounds of what is accepted from outside; beyond: errc::exhausted.
struct limits {
  std::size_t bytes_max = 16 * 1024 * 1024;  // of the whole text
  std::size_t depth_max = 1024;              // arrays and objects within each other
  std::size_t values_max = 1'000'000;

  limits() = default;
};

class document;

// One value inside a parsed text; cheap to copy (it shares the text). Default: null.
class value {
 public:
  value() = default;

  kind type() const noexcept;
  // The exact bytes of this value in the text it came from; valid while any value of that text lives. "null" when default-made.
  std::string_view raw() const noexcept;

  bool is_null() const noexcept { return type() == kind::null; }
  bool as_bool() const;                            // type() must be boolean, else it aborts
  std::string as_string() const;                   // type() must be string, else it aborts; escapes decoded to UTF-8
  std::optional<std::int64_t> as_int64() const;    // exact, or nothing: "1.0", "1e3" and 2^63 are nothing; "-0" is 0
  std::optional<std::uint64_t> as_uint64() const;  // likewise
  std::optional<double> as_double() const;         // any number whose nearest double is finite

  // Array elements or object members, in the order of the text. Zero for scalars.
  std::size_t size() const noexcept;
  // Empty for every other kind.
  std::vector<value> elements() const;
  std::vector<std::pair<std::string, value>> members() const;
  std::optional<value> find(std::string_view key) const;  // member of an object
  std::optional<value> at(std::size_t index) const;       // element of an array; nothing beyond its end

 private:
  friend class document;
  value(std::shared_ptr<document const> owner, std::uint32_t node) : owner_(std::move(owner)), node_(node) {}

  std::shared_ptr<document const> owner_;
  std::uint32_t node_ = 0;
};

// Parses one JSON text (RFC 8259, UTF-8 checked). Refuses duplicate keys, unpaired surrogate escapes, trailing text and
// whatever exceeds the limits; the message names line and column. Errors: invalid_argument, exhausted.
result<value> parse(std::string text, limits const& bounds = {});

// Equal as JSON data: object member order does not matter, numbers compare by value without rounding.
bool equal(value const& left, value const& right);

// SHA-256 input that is the same for equal data: keys sorted, no spaces, numbers in one canonical form. Stored hashes are made of it,
// so the form must not change.
std::string canonical(value const& of);

// Appends `text` as a JSON string with quotes and escapes. Each byte that is not UTF-8 becomes U+FFFD.
void append_string(std::string& out, std::string_view text);

// Builds one JSON text front to back. Misuse (a key outside an object …) is a broken invariant and aborts.
class writer {
 public:
  writer& begin_object();
  writer& end_object();
  writer& begin_array();
  writer& end_array();
  writer& key(std::string_view name);
  writer& string(std::string_view text);
  writer& number(std::int64_t value);
  writer& number(std::uint64_t value);
  writer& number(double value);  // shortest form that reads back the same; must be finite
  writer& boolean(bool value);
  writer& null();
  writer& raw(std::string_view json);  // one complete value, kept byte for byte; only that it is not empty is checked

  std::string take();  // the finished text, everything closed; the writer is empty again

 private:
  void before_value();

  std::string out_;
  std::vector<char> open_;  // '{' or '[' for each open level
  bool after_key_ = false;
  bool first_ = true;
};

}  // namespace atone::json
