// expression  = or [ "?" or ":" expression ]
// or          = and { "||" and }            and = relation { "&&" relation }
// relation    = sum { ( "<" | "<=" | ">=" | ">" | "==" | "!=" | "in" ) sum }
// sum         = product { ( "+" | "-" ) product }       product = unary { ( "*" | "/" | "%" ) unary }
// unary       = { "!" | "-" } member
// member      = primary { "." name [ "(" [ list ] ")" ] | "[" expression "]" }
// primary     = literal | name [ "(" [ list ] ")" ] | "(" expression ")" | "[" [ list ] "]" | "{" [ entries ] "}"
#include "parser.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <atone/utf8.hpp>

#include "lexer.hpp"

namespace atone::expr {
namespace {

constexpr std::array<std::string_view, 17> reserved_words{"as",       "break",  "const",  "continue", "else", "for",
                                                          "function", "if",     "import", "let",      "loop", "namespace",
                                                          "package",  "return", "var",    "void",     "while"};

struct binary_symbol {
  std::string_view text;
  binary_kind op;
  int precedence;  // higher binds closer
};
constexpr std::array binary_symbols{
    binary_symbol{"<", binary_kind::less, 1},     binary_symbol{"<=", binary_kind::less_equal, 1},
    binary_symbol{">", binary_kind::greater, 1},  binary_symbol{">=", binary_kind::greater_equal, 1},
    binary_symbol{"==", binary_kind::equal, 1},   binary_symbol{"!=", binary_kind::not_equal, 1},
    binary_symbol{"in", binary_kind::in, 1},      binary_symbol{"+", binary_kind::add, 2},
    binary_symbol{"-", binary_kind::subtract, 2}, binary_symbol{"*", binary_kind::multiply, 3},
    binary_symbol{"/", binary_kind::divide, 3},   binary_symbol{"%", binary_kind::remainder, 3},
};

struct macro_name {
  std::string_view text;
  macro_kind kind;
};
constexpr std::array macro_names{macro_name{"all", macro_kind::all}, macro_name{"exists", macro_kind::exists},
                                 macro_name{"exists_one", macro_kind::exists_one}, macro_name{"filter", macro_kind::filter},
                                 macro_name{"map", macro_kind::map}};

binary_symbol const* find_binary(token const& next) {
  if (next.kind != token_kind::symbol && !next.is_word("in")) return nullptr;
  auto const found = std::find_if(binary_symbols.begin(), binary_symbols.end(), [&](auto const& known) { return known.text == next.text; });
  return found == binary_symbols.end() ? nullptr : &*found;
}

class parser {
 public:
  parser(std::string_view text, std::vector<token> tokens) : text_(text), tokens_(std::move(tokens)) {}

  result<expression_ptr, mistake> run() {
    auto root = ternary();
    if (root && here().kind != token_kind::end) unexpected("an operator or the end");
    if (failure_) return std::move(*failure_);
    return root;
  }

 private:
  // Every function here answers null after fail(); the first failure stays.
  token const& here() const noexcept { return tokens_[next_]; }
  token const& take() noexcept {
    auto const& taken = tokens_[next_];
    if (taken.kind != token_kind::end) ++next_;
    return taken;
  }
  bool accept(std::string_view symbol) {
    if (!here().is(symbol)) return false;
    ++next_;
    return true;
  }
  bool expect(std::string_view symbol) {
    if (accept(symbol)) return true;
    unexpected("'" + std::string{symbol} + "'");
    return false;
  }

  expression_ptr fail(std::size_t offset, std::size_t length, std::string message) {
    if (!failure_) failure_ = mistake{offset, length, std::move(message)};
    return nullptr;
  }
  expression_ptr unexpected(std::string const& expected) {
    return fail(here().offset, here().length, "expected " + expected + ", found " + here().shown(text_));
  }

  static expression_ptr node(node_kind kind, token const& at, std::size_t begin) {
    auto made = std::make_unique<expression>();
    made->kind = kind;
    made->begin = begin;
    made->offset = at.offset;
    made->length = at.length;
    return made;
  }

  // False: a child is missing, or the tree is too high.
  bool adopt(expression& parent, expression_ptr child) {
    if (!child) return false;
    parent.height = std::max(parent.height, child->height + 1);
    parent.children.push_back(std::move(child));
    if (parent.height <= height_max) return true;
    fail(parent.offset, parent.length, "too many operators in a row; at most " + std::to_string(height_max) + " levels");
    return false;
  }

  bool enter() {
    if (++depth_ <= nesting_max) return true;
    fail(here().offset, here().length, "nested deeper than " + std::to_string(nesting_max) + " levels");
    return false;
  }

  expression_ptr ternary() {
    if (!enter()) return nullptr;
    auto test = any_or_all(node_kind::any_of, "||");
    if (test && here().is("?")) {
      auto const question = take();
      auto chosen = node(node_kind::conditional, question, test->begin);
      bool const complete = adopt(*chosen, std::move(test)) && adopt(*chosen, any_or_all(node_kind::any_of, "||")) && expect(":") &&
                            adopt(*chosen, ternary());
      test = complete ? std::move(chosen) : nullptr;
    }
    --depth_;
    return test;
  }

  expression_ptr operand(node_kind kind) { return kind == node_kind::any_of ? any_or_all(node_kind::all_of, "&&") : binary(1); }

  // A chain of one logical operator is one node.
  expression_ptr any_or_all(node_kind kind, std::string_view symbol) {
    auto first = operand(kind);
    if (!first || !here().is(symbol)) return first;
    auto chain = node(kind, here(), first->begin);
    if (!adopt(*chain, std::move(first))) return nullptr;
    while (accept(symbol)) {
      if (!adopt(*chain, operand(kind))) return nullptr;
    }
    return chain;
  }

  expression_ptr binary(int precedence) {
    if (precedence > 3) return unary();
    auto left = binary(precedence + 1);
    for (auto const* symbol = left ? find_binary(here()) : nullptr; symbol != nullptr && symbol->precedence == precedence;
         symbol = find_binary(here())) {
      auto const at = take();
      auto joined = node(node_kind::binary, at, left->begin);
      joined->op = symbol->op;
      if (!adopt(*joined, std::move(left)) || !adopt(*joined, binary(precedence + 1))) return nullptr;
      left = std::move(joined);
    }
    return left;
  }

  expression_ptr unary() {
    std::vector<token> signs;
    while (here().is("!") || here().is("-")) signs.push_back(take());
    bool const negative_literal =
        !signs.empty() && signs.back().is("-") && (here().kind == token_kind::integer || here().kind == token_kind::floating);
    std::optional<token> minus;
    if (negative_literal) {
      minus = signs.back();
      signs.pop_back();
    }
    auto inner = member(minus ? &*minus : nullptr);
    for (auto sign = signs.rbegin(); inner && sign != signs.rend(); ++sign) {
      auto outer = node(sign->is("!") ? node_kind::logical_not : node_kind::negate, *sign, sign->offset);
      if (!adopt(*outer, std::move(inner))) return nullptr;
      inner = std::move(outer);
    }
    return inner;
  }

  expression_ptr member(token const* minus) {
    auto of = primary(minus);
    while (of && (here().is(".") || here().is("["))) of = here().is(".") ? field_or_method(std::move(of)) : index(std::move(of));
    return of;
  }

  expression_ptr index(expression_ptr of) {
    auto found = node(node_kind::index, take(), of->begin);
    bool const complete = adopt(*found, std::move(of)) && adopt(*found, ternary()) && expect("]");
    return complete ? std::move(found) : nullptr;
  }

  expression_ptr field_or_method(expression_ptr of) {
    take();
    if (here().kind != token_kind::identifier || is_keyword(here().text)) return unexpected("a field name after '.'");
    auto const field = take();
    if (here().is("(")) return call(field, std::move(of));
    auto selected = node(node_kind::select, field, of->begin);
    selected->text = field.text;
    return adopt(*selected, std::move(of)) ? std::move(selected) : nullptr;
  }

  expression_ptr primary(token const* minus) {
    switch (here().kind) {
      case token_kind::integer:
      case token_kind::unsigned_integer:
      case token_kind::floating:
      case token_kind::string: return literal(minus);
      case token_kind::identifier: return name_or_call();
      case token_kind::end: return unexpected("a value");
      case token_kind::symbol: break;
    }
    if (here().is("(")) return parenthesized();
    if (here().is("[")) return list();
    if (here().is("{")) return map();
    if (here().is(".")) return unexpected("a value (a name can't begin with '.')");
    return unexpected("a value");
  }

  expression_ptr literal(token const* minus) {
    auto const& from = take();
    auto made = node(node_kind::literal, from, minus != nullptr ? minus->offset : from.offset);
    if (minus != nullptr) {
      made->length = from.offset + from.length - minus->offset;
      made->offset = minus->offset;
    }
    if (from.kind == token_kind::string) made->literal = datum{from.text};
    if (from.kind == token_kind::floating) made->literal = datum{minus != nullptr ? -from.real : from.real};
    if (from.kind == token_kind::unsigned_integer) made->literal = datum{from.whole};
    if (from.kind == token_kind::integer && !set_integer(*made, from.whole, minus != nullptr)) return nullptr;
    return made;
  }

  bool set_integer(expression& made, std::uint64_t magnitude, bool negative) {
    auto const most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
    if (magnitude > most) {
      fail(made.offset, made.length, "this integer is outside 64 bits with a sign; without a sign it is written with u behind it");
      return false;
    }
    made.literal = datum{static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude)};
    return true;
  }

  static bool is_keyword(std::string_view word) { return word == "true" || word == "false" || word == "null" || word == "in"; }

  expression_ptr name_or_call() {
    auto const word = take();
    if (word.text == "true" || word.text == "false" || word.text == "null") {
      auto made = node(node_kind::literal, word, word.offset);
      if (word.text != "null") made->literal = datum{word.text == "true"};
      return made;
    }
    // `in` where an operand is expected is the name of a compensation's binding: the one extension to CEL, which reserves the word.
    if (std::find(reserved_words.begin(), reserved_words.end(), word.text) != reserved_words.end()) {
      return fail(word.offset, word.length, "'" + word.text + "' is a reserved word and can't be a name");
    }
    if (here().is("(")) return call(word, nullptr);
    if (here().is("{")) return fail(here().offset, 1, "'{' can't follow a name; a map is written {\"key\": value}");
    auto made = node(node_kind::name, word, word.offset);
    made->text = word.text;
    return made;
  }

  expression_ptr parenthesized() {
    auto const begin = take().offset;
    auto inner = ternary();
    if (!inner || !expect(")")) return nullptr;
    inner->begin = begin;
    return inner;
  }

  // Elements up to `closing`; a comma may stand behind the last one where CEL allows it.
  bool items(expression& into, std::string_view closing, bool comma_last) {
    while (!here().is(closing)) {
      if (!adopt(into, ternary())) return false;
      if (!accept(",")) break;
      if (here().is(closing) && !comma_last) {
        unexpected("a value");
        return false;
      }
    }
    if (accept(closing)) return true;
    unexpected("',' or '" + std::string{closing} + "'");
    return false;
  }

  expression_ptr list() {
    auto const& bracket = take();
    auto made = node(node_kind::list, bracket, bracket.offset);
    return items(*made, "]", true) ? std::move(made) : nullptr;
  }

  expression_ptr map() {
    auto const& brace = take();
    auto made = node(node_kind::map, brace, brace.offset);
    while (!here().is("}")) {
      if (!adopt(*made, ternary()) || !expect(":") || !adopt(*made, ternary())) return nullptr;
      if (!accept(",")) break;
    }
    if (accept("}")) return made;
    return unexpected("',' or '}'");
  }

  expression_ptr call(token const& name, expression_ptr of) {
    take();
    if (name.text == "has" && !of) return has(name);
    auto const begin = of ? of->begin : name.offset;
    auto made = node(node_kind::call, name, begin);
    made->text = name.text;
    made->member = of != nullptr;
    if (made->member && !adopt(*made, std::move(of))) return nullptr;
    if (!items(*made, ")", false)) return nullptr;
    return made->member ? as_macro(std::move(made)) : std::move(made);
  }

  expression_ptr has(token const& name) {
    auto argument = ternary();
    if (!argument || !expect(")")) return nullptr;
    if (argument->kind != node_kind::select) {
      return fail(argument->begin, std::max<std::size_t>(1, argument->length), "has() needs a field, as in has(input.note)");
    }
    argument->kind = node_kind::has;
    argument->begin = name.offset;
    return argument;
  }

  // range.all(variable, test) and its kin; anything else stays a call.
  expression_ptr as_macro(expression_ptr from) {
    auto const known = std::find_if(macro_names.begin(), macro_names.end(), [&](auto const& one) { return one.text == from->text; });
    auto const arguments = from->children.size() - 1;
    if (known == macro_names.end()) return from;
    if (arguments != 2 && !(known->kind == macro_kind::map && arguments == 3)) {
      return fail(from->offset, from->length, from->text + "() needs a variable and an expression, as in items." + from->text + "(x, …)");
    }
    auto const& variable = *from->children[1];
    if (variable.kind != node_kind::name) {
      return fail(variable.begin, std::max<std::size_t>(1, variable.length),
                  "the first argument of " + from->text + "() must be a plain name");
    }
    from->kind = node_kind::macro;
    from->macro = known->kind;
    from->text = variable.text;
    from->children.erase(from->children.begin() + 1);
    return from;
  }

  std::string_view text_;
  std::vector<token> tokens_;
  std::size_t next_ = 0;
  std::size_t depth_ = 0;
  std::optional<mistake> failure_;
};

}  // namespace

std::string_view symbol(binary_kind op) noexcept {
  auto const found = std::find_if(binary_symbols.begin(), binary_symbols.end(), [&](auto const& known) { return known.op == op; });
  return found == binary_symbols.end() ? "?" : found->text;
}

result<expression_ptr, mistake> parse_expression(std::string_view text) {
  if (text.size() > text_bytes_max) {
    return mistake{0, text.size(), "an expression of " + std::to_string(text.size()) + " bytes; at most " + std::to_string(text_bytes_max)};
  }
  auto const bad = find_bad_utf8(text);
  if (bad != std::string_view::npos) return mistake{bad, 1, "this byte is not UTF-8"};
  auto tokens = tokenize(text);
  if (!tokens) return std::move(tokens.error());
  if (tokens->size() == 1) return mistake{0, 0, "an empty expression; expected a value"};
  return parser{text, std::move(*tokens)}.run();
}

}  // namespace atone::expr
