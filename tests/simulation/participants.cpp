#include "participants.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "planted.hpp"

namespace atone::simulation {
namespace {

// The whole number behind `"name":` in a request's JSON.
std::optional<std::int64_t> number_in(std::string_view text, std::string_view name) {
  auto const at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  auto const digits = text.substr(at + name.size());
  std::int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{}) return std::nullopt;
  return value;
}

std::string_view body_of(runtime::outgoing_call const& call) {
  if (auto const* http = std::get_if<http_request_spec>(&call.request)) return http->body;
  if (auto const* local = std::get_if<local_request_spec>(&call.request)) return local->input;
  return {};
}

}  // namespace

void participants::tell(runtime::outgoing_call const& call, deed what, std::int64_t value, bool fits) {
  judge::delivery told;
  told.saga = call.saga;
  told.step = call.step.text();
  told.op = call.op;
  told.what = what;
  told.value = value;
  told.fits = fits;
  if (what == deed::applied) {
    told.read = number_in(body_of(call), "\"read\":");
    told.seen = number_in(body_of(call), "\"seen\":");
  }
  judge_.delivered(told);
}

participants::reply participants::handle(runtime::outgoing_call const& call) {
  if (call.op == operation::fallback) {
    reply made;
    made.body = R"({"v":555})";
    return made;
  }
  auto& of = tables_[call.saga][call.step.text()];
  return call.op == operation::compensate ? undo(call, of) : act(call, of);
}

participants::reply participants::act(runtime::outgoing_call const& call, table& of) {
  auto const known = std::find_if(of.acts.begin(), of.acts.end(), [&](auto const& one) { return one.first == call.key.text(); });
  if (known != of.acts.end() && !planted(planted_bug::drop_barrier)) {
    tell(call, deed::swallowed, -1, true);
    return known->second;
  }
  reply made;
  auto const* const definition = judge_.definition_of(call.saga);
  auto const plan = definition == nullptr ? nullptr : &definition->steps.at(call.step.text());
  bool const may_be_odd = plan != nullptr && (plan->kind == promise::compensable || plan->kind == promise::read_only);
  if (of.tombstone && !planted(planted_bug::drop_tombstone)) {
    made.refused = true;
    tell(call, deed::refused_late, -1, true);
  } else if (faults_.happens(fault::refuse)) {
    made.refused = true;
    tell(call, deed::refused, -1, true);
  } else {
    bool const odd = faults_.happens(fault::wrong_answer) && may_be_odd;
    auto const value = ++values_;
    made.body = odd ? std::string{R"({"w":1})"} : "{\"v\":" + std::to_string(value) + "}";
    of.acted = true;
    tell(call, deed::applied, odd ? -1 : value, !odd);
  }
  of.acts.emplace_back(call.key.text(), made);
  return made;
}

participants::reply participants::undo(runtime::outgoing_call const& call, table& of) {
  if (of.undo && !planted(planted_bug::drop_barrier)) {
    tell(call, deed::swallowed, -1, true);
    return *of.undo;
  }
  reply made;
  if (faults_.happens(fault::refuse_undo)) {  // not kept: a refused compensation may be tried again
    made.refused = true;
    tell(call, deed::refused, -1, true);
    return made;
  }
  made.body = "{}";
  of.tombstone = true;
  tell(call, of.acted ? deed::applied : deed::empty, -1, true);
  of.undo = made;
  return made;
}

}  // namespace atone::simulation
