// Any text as an expression, and any JSON behind a line break as its input: refused or failed with a place inside the text,
// or a result that is JSON within its bound, the same each time.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <atone/expression.hpp>

namespace {

using namespace atone;

void require(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

expr::declarations declared() {
  expr::type::field amount{"amount", std::make_shared<expr::type const>(expr::type_kind::integer), true};
  expr::type::field price{"price", std::make_shared<expr::type const>(expr::type_kind::floating), false};
  return {{"input", expr::type{}}, {"x", expr::type{}}, {"closed", expr::type::object_of({amount, price}, false)}};
}

json::value sample() {
  return *json::parse(
      R"({"amount": 5, "price": 2, "items": [{"n": 1.0, "s": "a"}, 1E400, null, [true]], "id": 9007199254740993, "t": "text"})");
}

void check_references(expr::program const& made) {
  for (auto const& one : made.references()) {
    require(!one.path.empty() && one.offset < made.text().size(), "a reference stands in the text");
  }
}

void evaluate(expr::program const& made, json::value const& input) {
  expr::bounds limits;
  limits.steps_max = 5000;
  limits.result_bytes_max = 100'000;
  expr::bindings values{{"input", input}, {"x", sample()}, {"closed", sample()}};
  auto const first = made.evaluate(values, limits);
  auto const second = made.evaluate(values, limits);
  require(first.has_value() == second.has_value(), "the same outcome each time");
  if (!first) {
    require(first.error() == second.error(), "the same failure each time");
    return;
  }
  require(first->raw() == second->raw(), "the same result each time");
  require(first->raw().size() <= limits.result_bytes_max, "the result is bounded");
  require(json::parse(std::string{first->raw()}).has_value(), "the result is JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const all{reinterpret_cast<char const*>(data), size};
  auto const split = all.find('\n');
  auto const text = all.substr(0, split);
  auto const made = expr::program::compile(text, declared());
  if (!made) {
    require(made.error().offset <= text.size() && !made.error().message.empty(), "a refusal has a place and a reason");
    return 0;
  }
  check_references(*made);
  auto const input = json::parse(split == std::string_view::npos ? std::string{"null"} : std::string{all.substr(split + 1)});
  evaluate(*made, input ? *input : sample());
  return 0;
}
