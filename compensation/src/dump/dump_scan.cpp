#include "dump_scan.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace atone::dump {
namespace {

constexpr std::string_view first_comment = "-- PostgreSQL database dump";
constexpr std::string_view last_comment = "-- PostgreSQL database dump complete";
constexpr std::string_view copy_word = "COPY ";
constexpr std::string_view copy_end = ") FROM stdin;";
constexpr std::string_view rows_end = "\\.";
constexpr std::string_view encoding_word = "SET client_encoding = ";
constexpr std::string_view schema_prefix = "atone.";
constexpr std::string_view how = "expected one made with pg_dump, or pg_restore -f -, in plain format with COPY";

// What else the file may be, by its first bytes; empty: can't be told.
std::string_view other_format(std::string_view line) {
  constexpr std::array known{
      std::pair{std::string_view{"PGDMP"}, std::string_view{"a dump in custom format: pg_restore -f - FILE | atone audit --dump -"}},
      std::pair{std::string_view{"toc.dat"}, std::string_view{"a dump in tar format: pg_restore -f - FILE | atone audit --dump -"}},
      std::pair{std::string_view{"\x1f\x8b"}, std::string_view{"compressed: gunzip -c FILE | atone audit --dump -"}},
      std::pair{std::string_view{"\x28\xb5\x2f\xfd"}, std::string_view{"compressed: zstd -dc FILE | atone audit --dump -"}},
  };
  for (auto const& [begin, what] : known) {
    if (line.starts_with(begin)) return what;
  }
  return {};
}

// One name, quoted or not, off the front of `rest`.
std::optional<std::string> take_name(std::string_view& rest) {
  std::string made;
  if (!rest.starts_with('"')) {
    auto const end = std::min(rest.find_first_of(" .,()"), rest.size());
    made = rest.substr(0, end);
    rest.remove_prefix(end);
    return made.empty() ? std::nullopt : std::optional{made};
  }
  for (rest.remove_prefix(1); !rest.empty(); rest.remove_prefix(1)) {
    if (rest.front() != '"') {
      made += rest.front();
    } else if (rest.substr(1).starts_with('"')) {
      rest.remove_prefix(1);  // a doubled quote is one
      made += '"';
    } else {
      rest.remove_prefix(1);
      return made;
    }
  }
  return std::nullopt;
}

bool take(std::string_view& rest, std::string_view word) {
  if (!rest.starts_with(word)) return false;
  rest.remove_prefix(word.size());
  return true;
}

struct copy_statement {
  std::string table;  // with its schema
  std::vector<std::string> columns;

  copy_statement() = default;
};

// "COPY atone.saga (shard, status) FROM stdin;"; nothing: it is another statement.
std::optional<copy_statement> parse_copy(std::string_view rest) {
  copy_statement made;
  auto const schema = take(rest, copy_word) ? take_name(rest) : std::nullopt;
  auto const table = schema && take(rest, ".") ? take_name(rest) : std::nullopt;
  if (!table || !take(rest, " (")) return std::nullopt;
  made.table = *schema + '.' + *table;
  do {
    auto column = take_name(rest);
    if (!column) return std::nullopt;
    made.columns.push_back(std::move(*column));
  } while (take(rest, ", "));
  return rest == copy_end ? std::optional{std::move(made)} : std::nullopt;
}

}  // namespace

dump_scan::dump_scan(line_source& from, std::vector<wanted_table> wanted) : from_(from) {
  for (auto& each : wanted) tables_.push_back(table_state{std::move(each)});
}

dump_scan::table_state* dump_scan::find(std::string_view qualified) {
  if (!take(qualified, schema_prefix)) return nullptr;
  auto const found = std::find_if(tables_.begin(), tables_.end(), [&](table_state const& one) { return one.wanted.name == qualified; });
  return found == tables_.end() ? nullptr : &*found;
}

result<void> dump_scan::run() {
  for (;;) {
    auto const there = from_.next();
    if (!there) return there.error();
    if (!*there) return whole();
    if (lines_++ == 0) {
      if (auto const other = other_format(from_.line()); !other.empty()) return from_.wrong("the file is " + std::string{other});
    }
    if (auto done = statement(); !done) return done;
  }
}

// A line outside of rows. Those of functions' bodies come by here too: they begin like none of these.
result<void> dump_scan::statement() {
  auto const line = from_.line();
  if (line == first_comment) {
    begun_ = true;
    whole_ = false;
  }
  if (line == last_comment) whole_ = true;
  if (line.starts_with("INSERT INTO atone.")) inserts_ = true;
  if (line.starts_with(encoding_word) && line != "SET client_encoding = 'UTF8';") {
    return from_.wrong("found '" + std::string{line} + "'; expected UTF8 (pg_dump --encoding UTF8)");
  }
  return line.starts_with(copy_word) ? copy(line) : result<void>{};
}

result<void> dump_scan::copy(std::string_view statement) {
  auto const parsed = parse_copy(statement);
  if (!parsed) return {};
  auto* const table = find(parsed->table);
  if (table == nullptr) return skip_rows(parsed->table);
  if (std::exchange(table->seen, true)) return from_.wrong("the rows of " + parsed->table + " come a second time");
  return rows(*table, parsed->columns);
}

result<void> dump_scan::skip_rows(std::string const& name) {
  for (;;) {
    auto const there = from_.next();
    if (!there) return there.error();
    if (!*there || !from_.ended()) return from_.wrong("the dump was cut off in the rows of " + name + "; expected \\. at their end");
    if (from_.line() == rows_end) return {};
  }
}

result<std::vector<std::size_t>> dump_scan::places_of(table_state const& of, std::vector<std::string> const& present) const {
  std::vector<std::size_t> places;
  for (auto const column : of.wanted.columns) {
    auto const found = std::find(present.begin(), present.end(), column);
    if (found == present.end()) {
      return from_.wrong("table atone." + std::string{of.wanted.name} + " has no column '" + std::string{column} +
                         "': the dump is of another version's tables; expected migration " + std::to_string(ATONE_POSTGRESQL_MIGRATIONS));
    }
    places.push_back(static_cast<std::size_t>(found - present.begin()));
  }
  return places;
}

result<void> dump_scan::rows(table_state& of, std::vector<std::string> const& present) {
  auto const places = places_of(of, present);
  if (!places) return places.error();
  auto const name = "atone." + std::string{of.wanted.name};
  for (;;) {
    auto const there = from_.next();
    if (!there) return there.error();
    if (!*there || !from_.ended()) return from_.wrong("the dump was cut off in the rows of " + name + "; expected \\. at their end");
    if (from_.line() == rows_end) return {};
    if (auto taken = row(of, *places, present.size()); !taken) {
      if (taken.error().code != errc::corrupt) return taken;
      return from_.wrong(name + ": " + taken.error().message);
    }
  }
}

result<void> dump_scan::row(table_state& of, std::vector<std::size_t> const& places, std::size_t width) {
  auto fields = split_copy_line(from_.line(), width);
  if (!fields) return fields.error();
  copy_fields wanted;
  wanted.reserve(places.size());
  for (auto const place : places) wanted.push_back(std::move((*fields)[place]));
  return of.wanted.take(wanted);
}

result<void> dump_scan::whole() const {
  if (!begun_) return from_.wrong("the file has no line '" + std::string{first_comment} + "': " + std::string{how});
  if (!whole_ || !from_.ended()) {
    return from_.wrong("the dump was cut off; expected '" + std::string{last_comment} + "' near its end");
  }
  return {};
}

result<void> dump_scan::all_there() const {
  for (auto const& each : tables_) {
    if (each.seen) continue;
    auto const name = "atone." + std::string{each.wanted.name};
    if (inserts_) return from_.wrong("the rows of " + name + " are no COPY: " + std::string{how} + " (without --inserts)");
    return from_.wrong("no rows of table " + name + " are in the dump; expected all of schema atone with its data");
  }
  return {};
}

}  // namespace atone::dump
