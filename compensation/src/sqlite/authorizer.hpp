// Keeps statements that are not ours from ending our transaction or touching our tables, while they are prepared and run.
// Thread rules: those of the connection.
#pragma once

#include <string>

#include "sqlite/connection.hpp"

namespace atone::sqlite {

// Installed once on a connection (installing again would make SQLite prepare every kept statement anew); allows everything
// until a scope sets a rule. Must live as long as the connection and stay where it is.
class authorizer {
 public:
  enum class rule {
    none,
    user_statement,  // one statement beside the journal: no transaction control, PRAGMA, ATTACH, nor writes to atone_ tables
    participant,     // business statements: no transaction control, no ATTACH
  };

  explicit authorizer(connection& on);
  authorizer(authorizer const&) = delete;
  authorizer& operator=(authorizer const&) = delete;

  // The error with the reason in words, when it was this object that said no.
  error explain(error why) const;

  // Sets a rule for as long as it lives.
  class scope {
   public:
    scope(authorizer& of, rule which) : of_(of) {
      of_.rule_ = which;
      of_.denied_.clear();
    }
    scope(scope const&) = delete;
    scope& operator=(scope const&) = delete;
    ~scope() { of_.rule_ = rule::none; }

   private:
    authorizer& of_;
  };

 private:
  static int decide(void* self, int action, char const* first, char const* second, char const* database, char const* trigger) noexcept;
  bool allowed(int action, char const* first, char const* second) const noexcept;

  rule rule_ = rule::none;
  std::string denied_;
};

}  // namespace atone::sqlite
