#include <algorithm>

#include <atone/assert.hpp>

#include "datum.hpp"

namespace atone::expr {

type type::list_of(type element) {
  type made{type_kind::list};
  made.element_ = std::make_shared<type const>(std::move(element));
  return made;
}

type type::object_of(std::vector<field> fields, bool open) {
  type made{type_kind::object};
  made.open_ = open;
  made.fields_ = std::make_shared<std::vector<field> const>(std::move(fields));
  return made;
}

type type::element() const {
  return element_ ? *element_ : type{};
}

std::vector<type::field> const& type::fields() const noexcept {
  static std::vector<field> const none;
  return fields_ ? *fields_ : none;
}

type::field const* type::find(std::string_view name) const noexcept {
  auto const& known = fields();
  auto const found = std::find_if(known.begin(), known.end(), [&](field const& one) { return one.name == name; });
  return found == known.end() ? nullptr : &*found;
}

std::string type::text() const {
  std::string out{type_name(kind_)};
  if (kind_ == type_kind::list && element_ && element_->kind() != type_kind::dynamic) out += " of " + element_->text();
  return out;
}

}  // namespace atone::expr
