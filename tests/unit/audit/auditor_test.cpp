// What goes across sagas: orphans, sagas that have not ended, probes, bounds, the verdict over all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit_script.hpp"

namespace atone::audit::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> const sources{"orders", "profiles"};

void add_all(auditor& to, script const& of) {
  for (auto const& each : of.effects()) ASSERT_TRUE(to.add(each).has_value());
}

TEST(auditor_over_all, many_sagas_are_judged_one_by_one) {
  auditor by{sources};
  std::vector<script> sagas;
  for (std::uint8_t number = 1; number <= 200; ++number) sagas.push_back(number % 4 == 0 ? compensated(number) : completed(number));
  for (auto const& each : sagas) add_all(by, each);
  for (auto& each : sagas) EXPECT_EQ(by.judge(each.facts()), verdict::proven);
  EXPECT_THAT(by.unclaimed(), IsEmpty());
  auto const found = by.finish();
  EXPECT_EQ(found.proven, 200U);
  EXPECT_EQ(found.completed, 150U);
  EXPECT_EQ(found.compensated, 50U);
  EXPECT_EQ(found.effects, 150U * 3 + 50U * 2);
  EXPECT_EQ(exit_code(found), 0);
}

TEST(auditor_over_all, one_bad_saga_among_many_is_named) {
  auditor by{sources};
  auto good = completed(1);
  auto bad = compensated(2);
  bad.applied("orders", "order", operation::act);
  add_all(by, good);
  add_all(by, bad);
  EXPECT_EQ(by.judge(good.facts()), verdict::proven);
  EXPECT_EQ(by.judge(bad.facts()), verdict::violated);
  auto const found = by.finish();
  EXPECT_EQ(found.proven, 1U);
  EXPECT_EQ(found.violated, 1U);
  EXPECT_EQ(only_finding(found), finding_kind::effect_twice);
  EXPECT_EQ(found.findings.front().saga, id_of(2));
}

TEST(auditor_over_all, an_effect_of_an_unknown_saga_is_an_orphan) {
  auditor by{sources};
  auto known = completed(1);
  add_all(by, known);
  add_all(by, completed(9));
  by.judge(known.facts());
  EXPECT_THAT(by.unclaimed(), ElementsAre(id_of(9)));
  auto const found = by.finish();
  EXPECT_EQ(found.orphans, 1U);
  EXPECT_EQ(found.violated, 1U);
  EXPECT_EQ(found.findings.size(), 3U);
  EXPECT_EQ(found.findings.front().kind, finding_kind::orphan);
}

TEST(auditor_over_all, a_saga_that_may_have_been_deleted_is_no_orphan_and_not_judged) {
  auditor by{sources};
  auto known = completed(1);
  add_all(by, known);
  add_all(by, completed(8));
  add_all(by, completed(9));
  add_all(by, completed(10));
  by.judge(known.facts());
  by.deleted_up_to(id_of(9));
  auto const found = by.finish();
  EXPECT_EQ(found.deleted, 2U);
  EXPECT_EQ(found.orphans, 1U);  // younger than anything that was ever deleted
  EXPECT_EQ(found.violated, 1U);
  EXPECT_EQ(found.findings.front().saga, id_of(10));
}

TEST(auditor_over_all, even_deleted_nothing_may_have_happened_twice) {
  auditor by{sources};
  script gone{saga_status::completed, 3};
  gone.applied("orders", "order", operation::act, 2);
  add_all(by, gone);
  by.deleted_up_to(id_of(3));
  auto const found = by.finish();
  EXPECT_EQ(found.deleted, 1U);
  EXPECT_EQ(found.violated, 1U);
  EXPECT_EQ(found.effects_twice, 1U);
  EXPECT_EQ(found.findings.front().kind, finding_kind::effect_twice);
}

TEST(auditor_over_all, even_an_undone_saga_must_be_known_to_the_journal) {
  auditor by{sources};
  add_all(by, compensated(9));
  EXPECT_EQ(by.finish().orphans, 1U);
}

TEST(auditor_over_all, a_request_that_did_nothing_makes_no_orphan) {
  auditor by{sources};
  script refused{saga_status::compensated, 9};
  refused.applied("orders", "order", operation::act, 0);
  add_all(by, refused);
  auto const found = by.finish();
  EXPECT_EQ(found.orphans, 0U);
  EXPECT_THAT(found.findings, IsEmpty());
}

TEST(auditor_over_all, a_saga_under_way_is_no_orphan_and_not_judged) {
  auditor by{sources};
  script half{saga_status::running, 3};
  half.applied("orders", "order", operation::act);
  add_all(by, half);
  script parked{saga_status::parked, 4};
  by.set_aside(half.facts().row);
  by.set_aside(parked.facts().row);
  auto const found = by.finish();
  EXPECT_EQ(found.unfinished, 1U);
  EXPECT_EQ(found.parked, 1U);
  EXPECT_EQ(found.orphans, 0U);
  EXPECT_EQ(found.judged(), 0U);
}

TEST(auditor_over_all, even_under_way_nothing_may_happen_twice) {
  auditor by{sources};
  script half{saga_status::running, 3};
  half.applied("orders", "order", operation::act, 2);
  add_all(by, half);
  by.set_aside(half.facts().row);
  auto const found = by.finish();
  EXPECT_EQ(found.verdict(), verdict::violated);
  EXPECT_EQ(found.effects_twice, 1U);
}

TEST(auditor_over_all, nothing_checked_is_a_failure) {
  auditor by{sources};
  auto const found = by.finish();
  EXPECT_EQ(found.verdict(), verdict::not_checkable);
  EXPECT_EQ(exit_code(found), 2);
}

TEST(auditor_over_all, probes_are_left_aside) {
  auditor by{sources};
  effect made;
  made.service = "orders";
  saga_id::bytes bytes{};
  bytes[15] = 7;
  made.saga = saga_id{bytes};
  made.step = step_path{"poke"};
  made.applied = 1;
  ASSERT_TRUE(is_probe(made.saga));
  ASSERT_FALSE(is_probe(id_of(1)));
  ASSERT_TRUE(by.add(made).has_value());
  EXPECT_THAT(by.unclaimed(), IsEmpty());
  auto const found = by.finish();
  EXPECT_EQ(found.probes, 1U);
  EXPECT_EQ(found.violated, 0U);
}

TEST(auditor_over_all, an_effect_of_an_unannounced_service_is_refused) {
  auditor by{{"orders"}};
  effect made;
  made.service = "stock";
  made.saga = id_of(1);
  auto const added = by.add(made);
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error().code, errc::invalid_argument);
  EXPECT_THAT(added.error().message, testing::HasSubstr("stock"));
}

TEST(auditor_over_all, findings_are_bounded_but_counted) {
  auditor by{sources};
  script wild{saga_status::running, 3};
  for (std::size_t number = 0; number < report::findings_max + 5; ++number) {
    wild.applied("orders", "step" + std::to_string(number), operation::act, 2);
  }
  add_all(by, wild);
  by.set_aside(wild.facts().row);
  auto const found = by.finish();
  EXPECT_EQ(found.findings.size(), report::findings_max);
  EXPECT_EQ(found.findings_left_out, 5U);
  EXPECT_EQ(found.effects_twice, report::findings_max + 5);
}

}  // namespace
}  // namespace atone::audit::test
