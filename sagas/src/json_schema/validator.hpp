// Checks one value against a compiled schema. Bounded: in steps, in depth, in listed violations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema.hpp"

namespace atone::schema_detail {

// Where the checked value stands: a chain up the call stack, made into text only when something is wrong.
struct place {
  place const* parent = nullptr;
  std::string_view key;
  std::size_t index = 0;
  bool element = false;

  place() = default;
  place(place const& up, std::string_view name) : parent(&up), key(name) {}
  place(place const& up, std::size_t at) : parent(&up), index(at), element(true) {}
  std::string pointer() const;
};

class validator {
 public:
  // Steps are schemas applied and bytes compared; a value may take steps_base and steps_a_byte for each byte of its text.
  static constexpr std::uint64_t steps_base = 100'000;
  static constexpr std::uint64_t steps_a_byte = 16;
  static constexpr std::uint64_t steps_max = 10'000'000;
  static constexpr std::size_t depth_max = 1'000;  // schemas applied within each other

  static constexpr std::uint64_t steps_for(std::size_t bytes) { return std::min(steps_max, steps_base + steps_a_byte * bytes); }
  explicit validator(std::uint64_t steps) : steps_left_(steps) {}
  std::vector<schema_violation> validate(subschema const& with, json::value const& of);

 private:
  using members = std::vector<std::pair<std::string, json::value>>;

  // Whether `of` is valid. In a quiet check the first violation ends it and nothing is written down.
  bool check(subschema const& with, json::value const& of, place const& at);
  bool check_all(subschema const& with, json::value const& of, place const& at);
  bool check_type(subschema const& with, json::value const& of, place const& at);
  bool check_values(subschema const& with, json::value const& of, place const& at);
  bool check_kind(subschema const& with, json::value const& of, place const& at);

  bool check_number(subschema const& with, json::value const& of, place const& at);
  bool check_string(subschema const& with, json::value const& of, place const& at);

  bool check_array(subschema const& with, json::value const& of, place const& at);
  bool check_elements(subschema const& with, std::vector<json::value> const& elements, place const& at);
  bool check_unique(std::vector<json::value> const& elements, place const& at);
  bool check_contains(subschema const& with, std::vector<json::value> const& elements, place const& at);

  bool check_object(subschema const& with, json::value const& of, place const& at);
  bool check_member(subschema const& with, std::string const& key, json::value const& of, place const& at);
  bool check_additional(subschema const& with, std::string const& key, json::value const& of, place const& at);
  bool check_required(subschema const& with, json::value const& of, place const& at);
  bool check_names(subschema const& with, members const& of, place const& at);
  bool check_dependencies(subschema const& with, json::value const& of, place const& at);

  bool check_together(subschema const& with, json::value const& of, place const& at);
  bool check_any_of(subschema const& with, json::value const& of, place const& at);
  bool check_one_of(subschema const& with, json::value const& of, place const& at);
  bool check_condition(subschema const& with, json::value const& of, place const& at);

  // The same check, but only for its answer.
  bool holds(subschema const& with, json::value const& of, place const& at);
  // The same check, stopping at the first violation, which it returns; nothing when valid.
  std::optional<schema_violation> first_violation(subschema const& with, json::value const& of, place const& at);

  bool quiet() const noexcept { return sink_ == nullptr; }
  // Nothing more can be learnt: a bound was reached, or enough is listed.
  bool stopped() const noexcept { return exceeded_ || (sink_ != nullptr && sink_->size() >= limit_); }
  // After a violation: go on to find others, or end here.
  bool go_on() const noexcept { return !quiet() && !stopped(); }
  void spend(std::uint64_t steps, place const& at);
  void exceed(std::string message, place const& at);

  template <class Message>
  bool fail(place const& at, Message&& message) {
    if (!quiet() && !stopped()) write_down(at, message());
    return false;
  }
  void write_down(place const& at, std::string message);

  std::vector<schema_violation>* sink_ = nullptr;
  std::size_t limit_ = json_schema::violations_max;
  std::uint64_t steps_left_;
  std::size_t depth_ = 0;
  bool exceeded_ = false;
  schema_violation bound_reached_;
};

}  // namespace atone::schema_detail
