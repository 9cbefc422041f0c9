// A request's second delivery: on a connection of its own, its answer dropped.
// Thread rules: belongs to the proxy's loop.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "drill/proxy/link.hpp"

namespace atone::drill {

class second_sending : public std::enable_shared_from_this<second_sending> {
 public:
  static constexpr std::chrono::seconds time_max{30};

  second_sending(proxy_state& in, std::string request);
  ~second_sending();
  second_sending(second_sending const&) = delete;
  second_sending& operator=(second_sending const&) = delete;

  void begin();

 private:
  void send();
  void read();
  void close();

  proxy_state& in_;
  std::string request_;
  boost::asio::ip::tcp::socket server_;
  boost::asio::steady_timer limit_;
  std::array<char, 4096> dropped_{};
  message_splitter answers_;
};

}  // namespace atone::drill
