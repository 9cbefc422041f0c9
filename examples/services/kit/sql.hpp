// Small helpers for business statements.
#pragma once

#include <string>
#include <vector>

#include <atone/participant.hpp>

#include "route.hpp"

namespace kit {

// The statement's own parameters, then the mark of its cause: saga, step, op.
inline std::vector<atone::participant::parameter> marked(request_context const& context, std::vector<atone::participant::parameter> own) {
  own.emplace_back(context.call.saga);
  own.emplace_back(context.call.step);
  own.emplace_back(std::string{atone::name(context.call.op)});
  return own;
}

// The named column of the first row; empty when there is none or it is NULL.
inline std::string first(std::vector<atone::participant::row> const& rows, std::string_view column) {
  if (rows.empty()) return {};
  auto const found = rows.front().find(column);
  return found == rows.front().end() ? std::string{} : found->second.value_or("");
}

// Runs statements one after the other up to the first failure.
class script {
 public:
  explicit script(atone::participant::sql_session& session) : session_(session) {}

  // Rows of this statement; none after a failure.
  std::vector<atone::participant::row> run(std::string_view statement, std::vector<atone::participant::parameter> const& parameters) {
    if (!outcome_) return {};
    auto rows = session_.execute(statement, parameters);
    if (rows) return std::move(*rows);
    outcome_ = rows.error();
    return {};
  }
  // The first failure, if there was one.
  atone::result<void> const& outcome() const noexcept { return outcome_; }

 private:
  atone::participant::sql_session& session_;
  atone::result<void> outcome_;
};

// {"error": text}, the body of a refusal.
std::string error_body(std::string_view text);

}  // namespace kit
