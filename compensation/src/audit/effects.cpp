// Reads what a participant answers to GET /atone/effects. It came from outside: every row is checked, and the error says which.
#include <utility>

#include <atone/audit.hpp>
#include <atone/json.hpp>

namespace atone::audit {
namespace {

class row_reader {
 public:
  row_reader(std::string_view service, std::size_t index, json::value const& row) : service_(service), index_(index), row_(row) {}

  result<effect> read() const {
    if (row_.type() != json::kind::object) return wrong("", "is no object");
    auto const saga = text("saga");
    if (!saga) return saga.error();
    auto const id = saga_id::parse(*saga);
    if (!id) return wrong("saga", "'" + *saga + "' is no saga id (26 characters)");
    auto const op_word = text("op");
    if (!op_word) return op_word.error();
    auto const op = parse_operation(*op_word);
    if (!op) return wrong("op", "'" + *op_word + "' is no operation (do, compensate …)");
    auto step = text("step");
    if (!step) return step.error();
    auto const applied = row_.find("applied");
    auto const count = applied && applied->type() == json::kind::number ? applied->as_uint64() : std::nullopt;
    if (!count) return wrong("applied", "is missing or no whole number");
    effect made;
    made.service = service_;
    made.saga = *id;
    made.step = step_path{std::move(*step)};
    made.op = *op;
    made.applied = *count;
    return made;
  }

 private:
  error wrong(std::string_view field, std::string const& what) const {
    std::string message = "effects of service '" + std::string{service_} + "': row " + std::to_string(index_);
    if (!field.empty()) message += " field '" + std::string{field} + "'";
    return error{errc::invalid_argument, message + ": " + what};
  }

  result<std::string> text(std::string_view field) const {
    auto const found = row_.find(field);
    if (!found || found->type() != json::kind::string) return wrong(field, "is missing or no text");
    return found->as_string();
  }

  std::string_view service_;
  std::size_t index_;
  json::value const& row_;
};

error no_page(std::string_view service, std::string const& what) {
  return error{errc::invalid_argument, "effects of service '" + std::string{service} + "': " + what};
}

result<std::string> read_next(std::string_view service, json::value const& page) {
  auto const next = page.find("next");
  if (!next || next->is_null()) return std::string{};
  if (next->type() != json::kind::string) return no_page(service, "field 'next' is neither text nor null");
  return next->as_string();
}

}  // namespace

result<effect_page> read_effect_page(std::string_view service, std::string_view text) {
  auto const parsed = json::parse(std::string{text});
  if (!parsed) return no_page(service, "the answer is no JSON: " + parsed.error().message);
  if (parsed->type() != json::kind::object) return no_page(service, "the answer is no object");
  auto const rows = parsed->find("effects");
  if (!rows || rows->type() != json::kind::array) return no_page(service, "field 'effects' is missing or no array");
  if (rows->size() > effect_page::rows_max)
    return no_page(service, "a page has more than " + std::to_string(effect_page::rows_max) + " rows");
  effect_page page;
  std::size_t index = 0;
  for (auto const& each : rows->elements()) {
    auto read = row_reader{service, index++, each}.read();
    if (!read) return read.error();
    page.effects.push_back(std::move(*read));
  }
  auto next = read_next(service, *parsed);
  if (!next) return next.error();
  page.next = std::move(*next);
  return page;
}

}  // namespace atone::audit
