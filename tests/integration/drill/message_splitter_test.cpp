// Where HTTP messages end: whole, in pieces, several at once, and what can't be followed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drill/proxy/message_splitter.hpp"

namespace atone::drill {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string const post = "POST /orders HTTP/1.1\r\nHost: a\r\ncontent-length: 5\r\n\r\nhello";
std::string const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

TEST(message_splitter, finds_whole_messages) {
  message_splitter by;
  EXPECT_THAT(by.add(post + get + "GET"), ElementsAre(post, get));
  EXPECT_THAT(by.add(get.substr(3)), ElementsAre(get));
  EXPECT_FALSE(by.lost());
}

TEST(message_splitter, takes_them_byte_by_byte) {
  message_splitter by;
  std::vector<std::string> found;
  for (char const one : post + post) {
    for (auto& each : by.add({&one, 1})) found.push_back(std::move(each));
  }
  EXPECT_THAT(found, ElementsAre(post, post));
}

TEST(message_splitter, gives_up_what_it_can_not_follow) {
  std::string const chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string const odd = "POST / HTTP/1.1\r\nContent-Length: 5x\r\n\r\nhello";
  std::string const huge = "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n";
  std::string const other{"\0\0\0\x08\x04\xd2\x16\x2f", 8};  // PostgreSQL's first message
  std::string const endless(message_splitter::message_max + 1, 'A');
  for (auto const& text : {chunked, odd, huge, other, endless}) {
    message_splitter by;
    EXPECT_THAT(by.add(text), IsEmpty()) << text.substr(0, 60);
    EXPECT_TRUE(by.lost()) << text.substr(0, 60);
    EXPECT_THAT(by.add(get), IsEmpty());
  }
}

}  // namespace
}  // namespace atone::drill
