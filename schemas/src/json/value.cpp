#include <charconv>

#include <atone/assert.hpp>
#include <atone/json.hpp>

#include "decimal.hpp"
#include "document.hpp"

namespace atone::json {
namespace {

template <class Number>
std::optional<Number> whole(std::string_view text) {
  Number read{};
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return read;
}

}  // namespace

std::string_view name(kind of) noexcept {
  switch (of) {
    case kind::null: return "null";
    case kind::boolean: return "boolean";
    case kind::number: return "number";
    case kind::string: return "string";
    case kind::array: return "array";
    case kind::object: return "object";
  }
  return "unknown";
}

std::string document::decoded(node const& of) const {
  auto const literal = raw(of);
  return of.escaped ? decode_string(literal) : std::string{literal.substr(1, literal.size() - 2)};
}

bool document::text_equals(node const& of, std::string_view text) const {
  if (of.escaped) return decoded(of) == text;
  auto const literal = raw(of);
  return literal.substr(1, literal.size() - 2) == text;
}

kind value::type() const noexcept {
  return owner_ ? owner_->at(node_).kind : kind::null;
}

std::string_view value::raw() const noexcept {
  return owner_ ? owner_->raw(owner_->at(node_)) : "null";
}

bool value::as_bool() const {
  ATONE_ASSERT(type() == kind::boolean);
  return owner_->at(node_).truth;
}

std::string value::as_string() const {
  ATONE_ASSERT(type() == kind::string);
  return owner_->decoded(owner_->at(node_));
}

std::optional<std::int64_t> value::as_int64() const {
  return type() == kind::number ? whole<std::int64_t>(raw()) : std::nullopt;
}

std::optional<std::uint64_t> value::as_uint64() const {
  if (type() != kind::number) return std::nullopt;
  return raw() == "-0" ? 0 : whole<std::uint64_t>(raw());
}

std::optional<double> value::as_double() const {
  if (type() != kind::number) return std::nullopt;
  auto const text = raw();
  double read = 0;
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (failed == std::errc{}) return read;
  // Out of range either way: what is too small is nearest to zero.
  auto const exact = decimal::of(text);
  if (!exact.zero() && !exact.exponent.starts_with('-')) return std::nullopt;
  return text.starts_with('-') ? -0.0 : 0.0;
}

std::size_t value::size() const noexcept {
  return owner_ ? owner_->at(node_).count : 0;
}

std::vector<value> value::elements() const {
  std::vector<value> found;
  if (type() != kind::array) return found;
  found.reserve(size());
  for (auto at = node_ + 1; at < owner_->at(node_).after; at = owner_->at(at).after) found.push_back(value{owner_, at});
  return found;
}

std::vector<std::pair<std::string, value>> value::members() const {
  std::vector<std::pair<std::string, value>> found;
  if (type() != kind::object) return found;
  found.reserve(size());
  for (auto at = node_ + 1; at < owner_->at(node_).after; at = owner_->at(at + 1).after) {
    found.emplace_back(owner_->decoded(owner_->at(at)), value{owner_, at + 1});
  }
  return found;
}

std::optional<value> value::find(std::string_view key) const {
  if (type() != kind::object) return std::nullopt;
  for (auto at = node_ + 1; at < owner_->at(node_).after; at = owner_->at(at + 1).after) {
    if (owner_->text_equals(owner_->at(at), key)) return value{owner_, at + 1};
  }
  return std::nullopt;
}

std::optional<value> value::at(std::size_t index) const {
  if (type() != kind::array || index >= size()) return std::nullopt;
  auto const& whole_array = owner_->at(node_);
  // Only scalars inside: each is one node.
  if (whole_array.after - node_ - 1 == whole_array.count) return value{owner_, node_ + 1 + static_cast<std::uint32_t>(index)};
  auto found = node_ + 1;
  for (; index > 0; --index) found = owner_->at(found).after;
  return value{owner_, found};
}

}  // namespace atone::json
