// The words of the report, for people and for programs.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atone/json.hpp>

#include "audit_script.hpp"

namespace atone::audit::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(report_text, a_clean_audit_is_two_lines) {
  report clean;
  clean.services = {"features", "orders", "profiles"};
  clean.proven = 5000;
  EXPECT_EQ(to_text(clean),
            "audit   5,000 sagas against 3 services: proven 5,000   violated 0   not checkable 0\n"
            "        effects applied twice 0   compensations run twice 0   effects of unknown sagas 0\n");
}

TEST(report_text, thousands_are_grouped) {
  report big;
  big.proven = 1234567;
  EXPECT_THAT(to_text(big), HasSubstr("proven 1,234,567"));
  big.proven = 999;
  EXPECT_THAT(to_text(big), HasSubstr("proven 999 "));
}

TEST(report_text, a_violation_has_its_place) {
  auto saga = completed();
  saga.applied("orders", "order", operation::compensate);
  auto const text = to_text(saga.judge());
  EXPECT_THAT(text, HasSubstr("VIOLATED"));
  EXPECT_THAT(text, HasSubstr(id_of(1).text()));
  EXPECT_THAT(text, HasSubstr("order compensate at orders"));
}

TEST(report_text, what_was_not_judged_is_said) {
  report open;
  open.proven = 1;
  open.unfinished = 2;
  open.parked = 3;
  EXPECT_THAT(to_text(open), HasSubstr("under way 2   parked 3"));
  EXPECT_THAT(to_text(open), Not(HasSubstr("nothing was checked")));
  EXPECT_THAT(to_text(report{}), HasSubstr("nothing was checked"));
}

TEST(report_json, it_can_be_read_back) {
  auto saga = completed();
  saga.applied("orders", "order", operation::compensate);
  auto const read = json::parse(to_json(saga.judge()));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->find("verdict")->as_string(), "violated");
  EXPECT_EQ(read->find("violated")->as_uint64(), 1U);
  EXPECT_EQ(read->find("services")->size(), 2U);
  auto const findings = read->find("findings")->elements();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].find("kind")->as_string(), "undone_when_completed");
  EXPECT_EQ(findings[0].find("saga")->as_string(), id_of(1).text());
  EXPECT_EQ(findings[0].find("op")->as_string(), "compensate");
}

TEST(finding_words, each_kind_has_its_own) {
  std::set<std::string_view> words;
  auto const last = static_cast<std::uint8_t>(finding_kind::operator_decided);
  for (std::uint8_t value = 0; value <= last; ++value) words.insert(name(static_cast<finding_kind>(value)));
  EXPECT_EQ(words.size(), static_cast<std::size_t>(last) + 1);
  EXPECT_FALSE(words.contains("unknown"));
}

}  // namespace
}  // namespace atone::audit::test
