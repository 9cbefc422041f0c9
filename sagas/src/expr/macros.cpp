// all exists exists_one filter map: over the elements of a list or the keys of a map. Each visited node is a step.
#include "evaluator.hpp"

namespace atone::expr {

outcome evaluator::macro(expression const& of) {
  auto from = run(*of.children[0]);
  if (!from) return from;
  if (!budget_.spend_elements(from->size())) return budget_.exhausted(of);
  std::vector<datum> range;
  if (from->kind() == type_kind::list) {
    range = from->elements();
  } else if (from->kind() == type_kind::map) {
    for (auto& key : from->keys()) range.emplace_back(std::move(key));
  } else {
    return fault{of, "a macro needs a list or a map before it, found " + std::string{type_name(from->kind())}};
  }
  switch (of.macro) {
    case macro_kind::all:
    case macro_kind::exists: return quantified(of, range);
    case macro_kind::exists_one: return exactly_one(of, range);
    case macro_kind::filter: return selected(of, range);
    case macro_kind::map: return mapped(of, range);
  }
  return fault{of, "unknown macro", errc::internal};
}

outcome evaluator::with_variable(expression const& of, datum const& value, expression const& body) {
  locals_.emplace_back(of.text, value);
  auto found = run(body);
  locals_.pop_back();
  return found;
}

// all is a long &&, exists a long ||: failures are absorbed in the same way.
outcome evaluator::quantified(expression const& of, std::vector<datum> const& range) {
  bool const deciding = of.macro == macro_kind::exists;
  auto const& test = *of.children[1];
  std::optional<fault> failed;
  for (auto const& element : range) {
    auto value = as_truth(test, with_variable(of, element, test));
    if (value && *value == deciding) return datum{deciding};
    if (value) continue;
    if (value.error().fatal()) return std::move(value.error());
    if (!failed) failed = std::move(value.error());
  }
  if (failed) return std::move(*failed);
  return datum{!deciding};
}

outcome evaluator::exactly_one(expression const& of, std::vector<datum> const& range) {
  auto const& test = *of.children[1];
  std::size_t count = 0;
  for (auto const& element : range) {
    auto value = as_truth(test, with_variable(of, element, test));
    if (!value) return std::move(value.error());
    if (*value) ++count;
  }
  return datum{count == 1};
}

outcome evaluator::selected(expression const& of, std::vector<datum> const& range) {
  auto const& test = *of.children[1];
  datum::list kept;
  for (auto const& element : range) {
    auto value = as_truth(test, with_variable(of, element, test));
    if (!value) return std::move(value.error());
    if (*value) kept.push_back(element);
  }
  return datum{std::move(kept)};
}

outcome evaluator::mapped(expression const& of, std::vector<datum> const& range) {
  bool const filtered = of.children.size() == 3;
  auto const& test = *of.children[1];
  datum::list made;
  for (auto const& element : range) {
    if (filtered) {
      auto value = as_truth(test, with_variable(of, element, test));
      if (!value) return std::move(value.error());
      if (!*value) continue;
    }
    auto value = with_variable(of, element, *of.children.back());
    if (!value) return value;
    made.push_back(std::move(*value));
  }
  return datum{std::move(made)};
}

}  // namespace atone::expr
