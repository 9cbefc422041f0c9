#include "drill/saga_answer.hpp"

#include <atone/json.hpp>

namespace atone::drill {
namespace {

std::string text_at(json::value const& of, std::string_view key) {
  auto const found = of.find(key);
  return found && found->type() == json::kind::string ? found->as_string() : std::string{};
}

bool flag_at(json::value const& of, std::string_view key) {
  auto const found = of.find(key);
  return found && found->type() == json::kind::boolean && found->as_bool();
}

}  // namespace

result<saga_answer> read_saga_answer(std::string_view text) {
  auto const parsed = json::parse(std::string{text});
  if (!parsed) return error{errc::internal, "the coordinator's answer is no JSON: " + parsed.error().message};
  if (parsed->type() != json::kind::object) return error{errc::internal, "the coordinator's answer is no object"};
  saga_answer made;
  auto const id = saga_id::parse(text_at(*parsed, "id"));
  if (!id) return error{errc::internal, "the coordinator's answer has no saga id in `id`"};
  made.id = *id;
  made.replayed = flag_at(*parsed, "replayed");
  if (auto const word = parsed->find("status")) {
    auto const status = parse_saga_status(text_at(*parsed, "status"));
    if (!status) return error{errc::internal, "the coordinator's answer has no known `status`"};
    made.status = *status;
  }
  auto const steps = parsed->find("steps");
  if (!steps || steps->type() != json::kind::array) return made;
  for (auto const& each : steps->elements()) {
    if (each.type() == json::kind::object && flag_at(each, "fell_back")) made.fell_back.push_back(text_at(each, "path"));
  }
  return made;
}

}  // namespace atone::drill
