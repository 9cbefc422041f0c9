// Whatever stands in a definition, the drawing stays a drawing: nothing in a text can end a label or begin a tag.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <atone/draw.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "order_saga.hpp"

namespace {

using namespace atone;
using namespace atone::draw_test;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view dot_program = ATONE_DOT;

definition awkward() {
  auto first = undone_by(make_step("a\"b\\", atomicity::compensable, call("<s>&amp;", http("POST", {"/x\"];evil[", "{y}"}))),
                         call("s", http("DELETE", {"/<b>&lt;/'`%%#quot;\\n"})));
  auto inside = undone_by(make_step("end", atomicity::compensable, call("ü→😀", local("łą\tczę\n"))), call("s", local("]]>-->")));
  auto last = make_step("graph", atomicity::pivot, call("s", local(std::string(200, 'w'))));
  return named("</b>\"><script>", {first, make_parallel("\\\"p", {make_branch("<br/>\"", {inside})}), last});
}

// The picture as SVG; nothing where graphviz is not there.
std::optional<std::string> rendered(std::string const& dot) {
  if (dot_program.empty()) return std::nullopt;
  auto const file = std::filesystem::path{testing::TempDir()} / ("atone_draw_test." + std::to_string(::getpid()) + ".dot");
  std::ofstream{file} << dot;
  auto const command = '\'' + std::string{dot_program} + "' -Tsvg '" + file.string() + "' 2>&1";
  std::unique_ptr<FILE, int (*)(FILE*)> pipe{popen(command.c_str(), "r"), pclose};
  std::string out;
  std::array<char, 4096> buffer{};
  while (auto const size = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) out.append(buffer.data(), size);
  EXPECT_EQ(pclose(pipe.release()), 0) << out;
  std::filesystem::remove(file);
  return out;
}

#define RENDER_OR_SKIP(svg, dot)                                                          \
  auto const svg = rendered(dot);                                                         \
  if (!svg) {                                                                             \
    ASSERT_EQ(std::getenv("CI"), nullptr) << "graphviz was not found (Debian: graphviz)"; \
    GTEST_SKIP() << "skipped, because graphviz was not found (Debian: graphviz)";         \
  }

TEST(draw_escape, dot_quotes_names_and_labels) {
  auto const dot = draw_dot(awkward());
  EXPECT_THAT(dot, HasSubstr("\"a\\\"b\\\\\" [label=<<b>a&quot;b\\</b>"));
  EXPECT_THAT(dot, HasSubstr("&lt;s&gt;&amp;amp; POST /x&quot;];evil[{y}"));
  EXPECT_THAT(dot, HasSubstr("ü→😀 łą czę "));
  EXPECT_THAT(dot, Not(HasSubstr("<script>")));
}

TEST(draw_escape, long_calls_are_cut) {
  EXPECT_THAT(draw_dot(awkward()), HasSubstr(std::string(58, 'w') + "…"));
  EXPECT_THAT(draw_dot(awkward()), Not(HasSubstr(std::string(59, 'w'))));
}

TEST(draw_escape, mermaid_has_names_of_its_own_and_entities) {
  auto const mermaid = draw_mermaid(awkward());
  EXPECT_THAT(mermaid, HasSubstr("n0([\"<b>#lt;/b#gt;#quot;#gt;#lt;script#gt; v1</b>\"]):::start"));
  EXPECT_THAT(mermaid, HasSubstr("<b>a#quot;b#92;</b>"));
  EXPECT_THAT(mermaid, HasSubstr("/#lt;b#gt;#amp;lt;/'#96;#37;#37;#35;quot;#92;n"));
  EXPECT_THAT(mermaid, HasSubstr("<b>end</b>"));
  EXPECT_THAT(mermaid, Not(HasSubstr("<script>")));
}

TEST(draw_escape, graphviz_takes_awkward_texts) {
  RENDER_OR_SKIP(svg, draw_dot(awkward()));
  EXPECT_THAT(*svg, HasSubstr("ü→😀 łą czę"));
  EXPECT_THAT(*svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(*svg, Not(HasSubstr("rror")));
  EXPECT_THAT(*svg, HasSubstr("</svg>"));
}

TEST(draw_escape, graphviz_draws_the_order_saga) {
  RENDER_OR_SKIP(svg, draw_dot(order_saga()));
  for (auto const* text : {">checkpoint<", ">last good output<", "DELETE /orders/{order_id}<", ">compensated<", ">completed<"}) {
    EXPECT_THAT(*svg, HasSubstr(text));
  }
  EXPECT_THAT(*svg, Not(HasSubstr("arning")));
}

}  // namespace
