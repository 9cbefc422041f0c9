#include "effects.hpp"

#include <array>
#include <optional>

#include <atone/http.hpp>
#include <atone/json.hpp>
#include <atone/percent.hpp>

namespace kit {
namespace {

using atone::errc;
using atone::error;
using atone::result;
using atone::participant::row;

using mark = std::array<std::string, 3>;  // saga, step, op

// "saga/step/op", each percent-encoded, so that any step can stand in it.
std::string cursor_of(row const& last) {
  std::string out;
  for (std::string_view const column : {"saga", "step", "op"}) {
    if (!out.empty()) out += '/';
    out += atone::percent_encode(last.find(column)->second.value_or(""));
  }
  return out;
}

std::optional<mark> parse_cursor(std::string_view text) {
  mark found;
  if (text.empty()) return found;
  for (std::size_t at = 0; at < found.size(); ++at) {
    auto const slash = text.find('/');
    auto const last = at + 1 == found.size();
    if ((slash == std::string_view::npos) != last) return std::nullopt;
    auto decoded = atone::percent_decode(text.substr(0, slash));
    if (!decoded) return std::nullopt;
    found[at] = std::move(*decoded);
    if (!last) text = text.substr(slash + 1);
  }
  return found;
}

// What the barrier answered, and one row of evidence for each time something was really changed. Reads what is left after the cursor: the
// listing is for an audit, not for every request.
std::string statement_for(std::vector<std::string> const& evidence) {
  std::string rows = "select saga, step, op, verdict, 0 as applied from atone_barrier where (saga, step, op) > ($1, $2, $3)";
  for (auto const& table : evidence) {
    rows += " union all select saga, step, op, '' as verdict, 1 as applied from " + table + " where (saga, step, op) > ($1, $2, $3)";
  }
  return "select saga, step, op, max(verdict) as verdict, sum(applied) as applied from (" + rows +
         ") as found group by saga, step, op order by saga, step, op limit cast($4 as bigint)";
}

void write_row(atone::json::writer& to, row const& of) {
  to.begin_object();
  for (std::string_view const column : {"saga", "step", "op", "verdict"}) to.key(column).string(of.find(column)->second.value_or(""));
  to.key("applied").raw(of.find("applied")->second.value_or("0"));
  to.end_object();
}

}  // namespace

result<std::string> list_effects(atone::participant::sql_session& session, std::vector<std::string> const& evidence, std::string_view after,
                                 std::string_view from_saga, std::int64_t limit) {
  auto const from = after.empty() ? std::optional{mark{std::string{from_saga}, "", ""}} : parse_cursor(after);
  if (!from) return error{errc::invalid_argument, "after: found '" + std::string{after} + "', expected the `next` of a page"};
  auto const rows = session.execute(statement_for(evidence), {(*from)[0], (*from)[1], (*from)[2], std::to_string(limit)});
  if (!rows) return rows.error();
  atone::json::writer to;
  to.begin_object().key("effects").begin_array();
  for (auto const& each : *rows) write_row(to, each);
  to.end_array().key("next");
  if (rows->size() < static_cast<std::size_t>(limit)) {
    to.null();
  } else {
    to.string(cursor_of(rows->back()));
  }
  to.end_object();
  return to.take();
}

}  // namespace kit
