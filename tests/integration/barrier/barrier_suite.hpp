// The fixture of the barrier's suite: a database with one account, and short ways to act on it through the barrier.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <atone/participant.hpp>

#include "store_barrier_factory.hpp"

namespace atone::test {

using participant::answer;
using participant::call;
using participant::outcome;
using participant::verdict;

class barrier_suite : public testing::TestWithParam<participant_factory> {
 protected:
  void SetUp() override {
    place_ = GetParam().make();
    if (!place_) GTEST_SKIP() << GetParam().name << " can't be had here";
    database_ = open();
    expect_fine(database_->install_barrier());
    expect_fine(database_->transact([](participant::sql_session& sql) {
      return sql.script(
          "CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL); INSERT INTO account (id, amount) VALUES (1, 0)");
    }));
  }

  std::unique_ptr<participant::participant_database> open() {
    auto made = place_->open();
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::move(*made) : nullptr;
  }

  static void expect_fine(result<void> const& done) { EXPECT_TRUE(done) << done.error().message; }

  static call call_of(operation op, std::string step = "pay") {
    call which;
    which.saga = "01JDZ4M6GQ5V7Y8N2W3X4R5T6K";
    which.step = std::move(step);
    which.op = op;
    return which;
  }

  // The business of every test: adds to the account, and answers the text.
  static participant::participant_database::business adding(int amount, std::string text) {
    return [amount, text](participant::sql_session& sql) -> result<answer> {
      auto const done = sql.execute("UPDATE account SET amount = amount + CAST($1 AS INTEGER) WHERE id = 1", {std::to_string(amount)});
      if (!done) return done.error();
      return answer::done(text);
    };
  }

  // Adds, and then says no.
  static participant::participant_database::business refusing(int amount, std::string text) {
    return [amount, text](participant::sql_session& sql) -> result<answer> {
      auto const done = sql.execute("UPDATE account SET amount = amount + CAST($1 AS INTEGER) WHERE id = 1", {std::to_string(amount)});
      if (!done) return done.error();
      return answer::no(text, 422);
    };
  }

  outcome run(call const& which, participant::participant_database::business const& work) {
    auto done = database_->run(which, work);
    EXPECT_TRUE(done) << done.error().message;
    return done ? *done : outcome{};
  }

  // Runs `adding(amount, text)` as this operation.
  outcome run(operation op, int amount = 1, std::string text = "{}") { return run(call_of(op), adding(amount, std::move(text))); }

  int amount() {
    int found = -1;
    expect_fine(database_->transact([&](participant::sql_session& sql) -> result<void> {
      auto const rows = sql.execute("SELECT amount FROM account WHERE id = $1", {std::string{"1"}});
      if (!rows) return rows.error();
      found = std::stoi(*rows->at(0).at("amount"));
      return {};
    }));
    return found;
  }

  std::unique_ptr<participant_place> place_;
  std::unique_ptr<participant::participant_database> database_;
};

}  // namespace atone::test
