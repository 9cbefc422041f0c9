// What a bare connection tells of an address: somebody, nobody, or nothing.
#include <optional>

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "library/doorbell.hpp"

namespace atone::library {
namespace {

using boost::asio::ip::tcp;

http::origin local(std::uint16_t port) {
  http::origin made;
  made.host = "127.0.0.1";
  made.port = port;
  return made;
}

class doorbell_test : public testing::Test {
 protected:
  std::optional<doorbell::answer> ring(http::origin const& at) {
    std::optional<doorbell::answer> heard;
    doorbell bell{loop_};
    bell.ring(at, [&](doorbell::answer what) { heard = what; });
    loop_.restart();
    loop_.run();
    return heard;
  }
  boost::asio::io_context loop_;
};

TEST_F(doorbell_test, somebody_who_listens_is_there) {
  tcp::acceptor door{loop_, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}};
  EXPECT_EQ(ring(local(door.local_endpoint().port())), doorbell::answer::there);
}

TEST_F(doorbell_test, a_closed_port_refuses) {
  tcp::acceptor door{loop_, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}};
  auto const port = door.local_endpoint().port();
  door.close();
  EXPECT_EQ(ring(local(port)), doorbell::answer::refused);
}

// A door whose queue is full: the kernel answers nothing. That is not a refusal.
TEST_F(doorbell_test, one_that_answers_nothing_is_silent) {
  tcp::acceptor door{loop_};
  door.open(tcp::v4());
  door.bind(tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0});
  door.listen(0);
  tcp::socket first{loop_};
  first.connect(door.local_endpoint());  // the one place of the queue
  EXPECT_EQ(ring(local(door.local_endpoint().port())), doorbell::answer::silent);
}

TEST_F(doorbell_test, one_that_is_taken_back_tells_nothing) {
  tcp::acceptor door{loop_, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}};
  bool heard = false;
  {
    doorbell bell{loop_};
    bell.ring(local(door.local_endpoint().port()), [&](doorbell::answer) { heard = true; });
  }
  loop_.run();
  EXPECT_FALSE(heard);
}

}  // namespace
}  // namespace atone::library
