// `fallback`: what stands in for a step's output when the step itself gives none.
#include <array>

#include <atone/yaml/fields.hpp>
#include <atone/yaml/scalars.hpp>

#include "yaml/keys.hpp"
#include "yaml/steps.hpp"
#include "yaml/targets.hpp"

namespace atone::yaml {
namespace {

using use_of = std::variant<fallback::constant, fallback::call, fallback::last_output>;

constexpr std::array trigger_words{std::string_view{"timeout"}, std::string_view{"unavailable"}, std::string_view{"refused"}};
constexpr std::array triggers{fallback::trigger::timeout, fallback::trigger::unavailable, fallback::trigger::refused};
constexpr std::array alert_words{std::string_view{"info"}, std::string_view{"warn"}, std::string_view{"page"}};
constexpr std::array alerts{alert_level::info, alert_level::warn, alert_level::page};
constexpr std::string_view expected_use = "`last_output`, `{value: …}` or `{call: …, in: …}`";

std::uint8_t read_triggers(spot const& at, report& out) {
  auto const list = required_field(at, "on", "as in `on: [timeout, unavailable]`", out);
  if (!list || !expect_list(*list, "a list of timeout, unavailable, refused", out)) return 0;
  if ((*list)->items.empty()) out.mistake(*list, "an empty list: the fallback would never be used");
  std::uint8_t set = 0;
  for (std::size_t i = 0; i < (*list)->items.size(); ++i) {
    auto const word = read_word(list->item(i), trigger_words, out);
    if (!word) continue;
    auto const bit = static_cast<std::uint8_t>(triggers.at(*word));
    if ((set & bit) != 0) out.mistake(list->item(i), "`" + std::string{trigger_words.at(*word)} + "` stands twice in the list");
    set = static_cast<std::uint8_t>(set | bit);
  }
  return set;
}

// Whether nothing in the value is computed: then it can be held against the schema now.
bool is_constant(node const& of) {
  if (is_expression(of)) return false;
  for (auto const& item : of.items) {
    if (!is_constant(item)) return false;
  }
  for (auto const& member : of.entries) {
    if (!is_constant(member.value)) return false;
  }
  return true;
}

void check_constant(spot const& at, value_template const& value, json_schema const& schema, report& out) {
  auto const text = value.render({});
  auto const parsed = text ? json::parse(*text) : result<json::value>{text.error()};
  if (!parsed) return;
  for (auto const& violation : schema.validate(*parsed)) {
    out.mistake(at, "the value does not fit the step's `out` schema" + (violation.at.empty() ? "" : " at " + violation.at) + ": " +
                        violation.message);
  }
}

std::optional<use_of> read_constant(spot const& use, expression_scope const& names, action_verb const& action, bool& keeps_type,
                                    report& out) {
  check_keys(use, fallback_value_keys, out);
  auto const at = *field(use, "value");
  auto built = read_template(at, names, out);
  if (!built) return std::nullopt;
  keeps_type = is_constant(*at);
  if (keeps_type && action.out) check_constant(at, built->what, *action.out, out);
  fallback::constant made;
  made.value = std::move(built->what);
  return use_of{std::move(made)};
}

std::optional<use_of> read_call_instead(spot const& use, expression_scope const& names, action_verb const& action, bool& keeps_type,
                                        reading& with) {
  check_keys(use, fallback_call_keys, with.out);
  keeps_type = false;
  auto const call = *field(use, "call");
  auto what = read_call(call, with.services, with.out);
  auto const in = field(use, "in");
  fallback::call made;
  made.in = value_template::fields({});
  made.attempt_timeout = action.attempt_timeout;
  if (what) check_target_input(*what, call, in, with.out);
  if (in) {
    auto built = read_template(*in, names, with.out);
    if (!built) return std::nullopt;
    made.in = std::move(built->what);
  }
  if (!what) return std::nullopt;
  made.what = std::move(*what);
  return use_of{std::move(made)};
}

std::optional<use_of> read_last_output(spot const& at, expression_scope const& names, report& out) {
  auto const key = required_field(at, "key", "which output is meant, as in `key: =input.user_id`", out);
  auto const max_age = required_field(at, "max_age", "how old it may be, as in `max_age: 24h`", out);
  auto program = key ? read_typed_expression(*key, names, {expr::type_kind::string, expr::type_kind::integer}, out) : std::nullopt;
  auto const age = max_age ? read_duration(*max_age, out) : std::nullopt;
  if (!program || !age) return std::nullopt;
  return use_of{fallback::last_output{std::move(*program), *age}};
}

void refuse_with_other_use(spot const& at, report& out) {
  for (auto const* key : {"key", "max_age"}) {
    auto const given = field(at, key);
    if (given) out.mistake(*given, "`" + std::string{key} + "` belongs to `use: last_output` only");
  }
}

std::optional<use_of> read_use(spot const& at, expression_scope const& names, action_verb const& action, bool& keeps_type, reading& with) {
  auto const use = required_field(at, "use", "one of " + std::string{expected_use}, with.out);
  if (!use) return std::nullopt;
  if ((*use)->is_scalar() && (*use)->text == "last_output") return read_last_output(at, names, with.out);
  refuse_with_other_use(at, with.out);
  auto const value = (*use)->find("value") != nullptr;
  auto const call = (*use)->find("call") != nullptr;
  if ((*use)->is_map() && value && !call) return read_constant(*use, names, action, keeps_type, with.out);
  if ((*use)->is_map() && call && !value) return read_call_instead(*use, names, action, keeps_type, with);
  if (value && call) {
    with.out.mistake(*use, "`use` has both `value` and `call`", "one of them");
    return std::nullopt;
  }
  with.out.mistake(*use, "found " + describe(**use) + "; expected " + std::string{expected_use});
  return std::nullopt;
}

}  // namespace

built_fallback read_fallback(spot const& at, expression_scope names, action_verb const& action, expr::type in_type, reading& with) {
  built_fallback made;
  if (!expect_map(at, "a map, as in {on: [timeout], use: last_output, …}", with.out)) return made;
  check_keys(at, fallback_keys, with.out);
  names.names.insert_or_assign("in", std::move(in_type));
  auto const on = read_triggers(at, with.out);
  auto use = read_use(at, names, action, made.keeps_type, with);
  std::optional<alert_level> alert;
  if (auto const value = field(at, "alert")) {
    if (auto const word = read_word(*value, alert_words, with.out)) alert = alerts.at(*word);
  }
  if (!use) return made;
  made.what.emplace(on, std::move(*use));
  made.what->alert = alert;
  return made;
}

}  // namespace atone::yaml
