#include "cli/table.hpp"

#include <gtest/gtest.h>

#include "cli_support.hpp"

namespace atone::cli {
namespace {

table two_sagas() {
  table out{{"id", "saga", "status"}};
  out.add({"01A", "order-placed@1", "completed"});
  out.add({"01B", "größe@12", "parked"});
  return out;
}

TEST(table, is_as_wide_as_its_cells) {
  captured seen;
  two_sagas().print(seen.screen());
  EXPECT_EQ(seen.out(),
            "id   saga            status\n"
            "01A  order-placed@1  completed\n"
            "01B  größe@12        parked\n");
}

TEST(table, cuts_lines_only_for_somebody_who_looks_on) {
  terminal_traits traits;
  traits.width = 12;
  captured piped{traits};
  two_sagas().print(piped.screen());
  EXPECT_NE(piped.out().find("completed"), std::string::npos);
  traits.interactive = true;
  captured looked_at{traits};
  two_sagas().print(looked_at.screen());
  EXPECT_EQ(looked_at.out(),
            "id   saga  …\n"
            "01A  order-…\n"
            "01B  größe@…\n");
}

TEST(table, short_rows_and_no_rows) {
  captured seen;
  table out{{"a", "b"}};
  EXPECT_TRUE(out.empty());
  out.add({"1"});
  out.print(seen.screen());
  EXPECT_EQ(seen.out(), "a  b\n1\n");
}

}  // namespace
}  // namespace atone::cli
