// The fixture of the suite that every store passes: a fresh place, a migrated store, one writer that has taken over.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <atone/journal.hpp>

#include "store_batches.hpp"
#include "store_factory.hpp"

namespace atone::test {

// Unwraps a result that must hold a value, or fails the test where it stands.
#define MUST(expression)                                                                   \
  ([&] {                                                                                   \
    auto must_result = (expression);                                                       \
    if (!must_result) ADD_FAILURE() << #expression << ": " << must_result.error().message; \
    if (!must_result) throw std::runtime_error("a result the test can't go on without");   \
    return std::move(must_result).value();                                                 \
  }())

// A result<void>, or any result whose value is of no interest, that must have succeeded.
#define EXPECT_FINE(expression)                                          \
  do {                                                                   \
    auto const& fine_result = (expression);                              \
    EXPECT_TRUE(fine_result.has_value()) << fine_result.error().message; \
  } while (false)

// A result that must be refused with this code.
#define EXPECT_REFUSED(expected, expression)                                                          \
  do {                                                                                                \
    auto const& refused_result = (expression);                                                        \
    EXPECT_FALSE(refused_result.has_value());                                                         \
    if (!refused_result) {                                                                            \
      EXPECT_EQ(name(refused_result.error().code), name(expected)) << refused_result.error().message; \
      EXPECT_FALSE(refused_result.error().message.empty());                                           \
    }                                                                                                 \
  } while (false)

class store_suite : public testing::TestWithParam<store_factory> {
 protected:
  void SetUp() override {
    place_ = GetParam().make();
    if (!place_) GTEST_SKIP() << GetParam().name << " can't be had here";
    open();
    EXPECT_FINE(store_->migrate());
    writer_ = new_writer("node-1");
    reader_ = MUST(store_->open_reader());
  }

  void open() { store_ = MUST(place_->open()); }

  // As after a restart: everything is closed and opened again. Nothing was taken over yet.
  void reopen() {
    reader_.reset();
    writer_.reset();
    store_.reset();
    open();
    reader_ = MUST(store_->open_reader());
  }

  // A journal that has taken the store over.
  std::unique_ptr<journal> new_writer(std::string node) {
    auto made = MUST(store_->open_journal());
    EXPECT_FINE(made->take_over(node_id{std::move(node)}));
    next_ = 1;
    return made;
  }

  // Commits under the next number.
  result<commit_report> commit(journal_batch const& batch) {
    auto done = writer_->commit(batch, batch_number{next_});
    if (done) ++next_;
    return done;
  }

  std::vector<open_saga> load_open(journal& from) {
    std::vector<open_saga> found;
    EXPECT_FINE(from.load_open(from.every_shard(), [&](open_saga&& one) { found.push_back(std::move(one)); }));
    return found;
  }

  std::unique_ptr<store_place> place_;
  std::unique_ptr<store> store_;
  std::unique_ptr<journal> writer_;
  std::unique_ptr<journal_reader> reader_;
  std::uint64_t next_ = 1;
};

// Ends the test where the store can't do it by nature: nothing was left out that could have been checked, so it is no skipped test.
#define NEEDS(capability) \
  if (!GetParam().capability) return

}  // namespace atone::test
