#include "sqlite/participant_session.hpp"

#include <sqlite3.h>

#include <charconv>
#include <cstring>

namespace atone::sqlite {
namespace {

using participant::parameter;
using participant::row;

// "$3" and "?3" are place 3 of the caller's parameters; other names are refused.
std::optional<std::size_t> place_of(char const* name) {
  if (name == nullptr || (*name != '$' && *name != '?')) return std::nullopt;
  std::size_t place = 0;
  char const* const end = name + std::strlen(name);
  auto const [stopped, failed] = std::from_chars(name + 1, end, place);
  if (failed != std::errc{} || stopped != end || place == 0) return std::nullopt;
  return place;
}

result<void> bind(query& to, std::vector<parameter> const& parameters) {
  int const count = sqlite3_bind_parameter_count(to.handle());
  for (int at = 1; at <= count; ++at) {
    char const* const name = sqlite3_bind_parameter_name(to.handle(), at);
    auto const place = place_of(name);
    if (!place || *place > parameters.size()) {
      return error{errc::bad_data, "the statement uses parameter '" + std::string{name == nullptr ? "?" : name} + "', but " +
                                       std::to_string(parameters.size()) + " were given; expected $1, $2 …"};
    }
    auto const& value = parameters[*place - 1];
    if (value) {
      to.at(at).add_text(*value);
    } else {
      to.at(at).add_null();
    }
  }
  return {};
}

row read_row(query& from) {
  row one;
  for (int column = 0; column < sqlite3_column_count(from.handle()); ++column) {
    std::string name = sqlite3_column_name(from.handle(), column);
    bool const missing = from.next_is_null();
    auto text = from.take_text();
    one.emplace(std::move(name), missing ? std::nullopt : std::optional<std::string>{std::move(text)});
  }
  return one;
}

}  // namespace

template <class T>
result<T> participant_session::noted(result<T> outcome) {
  if (outcome) return outcome;
  auto const why = guard_.explain(outcome.error());
  if (!spoiled_) spoiled_ = why;
  return why;
}

result<std::vector<row>> participant_session::execute(std::string_view statement, std::vector<parameter> const& parameters) {
  if (spoiled_) return *spoiled_;
  return noted(run(statement, parameters));
}

result<std::vector<row>> participant_session::run(std::string_view statement, std::vector<parameter> const& parameters) {
  auto prepared = on_.prepare(statement);
  if (!prepared) return prepared.error();
  if (auto bound = bind(*prepared, parameters); !bound) return bound.error();
  std::vector<row> rows;
  for (;;) {
    auto const more = prepared->step();
    if (!more) return more.error();
    if (!*more) return rows;
    rows.push_back(read_row(*prepared));
  }
}

result<void> participant_session::script(std::string_view statements) {
  if (spoiled_) return *spoiled_;
  return noted(on_.run(statements));
}

}  // namespace atone::sqlite
