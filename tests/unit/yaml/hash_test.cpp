// The content hash is over the meaning of the document.
#include <gtest/gtest.h>

#include "yaml_support.hpp"

namespace atone::yaml_test {
namespace {

std::string hash_of(std::string const& text) {
  auto const done = load_definition(text);
  EXPECT_TRUE(done.ok()) << told(done);
  return done.ok() ? done.definition->ref.hash.text() : told(done);
}

std::string const base =
    "saga: s\nversion: 1\ndeadline: 1m\nservices: {shop: {local: shop}}\nsteps:\n  - {id: a, call: shop x, in: {n: 1}, read_only: true}\n";

TEST(content_hash, comments_layout_and_order_of_keys_do_not_matter) {
  EXPECT_EQ(hash_of("# why\n" + base), hash_of(base));
  EXPECT_EQ(hash_of("version: 1\ndeadline: 1m\nsaga: s\nsteps:\n- read_only: true # it only looks\n  id: a\n  call: shop x\n  in:\n    n: "
                    "1\nservices:\n  shop:\n    local: shop\n"),
            hash_of(base));
}

TEST(content_hash, quotes_around_texts_do_not_matter) {
  auto quoted = base;
  quoted.replace(quoted.find("saga: s"), 7, "saga: 's'");
  EXPECT_EQ(hash_of(quoted), hash_of(base));
}

TEST(content_hash, aliases_count_as_what_they_stand_for) {
  auto const written = base + "  - {id: b, call: shop x, in: {n: 1}, read_only: true}\n";
  auto aliased = base + "  - {id: b, call: shop x, in: *same, read_only: true}\n";
  aliased.replace(aliased.find("in: {n: 1}"), 10, "in: &same {n: 1}");
  EXPECT_EQ(hash_of(aliased), hash_of(written));
}

TEST(content_hash, every_change_of_meaning_makes_another) {
  auto const changed = [](std::string const& from, std::string const& to) {
    auto text = base;
    text.replace(text.find(from), from.size(), to);
    return hash_of(text);
  };
  auto const before = hash_of(base);
  EXPECT_NE(changed("version: 1", "version: 2"), before);
  EXPECT_NE(changed("deadline: 1m", "deadline: 60s"), before);
  EXPECT_NE(changed("id: a", "id: b"), before);
  EXPECT_NE(changed("{n: 1}", "{n: '1'}"), before);
  EXPECT_NE(changed("{n: 1}", "{n: 2}"), before);
  EXPECT_NE(changed("{n: 1}", "{m: 1}"), before);
}

TEST(content_hash, is_the_same_for_ever) {
  // Published definitions are bound by it: when this changes, every running saga loses its definition.
  EXPECT_EQ(hash_of(base), "860e232c9a548366cf1cccf5037bf96362e11d548afbc66788ce56685e70d3f2");
}

}  // namespace
}  // namespace atone::yaml_test
