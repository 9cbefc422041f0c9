// One text for equal data. Works on a stack of its own: deep values cost memory in proportion, never the call stack.
#include <algorithm>

#include <atone/json.hpp>

#include "decimal.hpp"

namespace atone::json {
namespace {

// An array or object half written; `members` has empty keys for an array.
struct half_written {
  std::vector<std::pair<std::string, value>> members;
  bool object = false;
  std::size_t next = 0;
};

half_written open_value(value const& of) {
  half_written opened;
  opened.object = of.type() == kind::object;
  if (opened.object) {
    opened.members = of.members();
    std::sort(opened.members.begin(), opened.members.end(), [](auto const& left, auto const& right) { return left.first < right.first; });
    return opened;
  }
  for (auto& element : of.elements()) opened.members.emplace_back(std::string{}, std::move(element));
  return opened;
}

void append_scalar(std::string& out, value const& of) {
  switch (of.type()) {
    case kind::number: out += decimal::of(of.raw()).text(); break;
    case kind::string: append_string(out, of.as_string()); break;
    default: out += of.raw(); break;
  }
}

bool is_container(value const& of) {
  return of.type() == kind::array || of.type() == kind::object;
}

}  // namespace

std::string canonical(value const& of) {
  std::string out;
  std::vector<half_written> open;
  auto const begin = [&](value const& next) {
    if (!is_container(next)) return append_scalar(out, next);
    open.push_back(open_value(next));
    out += open.back().object ? '{' : '[';
  };
  begin(of);
  while (!open.empty()) {
    auto& top = open.back();
    if (top.next == top.members.size()) {
      out += top.object ? '}' : ']';
      open.pop_back();
      continue;
    }
    if (top.next > 0) out += ',';
    auto const& [key, member] = top.members[top.next++];
    if (top.object) {
      append_string(out, key);
      out += ':';
    }
    begin(value{member});
  }
  return out;
}

bool equal(value const& left, value const& right) {
  if (left.type() != right.type() || left.size() != right.size()) return false;
  return left.raw() == right.raw() || canonical(left) == canonical(right);
}

}  // namespace atone::json
