#include <atone/definition.hpp>

#include <algorithm>

namespace atone {
namespace {

constexpr std::size_t render_usual = 128;  // bytes that most renderings fit into

// Appends the rendered JSON of `of`; the first failure stops.
std::optional<error> render_into(std::string& out, value_template const& of, expr::bindings const& values);

std::optional<error> render_object(std::string& out, value_template::object const& fields, expr::bindings const& values) {
  out += '{';
  bool first = true;
  for (auto const& [key, member] : fields) {
    if (!first) out += ',';
    first = false;
    json::append_string(out, key);
    out += ':';
    if (auto failed = render_into(out, member, values)) return error{failed->code, key + ": " + failed->message};
  }
  out += '}';
  return std::nullopt;
}

std::optional<error> render_array(std::string& out, value_template::array const& items, expr::bindings const& values) {
  out += '[';
  bool first = true;
  for (auto const& item : items) {
    if (!first) out += ',';
    first = false;
    if (auto failed = render_into(out, item, values)) return failed;
  }
  out += ']';
  return std::nullopt;
}

std::optional<error> render_into(std::string& out, value_template const& of, expr::bindings const& values) {
  if (auto const* text = of.as_literal()) {
    out += *text;
    return std::nullopt;
  }
  if (auto const* program = of.as_expression()) {
    auto value = program->evaluate(values);
    if (!value) return std::move(value.error());
    out += value->raw();
    return std::nullopt;
  }
  if (auto const* fields = of.as_object()) return render_object(out, *fields, values);
  return render_array(out, *of.as_array(), values);
}

}  // namespace

result<std::string> value_template::render(expr::bindings const& values) const {
  std::string out;
  out.reserve(render_usual);
  if (auto failed = render_into(out, *this, values)) return std::move(*failed);
  return out;
}

std::string_view name(atomicity of) noexcept {
  switch (of) {
    case atomicity::compensable: return "compensable";
    case atomicity::pivot: return "pivot";
    case atomicity::retriable: return "retriable";
    case atomicity::read_only: return "read_only";
  }
  return "unknown";
}

service const* definition::find_service(std::string_view wanted) const noexcept {
  auto const found = std::find_if(services.begin(), services.end(), [&](service const& known) { return known.name == wanted; });
  return found == services.end() ? nullptr : &*found;
}

}  // namespace atone
