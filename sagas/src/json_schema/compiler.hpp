// From the JSON of a schema to a compiled_schema. Stops at the first mistake.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema.hpp"

namespace atone::schema_detail {

class compiler {
 public:
  result<std::shared_ptr<compiled_schema const>, schema_mistake> compile(json::value const& schema);

 private:
  // A keyword's value, and where it stands.
  struct site {
    json::value const& value;
    std::string at;
  };
  using reader = void (compiler::*)(subschema&, site const&);
  // A null reader: an annotation, accepted and ignored.
  struct keyword {
    std::string_view name;
    reader read;
  };
  struct unresolved {
    subschema* from;
    std::string at;
    std::string reference;
  };

  static std::vector<keyword> const& keywords();
  static keyword const* find_keyword(std::string_view name);

  bool failed() const noexcept { return mistake_.has_value(); }
  void fail(std::string const& at, std::string message);
  void expected(site const& where, std::string_view what);

  subschema const* read_schema(json::value const& of, std::string const& at);
  void read_members(subschema& into, json::value const& of);
  void refuse_siblings(json::value const& of, std::string const& at);
  void refuse_unknown(std::string const& name, std::string const& at);
  std::optional<std::size_t> read_count(site const& where);
  std::optional<bound> read_bound(site const& where);
  std::vector<std::string> read_names(site const& where);
  std::vector<subschema const*> read_list(site const& where);
  std::optional<std::vector<std::pair<std::string, json::value>>> read_object(site const& where);

  void read_version(subschema& into, site const& where);
  void read_id(subschema& into, site const& where);
  void read_ref(subschema& into, site const& where);
  void read_text_annotation(subschema& into, site const& where);
  void read_type(subschema& into, site const& where);
  void read_enum(subschema& into, site const& where);
  void read_const(subschema& into, site const& where);
  void read_minimum(subschema& into, site const& where);
  void read_maximum(subschema& into, site const& where);
  void read_exclusive_minimum(subschema& into, site const& where);
  void read_exclusive_maximum(subschema& into, site const& where);
  void read_multiple_of(subschema& into, site const& where);
  void read_min_length(subschema& into, site const& where);
  void read_max_length(subschema& into, site const& where);
  void read_pattern(subschema& into, site const& where);
  void read_format(subschema& into, site const& where);
  void read_min_items(subschema& into, site const& where);
  void read_max_items(subschema& into, site const& where);
  void read_unique_items(subschema& into, site const& where);
  void read_items(subschema& into, site const& where);
  void read_additional_items(subschema& into, site const& where);
  void read_contains(subschema& into, site const& where);
  void read_min_properties(subschema& into, site const& where);
  void read_max_properties(subschema& into, site const& where);
  void read_required(subschema& into, site const& where);
  void read_properties(subschema& into, site const& where);
  void read_pattern_properties(subschema& into, site const& where);
  void read_additional_properties(subschema& into, site const& where);
  void read_property_names(subschema& into, site const& where);
  void read_dependencies(subschema& into, site const& where);
  void read_definitions(subschema& into, site const& where);
  void read_all_of(subschema& into, site const& where);
  void read_any_of(subschema& into, site const& where);
  void read_one_of(subschema& into, site const& where);
  void read_not(subschema& into, site const& where);
  void read_if(subschema& into, site const& where);
  void read_then(subschema& into, site const& where);
  void read_else(subschema& into, site const& where);

  void resolve_references();
  subschema const* find_target(std::string const& reference) const;
  void refuse_endless();

  std::shared_ptr<compiled_schema> made_ = std::make_shared<compiled_schema>();
  std::map<std::string, subschema const*, std::less<>> by_pointer_;
  std::map<std::string, subschema const*, std::less<>> by_name_;  // `$id: "#name"`
  std::string document_id_;                                       // the root's $id without its fragment
  std::vector<unresolved> unresolved_;
  std::optional<schema_mistake> mistake_;
  std::size_t depth_ = 0;
};

}  // namespace atone::schema_detail
