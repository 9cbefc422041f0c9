// Migrations: fresh, again, missing, newer than this build.
#include "store_suite.hpp"

namespace atone::test {
namespace {

TEST_P(store_suite, a_migrated_store_is_what_this_build_expects) {
  auto const status = MUST(store_->status());
  EXPECT_EQ(status.found, status.expected);
  EXPECT_EQ(status.expected > 0, GetParam().migrates);
}

TEST_P(store_suite, migrating_again_changes_nothing) {
  EXPECT_FINE(commit(starting(1)));
  EXPECT_FINE(store_->migrate());
  EXPECT_TRUE(MUST(reader_->find(numbered(1))));
  EXPECT_FINE(commit(starting(2)));
}

TEST_P(store_suite, a_store_that_is_not_migrated_says_so) {
  NEEDS(migrates);
  auto const fresh = GetParam().make();
  ASSERT_TRUE(fresh);
  auto const bare = MUST(fresh->open());
  auto const status = MUST(bare->status());
  EXPECT_EQ(status.found, 0u);
  EXPECT_GT(status.expected, 0u);
  auto const refused = bare->open_journal();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("migrate"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(bare->open_reader());
  EXPECT_FINE(bare->migrate());
  EXPECT_FINE(bare->open_journal());
}

TEST_P(store_suite, a_store_written_by_a_newer_build_is_refused) {
  NEEDS(migrates);
  reader_.reset();
  writer_.reset();
  place_->pretend_newer();
  auto const status = MUST(store_->status());
  EXPECT_GT(status.found, status.expected);
  auto const migrated = store_->migrate();
  ASSERT_FALSE(migrated);
  EXPECT_EQ(name(migrated.error().code), name(errc::unsupported));
  EXPECT_NE(migrated.error().message.find("newer"), std::string::npos) << migrated.error().message;
  EXPECT_REFUSED(errc::unsupported, store_->open_journal());
  EXPECT_REFUSED(errc::unsupported, store_->open_reader());
}

TEST_P(store_suite, a_store_says_where_it_is) {
  EXPECT_TRUE(store_->description().starts_with(GetParam().name)) << store_->description();
}

}  // namespace
}  // namespace atone::test
