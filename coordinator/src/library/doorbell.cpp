#include "library/doorbell.hpp"

#include <string>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace atone::library {

using boost::asio::ip::tcp;
using boost::system::error_code;

// Held by what is pending; whoever asked may be gone.
struct doorbell::question : std::enable_shared_from_this<doorbell::question> {
  question(boost::asio::io_context& loop, std::function<void(doorbell::answer)> then)
      : resolver(loop), socket(loop), limit(loop, patience), told(std::move(then)) {}

  void answer(doorbell::answer what) {
    limit.cancel();
    resolver.cancel();
    error_code ignored;
    socket.close(ignored);
    if (auto const then = std::exchange(told, {})) then(what);
  }
  void begin(http::origin const& at) {
    limit.async_wait([self = shared_from_this()](error_code cancelled) {
      if (!cancelled) self->answer(doorbell::answer::silent);
    });
    error_code no_address;
    auto const address = boost::asio::ip::make_address(at.host, no_address);
    if (!no_address) {  // nothing to look up: a slow name of another service must not stand before it
      return connect(tcp::resolver::results_type::create(tcp::endpoint{address, at.port}, at.host, std::to_string(at.port)));
    }
    resolver.async_resolve(at.host, std::to_string(at.port),
                           [self = shared_from_this()](error_code failed, tcp::resolver::results_type const& found) {
                             if (failed) return self->answer(doorbell::answer::refused);
                             if (!self->told) return;
                             self->connect(found);
                           });
  }
  void connect(tcp::resolver::results_type const& to) {
    boost::asio::async_connect(socket, to, [self = shared_from_this()](error_code failed, tcp::endpoint const&) {
      self->answer(failed ? doorbell::answer::refused : doorbell::answer::there);
    });
  }

  tcp::resolver resolver;
  tcp::socket socket;
  boost::asio::steady_timer limit;
  std::function<void(doorbell::answer)> told;
};

void doorbell::ring(http::origin const& at, std::function<void(answer)> told) {
  take_back();
  asked_ = std::make_shared<question>(loop_, std::move(told));
  asked_->begin(at);
}

void doorbell::take_back() {
  auto const was = std::exchange(asked_, nullptr);
  if (!was) return;
  was->told = {};
  was->answer(answer::silent);
}

}  // namespace atone::library
