#include "validator.hpp"

#include <algorithm>

namespace atone::schema_detail {
namespace {

// What a value is, in the words of `type`; a whole number is also a number.
type_set types_of(json::value const& of) {
  auto const bits = [](auto... bit) { return static_cast<type_set>((static_cast<int>(bit) | ...)); };
  switch (of.type()) {
    case json::kind::null: return bits(type_bit::null);
    case json::kind::boolean: return bits(type_bit::boolean);
    case json::kind::string: return bits(type_bit::string);
    case json::kind::array: return bits(type_bit::array);
    case json::kind::object: return bits(type_bit::object);
    case json::kind::number: break;
  }
  auto const number = exact_number::of(of.raw());
  return number && number->whole() ? bits(type_bit::number, type_bit::integer) : bits(type_bit::number);
}

std::string type_words(type_set of) {
  constexpr std::array<std::pair<type_bit, std::string_view>, 7> words{{{type_bit::null, "null"},
                                                                        {type_bit::boolean, "boolean"},
                                                                        {type_bit::integer, "integer"},
                                                                        {type_bit::number, "number"},
                                                                        {type_bit::string, "string"},
                                                                        {type_bit::array, "array"},
                                                                        {type_bit::object, "object"}}};
  std::string out;
  for (auto const& [bit, word] : words) {
    if (!has(of, bit)) continue;
    if (!out.empty()) out += " or ";
    out += word;
  }
  return out;
}

// Alternatives within alternatives tell reasons within reasons: the innermost may be left out.
constexpr std::size_t reason_bytes_max = 300;

std::size_t depth_of(schema_violation const& of) {
  return static_cast<std::size_t>(std::count(of.at.begin(), of.at.end(), '/'));
}

// The violation that got furthest into the value: most likely the alternative that was meant.
std::string nearest_reason(std::vector<schema_violation> const& reasons) {
  schema_violation const* best = nullptr;
  for (auto const& reason : reasons) {
    if (best == nullptr || depth_of(reason) > depth_of(*best)) best = &reason;
  }
  if (best == nullptr) return "";
  return "; the nearest: " + cut((best->at.empty() ? std::string{} : "at " + best->at + ": ") + best->message, reason_bytes_max);
}

}  // namespace

std::vector<schema_violation> validate(compiled_schema const& with, json::value const& of) {
  return validator{validator::steps_for(of.raw().size())}.validate(*with.root, of);
}

std::string place::pointer() const {
  std::vector<place const*> chain;
  for (auto const* step = this; step->parent != nullptr; step = step->parent) chain.push_back(step);
  std::string out;
  for (auto step = chain.rbegin(); step != chain.rend(); ++step) {
    out += (*step)->element ? '/' + std::to_string((*step)->index) : pointer_step((*step)->key);
  }
  return out;
}

std::vector<schema_violation> validator::validate(subschema const& with, json::value const& of) {
  std::vector<schema_violation> found;
  sink_ = &found;
  check(with, of, place{});
  // What was found before the bound was reached may hang on it.
  if (exceeded_) return {bound_reached_};
  return found;
}

void validator::write_down(place const& at, std::string message) {
  auto& made = sink_->emplace_back();
  made.at = at.pointer();
  made.message = std::move(message);
}

void validator::exceed(std::string message, place const& at) {
  if (exceeded_) return;
  exceeded_ = true;
  bound_reached_.at = at.pointer();
  bound_reached_.message = std::move(message);
}

void validator::spend(std::uint64_t steps, place const& at) {
  if (steps > steps_left_) return exceed("checking this value takes too many steps: the schema has it looked at again and again", at);
  steps_left_ -= steps;
}

bool validator::check(subschema const& with, json::value const& of, place const& at) {
  spend(1, at);
  if (depth_ == depth_max) exceed("checking this value takes more than " + std::to_string(depth_max) + " schemas within each other", at);
  if (stopped()) return false;
  ++depth_;
  bool const valid = check_all(with, of, at);
  --depth_;
  return valid;
}

bool validator::check_all(subschema const& with, json::value const& of, place const& at) {
  if (with.always) {
    return *with.always || fail(at, [&] { return "nothing is allowed here, found " + describe(of); });
  }
  if (with.ref != nullptr) return check(*with.ref, of, at);
  // A value of the wrong type is one violation, not several.
  if (!check_type(with, of, at)) return false;
  bool valid = check_values(with, of, at);
  if (!valid && !go_on()) return false;
  valid = check_kind(with, of, at) && valid;
  if (!valid && !go_on()) return false;
  return check_together(with, of, at) && valid;
}

bool validator::check_type(subschema const& with, json::value const& of, place const& at) {
  if (with.types == 0 || (with.types & types_of(of)) != 0) return true;
  return fail(at, [&] { return "expected " + type_words(with.types) + ", found " + describe(of); });
}

bool validator::check_values(subschema const& with, json::value const& of, place const& at) {
  if (!with.values) return true;
  spend(of.raw().size(), at);
  if (with.values->canonical.contains(json::canonical(of))) return true;
  return fail(at, [&] { return "expected " + with.values->shown + ", found " + describe(of); });
}

bool validator::check_kind(subschema const& with, json::value const& of, place const& at) {
  switch (of.type()) {
    case json::kind::number: return check_number(with, of, at);
    case json::kind::string: return check_string(with, of, at);
    case json::kind::array: return check_array(with, of, at);
    case json::kind::object: return check_object(with, of, at);
    case json::kind::null:
    case json::kind::boolean: return true;
  }
  return true;
}

// ---- schemas together ----

bool validator::holds(subschema const& with, json::value const& of, place const& at) {
  auto* const before = std::exchange(sink_, nullptr);
  bool const valid = check(with, of, at);
  sink_ = before;
  return valid;
}

std::optional<schema_violation> validator::first_violation(subschema const& with, json::value const& of, place const& at) {
  std::vector<schema_violation> found;
  auto* const sink_before = std::exchange(sink_, &found);
  auto const limit_before = std::exchange(limit_, 1);
  bool const valid = check(with, of, at);
  sink_ = sink_before;
  limit_ = limit_before;
  if (valid) return std::nullopt;
  return found.empty() ? schema_violation{} : std::move(found.front());
}

bool validator::check_together(subschema const& with, json::value const& of, place const& at) {
  bool valid = true;
  for (auto const* one : with.all_of) {
    valid = check(*one, of, at) && valid;
    if (!valid && !go_on()) return false;
  }
  if (!check_any_of(with, of, at)) valid = false;
  if (!check_one_of(with, of, at)) valid = false;
  if (!valid && !go_on()) return false;
  if (with.negated != nullptr && holds(*with.negated, of, at)) {
    valid = fail(at, [&] { return "expected anything but what " + with.negated->at + " describes, found " + describe(of); });
  }
  return check_condition(with, of, at) && valid;
}

bool validator::check_any_of(subschema const& with, json::value const& of, place const& at) {
  if (with.any_of.empty()) return true;
  std::vector<schema_violation> reasons;
  for (auto const* one : with.any_of) {
    auto reason = quiet() ? std::nullopt : first_violation(*one, of, at);
    bool const valid = quiet() ? holds(*one, of, at) : !reason;
    if (valid) return true;
    if (reason) reasons.push_back(std::move(*reason));
  }
  return fail(
      at, [&] { return "matches none of the " + std::to_string(with.any_of.size()) + " schemas of \"anyOf\"" + nearest_reason(reasons); });
}

bool validator::check_one_of(subschema const& with, json::value const& of, place const& at) {
  if (with.one_of.empty()) return true;
  std::vector<schema_violation> reasons;
  std::string matching;
  std::size_t matches = 0;
  for (auto const* one : with.one_of) {
    auto reason = quiet() ? std::nullopt : first_violation(*one, of, at);
    bool const valid = quiet() ? holds(*one, of, at) : !reason;
    if (reason) reasons.push_back(std::move(*reason));
    if (!valid) continue;
    matching += (matches++ > 0 ? " and " : "") + one->at;
  }
  if (matches == 1) return true;
  auto const all = std::to_string(with.one_of.size()) + " schemas of \"oneOf\"";
  if (matches == 0) return fail(at, [&] { return "matches none of the " + all + nearest_reason(reasons); });
  return fail(at, [&] { return "matches " + matching + "; expected exactly one of the " + all; });
}

bool validator::check_condition(subschema const& with, json::value const& of, place const& at) {
  if (with.condition == nullptr) return true;
  auto const* branch = holds(*with.condition, of, at) ? with.then_branch : with.else_branch;
  return branch == nullptr || check(*branch, of, at);
}

}  // namespace atone::schema_detail
