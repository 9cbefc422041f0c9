// The SQL of schemas/sql/sqlite, built into the library. Thread rules: constants.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace atone::sqlite {

// One numbered step of the schema. A released one never changes.
struct migration {
  std::uint32_t number;
  std::string_view name;
  std::string_view script;
};

std::span<migration const> migrations() noexcept;

// barrier.sql whole, with its explanations.
std::string_view barrier_text() noexcept;
// One statement of it by name ("look", "claim" …); the name must exist.
std::string_view barrier_statement(std::string_view name) noexcept;

}  // namespace atone::sqlite
