#include "compiler.hpp"

namespace atone::schema_detail {

result<std::shared_ptr<compiled_schema const>, schema_mistake> compile(json::value const& schema) {
  return compiler{}.compile(schema);
}

result<std::shared_ptr<compiled_schema const>, schema_mistake> compiler::compile(json::value const& schema) {
  made_->root = read_schema(schema, "");
  if (!failed()) resolve_references();
  if (!failed()) refuse_endless();
  if (failed()) return std::move(*mistake_);
  return std::shared_ptr<compiled_schema const>{made_};
}

std::vector<compiler::keyword> const& compiler::keywords() {
  static std::vector<keyword> const all{
      {"$schema", &compiler::read_version},
      {"$id", &compiler::read_id},
      {"$ref", &compiler::read_ref},
      {"$comment", &compiler::read_text_annotation},
      {"title", &compiler::read_text_annotation},
      {"description", &compiler::read_text_annotation},
      {"default", nullptr},
      {"examples", nullptr},
      {"readOnly", nullptr},
      {"writeOnly", nullptr},
      {"type", &compiler::read_type},
      {"enum", &compiler::read_enum},
      {"const", &compiler::read_const},
      {"minimum", &compiler::read_minimum},
      {"maximum", &compiler::read_maximum},
      {"exclusiveMinimum", &compiler::read_exclusive_minimum},
      {"exclusiveMaximum", &compiler::read_exclusive_maximum},
      {"multipleOf", &compiler::read_multiple_of},
      {"minLength", &compiler::read_min_length},
      {"maxLength", &compiler::read_max_length},
      {"pattern", &compiler::read_pattern},
      {"format", &compiler::read_format},
      {"minItems", &compiler::read_min_items},
      {"maxItems", &compiler::read_max_items},
      {"uniqueItems", &compiler::read_unique_items},
      {"items", &compiler::read_items},
      {"additionalItems", &compiler::read_additional_items},
      {"contains", &compiler::read_contains},
      {"minProperties", &compiler::read_min_properties},
      {"maxProperties", &compiler::read_max_properties},
      {"required", &compiler::read_required},
      {"properties", &compiler::read_properties},
      {"patternProperties", &compiler::read_pattern_properties},
      {"additionalProperties", &compiler::read_additional_properties},
      {"propertyNames", &compiler::read_property_names},
      {"dependencies", &compiler::read_dependencies},
      {"definitions", &compiler::read_definitions},
      {"allOf", &compiler::read_all_of},
      {"anyOf", &compiler::read_any_of},
      {"oneOf", &compiler::read_one_of},
      {"not", &compiler::read_not},
      {"if", &compiler::read_if},
      {"then", &compiler::read_then},
      {"else", &compiler::read_else},
  };
  return all;
}

compiler::keyword const* compiler::find_keyword(std::string_view name) {
  for (auto const& known : keywords()) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

void compiler::fail(std::string const& at, std::string message) {
  if (failed()) return;
  mistake_.emplace();
  mistake_->at = at;
  mistake_->message = std::move(message);
}

void compiler::expected(site const& where, std::string_view what) {
  fail(where.at, "expected " + std::string{what} + ", found " + describe(where.value));
}

subschema const* compiler::read_schema(json::value const& of, std::string const& at) {
  if (failed()) return nullptr;
  if (of.type() != json::kind::object && of.type() != json::kind::boolean) {
    fail(at, "expected a schema (an object, true or false), found " + describe(of));
    return nullptr;
  }
  if (depth_ == compiled_schema::depth_max || made_->all.size() == compiled_schema::subschemas_max) {
    fail(at, "the schema is too large; expected at most " + std::to_string(compiled_schema::depth_max) + " schemas within each other and " +
                 std::to_string(compiled_schema::subschemas_max) + " in all");
    return nullptr;
  }
  auto& made = made_->all.emplace_back();
  made.at = at;
  by_pointer_.emplace(at, &made);
  ++depth_;
  if (of.type() == json::kind::boolean) {
    made.always = of.as_bool();
  } else {
    read_members(made, of);
  }
  --depth_;
  return &made;
}

void compiler::read_members(subschema& into, json::value const& of) {
  refuse_siblings(of, into.at);
  for (auto const& [name, value] : of.members()) {
    if (failed()) return;
    auto const* known = find_keyword(name);
    if (known == nullptr) return refuse_unknown(name, into.at + pointer_step(name));
    if (known->read != nullptr) (this->*known->read)(into, site{value, into.at + pointer_step(name)});
  }
}

// Draft-07 ignores what stands beside $ref. A rule that is never checked must not look as if it were.
void compiler::refuse_siblings(json::value const& of, std::string const& at) {
  if (!of.find("$ref")) return;
  constexpr std::array<std::string_view, 10> harmless{"$ref",     "$comment", "title",     "description", "default",
                                                      "examples", "readOnly", "writeOnly", "definitions", "$schema"};
  for (auto const& [name, value] : of.members()) {
    bool fine = false;
    for (auto const& allowed : harmless) fine = fine || allowed == name;
    if (!fine) return fail(at + pointer_step(name), "draft-07 ignores " + quoted(name) + " beside \"$ref\"; put both into \"allOf\"");
  }
}

void compiler::refuse_unknown(std::string const& name, std::string const& at) {
  if (name == "contentEncoding" || name == "contentMediaType") {
    return fail(at, quoted(name) + " is not checked here, so it is refused; leave it out");
  }
  std::vector<std::string> known;
  for (auto const& one : keywords()) known.emplace_back(one.name);
  if (name == "$defs") return fail(at, "unknown keyword \"$defs\"; draft-07 calls it \"definitions\"");
  auto const near = nearest(name, known);
  fail(at, "unknown keyword " + quoted(name) + (near ? "; did you mean \"" + *near + "\"?" : "; expected a keyword of draft-07"));
}

// "#", "#/a/b", "#name", each also behind the document's own $id. Percent-encoding is undone in the fragment.
subschema const* compiler::find_target(std::string const& reference) const {
  auto const hash = std::min(reference.find('#'), reference.size());
  auto const document = std::string_view{reference}.substr(0, hash);
  if (!document.empty() && document != document_id_) return nullptr;
  std::string fragment;
  for (std::size_t at = hash + 1; at < reference.size(); ++at) {
    auto const hex = [&](std::size_t offset) {
      auto const found =
          std::string_view{"0123456789abcdef0123456789ABCDEF"}.find(at + offset < reference.size() ? reference[at + offset] : ' ');
      return found == std::string_view::npos ? -1 : static_cast<int>(found % 16);
    };
    bool const encoded = reference[at] == '%' && hex(1) >= 0 && hex(2) >= 0;
    fragment += encoded ? static_cast<char>(hex(1) * 16 + hex(2)) : reference[at];
    if (encoded) at += 2;
  }
  auto const& names = fragment.empty() || fragment.front() == '/' ? by_pointer_ : by_name_;
  auto const found = names.find(fragment);
  return found == names.end() ? nullptr : found->second;
}

void compiler::resolve_references() {
  for (auto const& one : unresolved_) {
    one.from->ref = find_target(one.reference);
    if (one.from->ref != nullptr) continue;
    return fail(one.at,
                "no schema at " + quoted(one.reference) + "; expected a reference within this document, such as \"#/definitions/name\"");
  }
}

std::vector<subschema const*> in_place(subschema const& of) {
  std::vector<subschema const*> out;
  for (auto const* one : {of.ref, of.negated, of.condition, of.then_branch, of.else_branch}) {
    if (one != nullptr) out.push_back(one);
  }
  for (auto const* list : {&of.all_of, &of.any_of, &of.one_of}) out.insert(out.end(), list->begin(), list->end());
  for (auto const& [name, needs] : of.dependencies) {
    if (auto const* schema = std::get_if<subschema const*>(&needs)) out.push_back(*schema);
  }
  return out;
}

// A schema that leads back to itself on the same value could be followed for ever.
void compiler::refuse_endless() {
  enum class mark : std::uint8_t { open, done };
  std::map<subschema const*, mark> marks;
  struct visit {
    subschema const* at;
    std::vector<subschema const*> next;
  };
  std::vector<visit> path;
  for (auto const& start : made_->all) {
    if (!marks.contains(&start)) path.push_back(visit{&start, in_place(start)});
    while (!path.empty()) {
      auto& top = path.back();
      marks[top.at] = mark::open;
      if (top.next.empty()) {
        marks[top.at] = mark::done;
        path.pop_back();
        continue;
      }
      auto const* next = top.next.back();
      top.next.pop_back();
      auto const seen = marks.find(next);
      if (seen == marks.end()) {
        path.push_back(visit{next, in_place(*next)});
      } else if (seen->second == mark::open) {
        return fail(next->at, "this schema refers to itself for the same value, so that no value could ever be checked");
      }
    }
  }
}

}  // namespace atone::schema_detail
