#include "printer.hpp"

#include "expr/functions.hpp"

namespace atone::expr {
namespace {

enum level { conditional_level, or_level, and_level, relation_level, sum_level, product_level, unary_level, member_level, primary_level };

level level_of(expression const& of) {
  switch (of.kind) {
    case node_kind::conditional: return conditional_level;
    case node_kind::any_of: return or_level;
    case node_kind::all_of: return and_level;
    case node_kind::negate:
    case node_kind::logical_not: return unary_level;
    case node_kind::binary: break;
    case node_kind::literal: {
      bool const negative = (of.literal.get<std::int64_t>() != nullptr && *of.literal.get<std::int64_t>() < 0) ||
                            (of.literal.get<double>() != nullptr && std::to_string(*of.literal.get<double>()).front() == '-');
      return negative ? unary_level : primary_level;
    }
    default: return member_level;
  }
  if (of.op >= binary_kind::equal) return relation_level;
  return of.op <= binary_kind::subtract ? sum_level : product_level;
}

std::string inside(expression const& of, int least) {
  return level_of(of) >= least ? print(of) : "(" + print(of) + ")";
}

std::string print_literal(datum const& of) {
  if (auto const* truth = of.get<bool>()) return *truth ? "true" : "false";
  if (auto const* whole = of.get<std::int64_t>()) return std::to_string(*whole);
  if (auto const* positive = of.get<std::uint64_t>()) return std::to_string(*positive) + "u";
  if (auto const* real = of.get<double>()) return double_text(*real);
  if (of.text() == nullptr) return "null";
  std::string out;
  json::append_string(out, *of.text());
  return out;
}

std::string joined(expression const& of, std::size_t from, std::string_view between, int least) {
  std::string out;
  for (auto at = from; at < of.children.size(); ++at) {
    if (at > from) out += between;
    out += inside(*of.children[at], least);
  }
  return out;
}

std::string print_map(expression const& of) {
  std::string out = "{";
  for (std::size_t at = 0; at + 1 < of.children.size(); at += 2) {
    if (at > 0) out += ", ";
    out += print(*of.children[at]) + ": " + print(*of.children[at + 1]);
  }
  return out + "}";
}

std::string_view macro_word(macro_kind of) {
  constexpr std::string_view words[] = {"all", "exists", "exists_one", "filter", "map"};
  return words[static_cast<int>(of)];
}

}  // namespace

std::string print(expression const& of) {
  auto const child = [&](std::size_t at, int least) { return inside(*of.children[at], least); };
  switch (of.kind) {
    case node_kind::literal: return print_literal(of.literal);
    case node_kind::name: return of.text;
    case node_kind::select: return child(0, member_level) + "." + of.text;
    case node_kind::has: return "has(" + child(0, member_level) + "." + of.text + ")";
    case node_kind::index: return child(0, member_level) + "[" + child(1, conditional_level) + "]";
    case node_kind::negate: return "-" + child(0, unary_level);
    case node_kind::logical_not: return "!" + child(0, unary_level);
    case node_kind::binary: {
      auto const own = level_of(of);
      return child(0, own) + " " + std::string{symbol(of.op)} + " " + child(1, own + 1);
    }
    case node_kind::all_of: return joined(of, 0, " && ", and_level + 1);
    case node_kind::any_of: return joined(of, 0, " || ", or_level + 1);
    case node_kind::conditional: return child(0, or_level) + " ? " + child(1, or_level) + " : " + child(2, conditional_level);
    case node_kind::call:
      if (of.member) return child(0, member_level) + "." + of.text + "(" + joined(of, 1, ", ", conditional_level) + ")";
      return of.text + "(" + joined(of, 0, ", ", conditional_level) + ")";
    case node_kind::list: return "[" + joined(of, 0, ", ", conditional_level) + "]";
    case node_kind::map: return print_map(of);
    case node_kind::macro:
      return child(0, member_level) + "." + std::string{macro_word(of.macro)} + "(" + of.text + ", " +
             joined(of, 1, ", ", conditional_level) + ")";
  }
  return "";
}

}  // namespace atone::expr
