// SQLite's result codes in the words of the port. Thread rules: plain functions.
#pragma once

#include <string>
#include <string_view>

#include <atone/result.hpp>

struct sqlite3;

namespace atone::sqlite {

// What went wrong on `on` while `doing`: "PATH: doing: what SQLite says". Call before anything else is run on it.
error failure(sqlite3* on, int code, std::string_view doing);

// Which kind of failure a result code is.
errc kind_of(int code) noexcept;

// A value that is in the file but can't be one that was written.
error unreadable(sqlite3* on, std::string_view what);

}  // namespace atone::sqlite
