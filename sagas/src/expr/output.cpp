#include "output.hpp"

#include "functions.hpp"

namespace atone::expr {
namespace {

// False: the text has grown beyond its bound.
bool append(std::string& out, datum const& of, std::size_t bytes_max);

bool append_list(std::string& out, datum::list const& items, std::size_t bytes_max) {
  out += '[';
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (at > 0) out += ',';
    if (!append(out, items[at], bytes_max)) return false;
  }
  out += ']';
  return true;
}

bool append_map(std::string& out, datum::map const& members, std::size_t bytes_max) {
  out += '{';
  for (std::size_t at = 0; at < members.size(); ++at) {
    if (at > 0) out += ',';
    json::append_string(out, members[at].first);
    out += ':';
    if (!append(out, members[at].second, bytes_max)) return false;
  }
  out += '}';
  return true;
}

void append_scalar(std::string& out, datum const& of) {
  if (auto const* truth = of.get<bool>()) {
    out += *truth ? "true" : "false";
  } else if (auto const* whole = of.get<std::int64_t>()) {
    out += std::to_string(*whole);
  } else if (auto const* positive = of.get<std::uint64_t>()) {
    out += std::to_string(*positive);
  } else if (auto const* real = of.get<double>()) {
    out += double_text(*real);
  } else if (auto const* text = of.text()) {
    json::append_string(out, *text);
  } else {
    out += "null";
  }
}

// Built values nest no deeper than the expression is high; what is carried is copied whole.
bool append(std::string& out, datum const& of, std::size_t bytes_max) {
  if (auto const* value = of.json()) {
    out += value->raw();
  } else if (auto const* items = of.items()) {
    if (!append_list(out, *items, bytes_max)) return false;
  } else if (auto const* members = of.members()) {
    if (!append_map(out, *members, bytes_max)) return false;
  } else {
    append_scalar(out, of);
  }
  return out.size() <= bytes_max;
}

}  // namespace

result<json::value> to_json(datum const& of, std::size_t bytes_max) {
  auto const too_long = [&] { return error{errc::exhausted, "the result is longer than " + std::to_string(bytes_max) + " bytes"}; };
  if (auto const* carried = of.json()) {
    if (carried->raw().size() > bytes_max) return too_long();
    return *carried;
  }
  std::string text;
  if (!append(text, of, bytes_max)) return too_long();
  auto parsed = json::parse(std::move(text));
  if (!parsed) return error{errc::exhausted, "the result is no acceptable JSON: " + parsed.error().message};
  return parsed;
}

}  // namespace atone::expr
