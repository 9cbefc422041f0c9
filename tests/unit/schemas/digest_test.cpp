#include <gtest/gtest.h>

#include <string>

#include <atone/digest.hpp>
#include <atone/ids.hpp>

namespace atone {
namespace {

// RFC 4231, test cases 1, 2 and 6.
TEST(hmac_sha256, gives_the_published_answers) {
  EXPECT_EQ(hmac_sha256(std::string(20, '\x0b'), "Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?"), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(hmac_sha256, of_an_empty_key_is_not_that_of_the_key_before) {
  auto const first = hmac_sha256("Jefe", "");
  EXPECT_EQ(hmac_sha256("", ""), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
  EXPECT_EQ(hmac_sha256("Jefe", ""), first);
}

TEST(content_hash, of_one_text_after_another_is_each_ones_own) {
  EXPECT_EQ(content_hash::of("").text(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(content_hash::of("abc").text(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(content_hash::of("").text(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(saga_id, its_characters_are_its_text) {
  saga_id::bytes bytes{};
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::uint8_t>(at * 17);
  saga_id const id{bytes};
  EXPECT_EQ(std::string(id.characters().data(), saga_id::text_size), id.text());
  EXPECT_EQ(saga_id::parse(id.text()), id);
}

}  // namespace
}  // namespace atone
