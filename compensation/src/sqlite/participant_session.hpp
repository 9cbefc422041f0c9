// The business statements of a participant, inside its local transaction. Thread rules: those of the connection.
#pragma once

#include <optional>

#include <atone/participant.hpp>

#include "sqlite/authorizer.hpp"
#include "sqlite/connection.hpp"

namespace atone::sqlite {

class participant_session final : public participant::sql_session {
 public:
  participant_session(connection& on, authorizer& guard) : on_(on), guard_(guard), guarded_(guard, authorizer::rule::participant) {}

  result<std::vector<participant::row>> execute(std::string_view statement, std::vector<participant::parameter> const& parameters) override;
  result<void> script(std::string_view statements) override;

  // The first failure: the transaction must not be committed after it, whatever the business made of it.
  std::optional<error> const& spoiled() const noexcept { return spoiled_; }

 private:
  template <class T>
  result<T> noted(result<T> outcome);
  result<std::vector<participant::row>> run(std::string_view statement, std::vector<participant::parameter> const& parameters);

  connection& on_;
  authorizer& guard_;
  authorizer::scope guarded_;
  std::optional<error> spoiled_;
};

}  // namespace atone::sqlite
