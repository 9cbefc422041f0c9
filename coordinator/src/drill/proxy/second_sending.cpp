#include "drill/proxy/second_sending.hpp"

#include <boost/asio/write.hpp>

namespace atone::drill {

using boost::system::error_code;

second_sending::second_sending(proxy_state& in, std::string request)
    : in_(in), request_(std::move(request)), server_(in.io), limit_(in.io, time_max) {
  ++in_.doubles;
}

second_sending::~second_sending() {
  --in_.doubles;
}

void second_sending::begin() {
  limit_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled) self->close();
  });
  server_.async_connect(in_.target, [self = shared_from_this()](error_code failed) { return failed ? self->close() : self->send(); });
}

void second_sending::send() {
  boost::asio::async_write(server_, boost::asio::buffer(request_),
                           [self = shared_from_this()](error_code failed, std::size_t) { return failed ? self->close() : self->read(); });
}

void second_sending::read() {
  server_.async_read_some(boost::asio::buffer(dropped_), [self = shared_from_this()](error_code failed, std::size_t bytes) {
    bool const whole = !self->answers_.add({self->dropped_.data(), bytes}).empty();
    return failed || whole ? self->close() : self->read();
  });
}

void second_sending::close() {
  error_code ignored;
  server_.close(ignored);
  limit_.cancel();
}

}  // namespace atone::drill
