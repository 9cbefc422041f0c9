// Finds the tables of Atone in a dump that pg_dump wrote in plain format, and holds that nothing of them is missing.
//
//   -- PostgreSQL database dump
//   SET client_encoding = 'UTF8';
//   COPY atone.saga (shard, status, …) FROM stdin;
//   12<tab>5<tab>…
//   \.
//   -- PostgreSQL database dump complete
//
// Thread rules: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "copy_text.hpp"
#include "dump_lines.hpp"
#include "dump_rows.hpp"

namespace atone::dump {

// A table that is wanted: its columns, and who takes their values, row by row.
struct wanted_table {
  std::string_view name;  // in schema atone
  dump::columns columns;
  std::function<result<void>(copy_fields const&)> take;
};

class dump_scan {
 public:
  dump_scan(line_source& from, std::vector<wanted_table> wanted);

  // To the end. Errors: corrupt, with the line; what `take` answers, with the line before it where it is corrupt.
  result<void> run();
  // After it: whether each wanted table had rows, or none between a COPY and its end. Errors: corrupt.
  result<void> all_there() const;

 private:
  struct table_state {
    wanted_table wanted;
    bool seen = false;
  };

  result<void> statement();
  result<void> copy(std::string_view statement);
  result<void> skip_rows(std::string const& name);
  result<void> rows(table_state& of, std::vector<std::string> const& present);
  result<void> row(table_state& of, std::vector<std::size_t> const& places, std::size_t width);
  result<std::vector<std::size_t>> places_of(table_state const& of, std::vector<std::string> const& present) const;
  result<void> whole() const;
  table_state* find(std::string_view qualified);

  line_source& from_;
  std::vector<table_state> tables_;
  std::uint64_t lines_ = 0;
  bool begun_ = false;    // its first comment was there
  bool whole_ = false;    // its last one
  bool inserts_ = false;  // it has rows, but not as COPY
};

}  // namespace atone::dump
